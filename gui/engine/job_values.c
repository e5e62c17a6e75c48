// Workflows are compared where they are the same graph: by node and input, whatever else was edited.
#include "engine/job_values.h"

#include <ninodes/ninodes.h>
#include <string.h>

#include "base/i18n.h"

enum { SHOWN = 2, VALUE_LETTERS = 24 };

typedef struct Value {
    int order; // as in the file
    char *name, *text;
} Value;

static void value_free(gpointer p)
{
    Value *v = p;
    g_free(v->name);
    g_free(v->text);
    g_free(v);
}

GHashTable *nino_job_values(const char *workflow, gsize len)
{
    nino_document *d = nino_document_load(workflow, len, "workflow", NULL);
    if (!d)
        return NULL;
    GHashTable *all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value_free);
    int order = 0;
    for (int i = 0; i < nino_document_n_nodes(d); i++) {
        const nino_doc_node *n = nino_document_node(d, i);
        for (int k = 0; k < n->n_widgets; k++) {
            const nino_doc_widget *w = &n->widgets[k];
            Value *v = g_new0(Value, 1);
            v->order = order++;
            v->name = g_strdup(w->label ? w->label : w->name);
            v->text = g_strdup(w->text ? w->text : "");
            g_hash_table_replace(all, g_strdup_printf("%s\n%s\n%s", n->id, n->type, w->name), v);
        }
    }
    nino_document_destroy(&d);
    return all;
}

// One line of few letters; a prompt is told by where it changes.
static char *short_value(const char *text, gsize from)
{
    g_autofree char *line = g_strdelimit(g_strdup(text), "\n\r\t", ' ');
    const glong n = g_utf8_strlen(line, -1);
    const glong at = n > VALUE_LETTERS ? MIN((glong) from, n - VALUE_LETTERS) : 0;
    g_autofree char *part = g_utf8_substring(line, at, MIN(n, at + VALUE_LETTERS));
    return g_strconcat(at ? "…" : "", part, at + VALUE_LETTERS < n ? "…" : "", NULL);
}

// Letters that both begin with, less a word before the first that differs.
static gsize same_letters(const char *a, const char *b)
{
    gsize n = 0;
    while (*a && g_utf8_get_char(a) == g_utf8_get_char(b)) {
        a = g_utf8_next_char(a);
        b = g_utf8_next_char(b);
        n++;
    }
    return n > 6 ? n - 6 : 0;
}

typedef struct Difference {
    const Value *was, *is;
} Difference;

static int by_order(gconstpointer a, gconstpointer b)
{
    const Difference *x = a, *y = b;
    return x->is->order - y->is->order;
}

char *nino_job_values_differ(GHashTable *before, GHashTable *now)
{
    GHashTableIter i;
    gpointer key, value;
    guint shared = 0;
    if (!before || !now)
        return NULL;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Difference));
    g_hash_table_iter_init(&i, now);
    while (g_hash_table_iter_next(&i, &key, &value)) {
        const Difference d = { g_hash_table_lookup(before, key), value };
        shared += d.was != NULL;
        if (d.was && strcmp(d.was->text, d.is->text) != 0)
            g_array_append_val(found, d);
    }
    if (!found->len || 2 * shared < g_hash_table_size(now)) // another workflow
        return NULL;
    g_array_sort(found, by_order);
    GString *out = g_string_new(NULL);
    for (guint k = 0; k < MIN(found->len, SHOWN); k++) {
        const Difference *d = &g_array_index(found, Difference, k);
        const gsize from = same_letters(d->was->text, d->is->text);
        g_autofree char *was = short_value(d->was->text, from),
                        *is = short_value(d->is->text, from);
        g_string_append_printf(out, "%s%s %s → %s", k ? ", " : "", d->is->name, was, is);
    }
    if (found->len > SHOWN)
        g_string_append_printf(out, ngettext(", %u more", ", %u more", found->len - SHOWN),
                               found->len - SHOWN);
    return g_string_free(out, FALSE);
}
