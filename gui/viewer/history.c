// What results say of how they were made, read from their files in threads: a line below the picture, and what the
// results so far are searched by.
#include "viewer/viewer_priv.h"

#include <ninodes/ninodes.h>
#include <string.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "viewer/how_made.h"

#define MADE "nino-made" // of a result's button: the line

// ---- the line -----------------------------------------------------------------------------------

typedef struct Told {
    char *prompt, *seed, *steps;
} Told;

static void tell_value(Told *t, const nino_doc_widget *w)
{
    char **to = !strcmp(w->name, "text")                                     ? &t->prompt
                : !strcmp(w->name, "seed") || !strcmp(w->name, "noise_seed") ? &t->seed
                : !strcmp(w->name, "steps")                                  ? &t->steps
                                                                             : NULL;
    if (to && !*to && w->text && *w->text)
        *to = g_strdelimit(g_strdup(w->text), "\n\r\t", ' ');
}

// Prompt, seed and steps: the first of each that the workflow in the file has.
static void tell_values(Told *t, const char *path)
{
    nino_inspect f = { 0 };
    nino_document *d = NULL;
    if (nino_inspect_file(path, &f, NULL))
        return;
    for (size_t i = 0; i < f.n_meta && !d; i++)
        if (!strcmp(f.meta[i].key, "prompt")) // what ran; "workflow" may have been edited since
            d = nino_document_load(f.meta[i].value, strlen(f.meta[i].value), "prompt", NULL);
    for (int i = 0; d && i < nino_document_n_nodes(d); i++) {
        const nino_doc_node *n = nino_document_node(d, i);
        for (int k = 0; k < n->n_widgets; k++)
            tell_value(t, &n->widgets[k]);
    }
    nino_document_destroy(&d);
    nino_inspect_release(&f);
}

char *nino_made_line(const char *path)
{
    Told t = { 0 };
    nino_run_profile p = { 0 };
    g_autoptr(GString) s = g_string_new(NULL);
    tell_values(&t, path);
    if (t.prompt)
        g_string_append(s, t.prompt);
    if (t.seed)
        g_string_append_printf(s, _("%sseed %s"), s->len ? " · " : "", t.seed);
    if (t.steps)
        g_string_append_printf(s, _("%s%s steps"), s->len ? " · " : "", t.steps);
    if (nino_profile_read(path, &p)) {
        g_autofree char *peak = g_format_size_full(p.peak_bytes, G_FORMAT_SIZE_IEC_UNITS);
        g_string_append_printf(s, "%s%.1f s · %s", s->len ? " · " : "", p.seconds, peak);
        nino_run_profile_release(&p);
    }
    g_free(t.prompt);
    g_free(t.seed);
    g_free(t.steps);
    return g_string_free(g_steal_pointer(&s), FALSE);
}

static void read_made(GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
    (void) source, (void) cancellable;
    g_task_return_pointer(task, nino_made_line(path), g_free);
}

static void on_made_read(GObject *button, GAsyncResult *result, gpointer user)
{
    (void) user;
    GtkWidget *v = gtk_widget_get_ancestor(GTK_WIDGET(button), NINO_TYPE_VIEWER);
    g_object_set_data_full(button, MADE, g_task_propagate_pointer(G_TASK(result), NULL), g_free);
    if (v) // it has not gone meanwhile
        nino_viewer_history_changed(NINO_VIEWER(v));
}

void nino_viewer_history_read(Result *r, const char *path)
{
    g_autoptr(GTask) task = g_task_new(r->button, NULL, on_made_read, NULL);
    g_task_set_task_data(task, g_strdup(path), g_free);
    g_task_run_in_thread(task, read_made);
}

// ---- the search ---------------------------------------------------------------------------------

// Every word somewhere in the file's name or the line.
static gboolean is_result_found(const Result *r, char **words)
{
    const char *made = g_object_get_data(G_OBJECT(r->button), MADE);
    g_autofree char *name = g_path_get_basename(r->paths->pdata[0]);
    g_autofree char *all = g_strjoin("\n", name, made, NULL);
    g_autofree char *text = g_utf8_casefold(all, -1);
    for (; *words; words++)
        if (!strstr(text, *words))
            return FALSE;
    return TRUE;
}

void nino_viewer_history_changed(NinoViewer *v)
{
    const Result *shown = nino_viewer_result(v, v->shown);
    const char *made = shown ? g_object_get_data(G_OBJECT(shown->button), MADE) : NULL;
    const gboolean has = made && *made && !v->in_preview;
    gtk_label_set_text(GTK_LABEL(v->made_line), has ? made : "");
    gtk_widget_set_tooltip_text(v->made_line, has ? made : NULL);
    gtk_widget_set_visible(v->made_line, has);
    gtk_widget_set_visible(v->search, v->results->len > 1);
    g_autofree char *text = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(v->search)), -1);
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    gboolean is_any = FALSE;
    for (guint i = 0; i < v->results->len; i++) {
        const Result *r = v->results->pdata[i];
        const gboolean is_found = is_result_found(r, words);
        gtk_widget_set_visible(r->button, is_found);
        is_any |= is_found;
    }
    gtk_widget_set_visible(v->not_found, !is_any && *text);
}

// Enter: the newest that is found.
static void on_history_enter(NinoViewer *v)
{
    for (guint i = v->results->len; i-- > 0;) {
        const Result *r = v->results->pdata[i];
        if (gtk_widget_get_visible(r->button)) {
            gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(r->button), TRUE);
            return;
        }
    }
}

void nino_viewer_history_init(NinoViewer *v)
{
    static const NinoEmpty none = { .icon = "edit-find-symbolic",
                                    .text = N_("No result has this") };
    v->not_found = nino_empty_new(&none);
    nino_empty_add_search(v->not_found, GTK_EDITABLE(v->search), none.text);
    gtk_widget_set_vexpand(v->not_found, FALSE);
    gtk_widget_hide(v->not_found);
    gtk_box_append(GTK_BOX(v->box), v->not_found);
    g_signal_connect_swapped(v->search, "search-changed", G_CALLBACK(nino_viewer_history_changed),
                             v);
    g_signal_connect_swapped(v->search, "activate", G_CALLBACK(on_history_enter), v);
}
