// Reading the table of known classes, and what it gets from a ComfyUI server's object_info.
#include "core/node/table/known.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include <ninodes/node.h>

// Its separators become ends of strings on first use.
__asm__(".section .data\n"
        ".globl nino_known_text\n.hidden nino_known_text\n"
        "nino_known_text: .incbin \"data/known_classes.txt\"\n"
        ".byte 0\n"
        ".previous\n");
extern char nino_known_text[];

#define MAX_CLASSES 2048 // of that text; a test counts them
#define MAX_INFO ((size_t) 64 << 20)
#define MAX_LEVELS 32 // dynamic combos in dynamic combos

// ---- the notation ----------------------------------------------------------------------------

// Behind the brace that closes the one before s, or at the end.
static const char *known_skip_braces(const char *s)
{
    for (int depth = 1; *s && depth; s++)
        depth += (*s == '{') - (*s == '}');
    return s;
}

bool nino_known_next(const char **s, nino_known_widget *out)
{
    const char *at = *s + strspn(*s, " ");
    if (!*at || *at == '|' || *at == '}' || !at[1])
        return false;
    *out = (nino_known_widget){ .kind = at[0], .mark = at[1], .name = at + 2 };
    out->len = strcspn(out->name, " {|}");
    at = out->name + out->len;
    if (*at == '{') {
        out->options = at + 1;
        at = known_skip_braces(at + 1);
    }
    *s = at;
    return true;
}

// Does the word of n characters say `name`?
static bool known_says(const char *word, size_t n, const char *name)
{
    size_t i = 0;
    for (; i < n && name[i]; i++)
        if (word[i] != name[i] && !(word[i] == '~' && name[i] == ' '))
            return false;
    return i == n && !name[i];
}

const char *nino_known_option(const char *options, const char *key)
{
    nino_known_widget skipped;
    const char *at = options;
    while (at && *at == '|') {
        const size_t n = strcspn(++at, " |}");
        const char *words = at + n;
        if (known_says(at, n, key))
            return words;
        for (at = words; nino_known_next(&at, &skipped);)
            ;
        at += strspn(at, " ");
    }
    return NULL;
}

void nino_known_name(const nino_known_widget *w, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int) w->len, w->name);
    for (char *c = out; *c; c++)
        *c = *c == '~' ? ' ' : *c;
}

size_t nino_known_count(const char *widgets)
{
    size_t n = *widgets != 0;
    for (const char *c = widgets; *c; c++)
        n += *c == ' ';
    return n;
}

// ---- from object_info ------------------------------------------------------------------------

static bool is_known_object(const char *type)
{
    static const char *const objects[] = {
        "LOAD_3D", "LOAD_3D_ANIMATION", "WEBCAM",         "AUDIO_RECORD",
        "COLORS",  "BOUNDING_BOX",      "BOUNDING_BOXES", "CURVE",
        "RANGE",   "IMAGECOMPARE",      "COMPOSITOR",
    };
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        if (!strcmp(type, objects[i]))
            return true;
    return false;
}

static char known_letter(const nino_json *type, const nino_json *options)
{
    static const char *const letters[][2] = {
        { "INT", "i" },
        { "FLOAT", "f" },
        { "BOOLEAN", "b" },
        { "STRING", "s" },
        { "COMBO", "e" },
        { "COLOR", "s" },
        { "COMFY_DYNAMICCOMBO_V3", "c" },
        { "VHSTIMESTAMP", "f" },
    };
    const char *name = nino_json_str(type),
               *as = nino_json_str(nino_json_get(options, "widgetType"));
    if (type && type->type == NINO_JSON_ARRAY)
        return 'e';
    if (name && is_known_object(name))
        return 'x';
    name = as ? as : name;
    for (size_t i = 0; name && i < sizeof(letters) / sizeof(letters[0]); i++)
        if (!strcmp(name, letters[i][0]))
            return letters[i][1][0];
    return 0;
}

static bool is_known_set(const nino_json *options, const char *key)
{
    bool b = false;
    const nino_json *v = nino_json_get(options, key);
    return v && (nino_json_bool(v, &b) ? b : v->type == NINO_JSON_STRING && v->len);
}

static char known_mark(char letter, const char *name, bool is_top, const nino_json *type,
                       const nino_json *options)
{
    static const char *const uploads[] = { "image_upload", "video_upload", "audio_upload",
                                           "file_upload" };
    const bool is_seed =
        is_top && letter == 'i' && (!strcmp(name, "seed") || !strcmp(name, "noise_seed"));
    const char *s = nino_json_str(type);
    char mark = is_seed || is_known_set(options, "control_after_generate") ? '+' : ':';
    for (size_t i = 0; i < sizeof(uploads) / sizeof(uploads[0]); i++)
        if (is_known_set(options, uploads[i]))
            mark = '^';
    return s && !strcmp(s, "BOUNDING_BOX") ? '#' : mark;
}

static void known_add_word(nino_buf *out, const char *s)
{
    for (; *s; s++) // what the notation itself is made of cannot be in a name
        nino_buf_addc(out, *s == ' ' ? '~' : strchr("{}|", *s) ? '_' : *s);
}

// Files decide how deep the combos nest, so no function here calls itself.
typedef struct known_level {
    const nino_json *inputs; // of the class or of an option
    const nino_json *widget; // the next one to look at
    const nino_json *option; // the next one of the combo that is open in this level
    int group;               // required, then optional
    bool is_combo;
    size_t prefix; // length of the names' common beginning
} known_level;

typedef struct known_walk {
    nino_buf out, prefix;
    known_level level[MAX_LEVELS];
    int depth;
} known_walk;

static void known_open(known_walk *w, const nino_json *inputs)
{
    if (w->depth < MAX_LEVELS)
        w->level[w->depth++] =
            (known_level){ .inputs = inputs,
                           .widget = nino_json_get(inputs, "required")
                                         ? nino_json_get(inputs, "required")->child
                                         : NULL,
                           .prefix = w->prefix.len };
}

static void known_next_option(known_walk *w, known_level *l)
{
    const nino_json *o = l->option;
    if (!o) {
        nino_buf_addc(&w->out, '}');
        l->is_combo = false;
        w->prefix.len = l->prefix;
        return;
    }
    const char *key = nino_json_str(nino_json_get(o, "key"));
    l->option = o->next;
    nino_buf_addc(&w->out, '|');
    known_add_word(&w->out, key ? key : "");
    known_open(w, nino_json_get(o, "inputs"));
}

static void known_add_widget(known_walk *w, known_level *l, const nino_json *v)
{
    const nino_json *type = nino_json_at(v, 0), *options = nino_json_at(v, 1);
    const char letter = strlen(v->key) == v->key_len ? known_letter(type, options) : 0;
    const nino_json *list = nino_json_get(options, "options");
    if (!letter || is_known_set(options, "forceInput") || is_known_set(options, "hidden"))
        return;
    const bool is_text = letter == 's' && is_known_set(options, "dynamicPrompts");
    if (w->out.len)
        nino_buf_addc(&w->out, ' ');
    nino_buf_addc(&w->out, is_text ? 'd' : letter);
    nino_buf_addc(&w->out, known_mark(letter, v->key, w->depth == 1, type, options));
    nino_buf_add(&w->out, w->prefix.data ? w->prefix.data : "", w->prefix.len);
    known_add_word(&w->out, v->key);
    if (letter != 'c')
        return;
    nino_buf_addc(&w->out, '{');
    known_add_word(&w->prefix, v->key);
    nino_buf_addc(&w->prefix, '.');
    l->is_combo = true;
    l->option = list && list->type == NINO_JSON_ARRAY ? list->child : NULL;
}

char *nino_known_widgets_of(const nino_json *input)
{
    known_walk w = { 0 };
    nino_buf_add(&w.out, "", 0);
    known_open(&w, input);
    while (w.depth && !w.out.failed && !w.prefix.failed) {
        known_level *l = &w.level[w.depth - 1];
        const nino_json *v = l->widget;
        if (l->is_combo) {
            known_next_option(&w, l);
        } else if (v) {
            l->widget = v->next;
            known_add_widget(&w, l, v);
        } else if (!l->group++) {
            const nino_json *optional = nino_json_get(l->inputs, "optional");
            l->widget = optional ? optional->child : NULL;
        } else {
            w.depth--;
        }
    }
    if (w.out.failed || w.prefix.failed)
        nino_buf_release(&w.out);
    nino_buf_release(&w.prefix);
    return w.out.data;
}

// ---- the table -------------------------------------------------------------------------------

static nino_known_class table[MAX_CLASSES];
static size_t n_table;

static char *known_cut(char *s, char at)
{
    char *end = strchr(s, at);
    *end = 0;
    return end + 1;
}

static void known_read_table(void)
{
    for (char *s = nino_known_text; *s && n_table < MAX_CLASSES; n_table++) {
        char *flags = known_cut(s, '\t'), *widgets = known_cut(flags, '\t');
        table[n_table] = (nino_known_class){ s, (unsigned) (flags[0] - '0'), widgets };
        s = known_cut(widgets, '\n');
    }
}

const nino_known_class *nino_known_classes(size_t *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, known_read_table);
    *n = n_table;
    return table;
}

// ---- classes of a server ---------------------------------------------------------------------

static nino_known_class *added; // sorted by name; lives as long as the process
static size_t n_added;

static int known_compare(const void *a, const void *b)
{
    const nino_known_class *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static nino_known_class *known_find_in(const nino_known_class *list, size_t n, const char *name)
{
    const nino_known_class key = { .name = name };
    return n ? bsearch(&key, list, n, sizeof(*list), known_compare) : NULL;
}

const nino_known_class *nino_known_class_find(const char *name)
{
    size_t n;
    const nino_known_class *all = nino_known_classes(&n);
    const nino_known_class *k = known_find_in(added, n_added, name);
    return k ? k : known_find_in(all, n, name);
}

static bool known_add_class(nino_known_class *to, const nino_json *v)
{
    const bool is_output = is_known_set(v, "output_node"), is_paid = is_known_set(v, "api_node");
    *to =
        (nino_known_class){ strdup(v->key),
                            (is_output ? NINO_KNOWN_OUTPUT : 0u) | (is_paid ? NINO_KNOWN_PAID : 0u),
                            nino_known_widgets_of(nino_json_get(v, "input")) };
    if (to->name && to->widgets)
        return true;
    free((char *) to->name);
    free((char *) to->widgets);
    return false;
}

static nino_status known_add_all(const nino_json *root, const char *path, nino_error *err)
{
    const nino_json *first = root->type == NINO_JSON_OBJECT ? root->child : NULL;
    if (!first || !nino_json_get(first, "input"))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", path,
                              "not what a ComfyUI server answers to /object_info");
    nino_known_class *list = realloc(added, (n_added + root->count) * sizeof(*list));
    size_t n = n_added;
    bool ok = list;
    if (list)
        added = list;
    for (const nino_json *v = first; v && ok; v = v->next) {
        if (strlen(v->key) != v->key_len || known_find_in(list, n_added, v->key))
            continue;
        ok = known_add_class(&list[n], v);
        n += ok;
    }
    if (list)
        qsort(list, n, sizeof(*list), known_compare);
    n_added = n;
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
}

nino_status nino_node_add_info(const char *path, nino_error *err)
{
    const nino_json_limits limits = { .max_bytes = MAX_INFO, .allow_bom = true };
    char *text = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    nino_status st = nino_file_read(path, MAX_INFO, true, &text, &len, err);
    if (!st)
        st = nino_json_parse(text, len, path, &limits, &doc, err);
    if (!st)
        st = known_add_all(doc->root, path, err);
    nino_json_doc_destroy(&doc);
    free(text);
    return st;
}
