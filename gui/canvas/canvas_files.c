// Files that come to the canvas: dropped on a node that loads one, on the empty canvas, or pasted.
#include "canvas/canvas_priv.h"
#include "canvas/search.h"
#include "base/i18n.h"
#include "node/input_file.h"

#include <ninodes/inspect.h>
#include <string.h>

// ---- what a file is --------------------------------------------------------------------------

typedef enum FileKind { FILE_OTHER, FILE_WORKFLOW, FILE_MEDIA, FILE_MODEL } FileKind;

// The class that loads it, where it is a picture, a clip or a sound.
static const char *class_for(const char *format)
{
    static const char *const of[][2] = { { "png", "LoadImage" },  { "jpeg", "LoadImage" },
                                         { "webp", "LoadImage" }, { "mp4", "LoadVideo" },
                                         { "mov", "LoadVideo" },  { "matroska", "LoadVideo" },
                                         { "apng", "LoadImage" }, { "webm", "LoadVideo" },
                                         { "sound", "LoadAudio" } };
    for (gsize i = 0; i < G_N_ELEMENTS(of); i++)
        if (!g_strcmp0(format, of[i][0]))
            return of[i][1];
    return NULL;
}

static gboolean is_weights(const char *format)
{
    return !strcmp(format, "safetensors") || !strcmp(format, "gguf") || !strcmp(format, "pth");
}

static gboolean has_workflow(const char *path)
{
    nino_error err = { 0 };
    nino_document *d = nino_document_load_file(path, &err);
    const gboolean has = d != NULL;
    nino_document_destroy(&d);
    return has;
}

static FileKind kind_of(const char *path, const char **class_name)
{
    nino_inspect i = { 0 };
    FileKind kind = FILE_OTHER;
    if (has_workflow(path))
        return FILE_WORKFLOW;
    if (nino_inspect_file(path, &i, NULL))
        return FILE_OTHER;
    if ((*class_name = class_for(i.format)))
        kind = FILE_MEDIA;
    else if (is_weights(i.format) && !g_str_has_suffix(path, ".latent"))
        kind = FILE_MODEL;
    nino_inspect_release(&i);
    return kind;
}

// ---- taking it -------------------------------------------------------------------------------

static void tell_problem(NinoCanvas *c, const char *text)
{
    nino_error err = { 0 };
    g_strlcpy(err.msg, text, sizeof(err.msg));
    nino_canvas_did(c, NINO_ERR_IO, &err);
}

// What a node gets: the file's name among the inputs, or NULL, which was told.
static void give(NinoCanvas *c, const nino_doc_node *n, char *name, const GError *error)
{
    const nino_doc_widget *w = nino_input_widget(n);
    nino_error err = { 0 };
    if (!name)
        tell_problem(c, error->message);
    if (!name || !n || !w) {
        g_free(name);
        return;
    }
    g_autofree char *value = nino_input_value(w->param, name), *id = g_strdup(n->id);
    nino_document_seal(c->doc);
    if (nino_canvas_did(c, nino_document_set_text(c->doc, n->id, w->name, value, &err), &err))
        nino_canvas_select_only(c, id);
    g_free(name);
}

static void add_loader(NinoCanvas *c, const char *class_name, char *name, const GError *error,
                       double x, double y)
{
    const nino_node_def *def = nino_node_find(class_name, NULL);
    const nino_param *p = def ? def->params : NULL;
    while (p && p->key && p->type != NINO_FILE)
        p++;
    if (!name || !p || !p->key) {
        tell_problem(c, error ? error->message : class_name);
        return;
    }
    g_autofree char *item = g_strjoin("\n", class_name, p->key, name, NULL);
    x < 0 ? nino_canvas_add_item(c, item) : nino_canvas_add_item_at(c, item, x, y);
    g_free(name);
}

// The loader of a model: by where it lies, in one of the model folders.
static char *model_item(const char *path)
{
    g_autoptr(GPtrArray) items = nino_canvas_models();
    char *best = NULL;
    gsize longest = 0;
    for (guint i = 0; i < items->len; i++) {
        const NinoSearchItem *item = g_ptr_array_index(items, i);
        g_autofree char *in_folder = g_strconcat("/", item->terms, "/", item->title, NULL);
        g_autofree char *anywhere = g_strconcat("/", item->title, NULL);
        const char *end = g_str_has_suffix(path, in_folder)  ? in_folder
                          : g_str_has_suffix(path, anywhere) ? anywhere
                                                             : "";
        if (strlen(end) <= longest)
            continue;
        longest = strlen(end);
        g_free(best);
        best = g_strdup(item->key);
    }
    return best;
}

static void take_model(NinoCanvas *c, const char *path, double x, double y)
{
    g_autofree char *item = model_item(path);
    if (!item) {
        g_autofree char *text =
            g_strdup_printf(_("%s: a model, but in none of the model folders"), path);
        tell_problem(c, text);
    } else if (x < 0) {
        nino_canvas_add_item(c, item);
    } else {
        nino_canvas_add_item_at(c, item, x, y);
    }
}

static const nino_doc_node *node_at(NinoCanvas *c, double x, double y)
{
    NinoNodeView *v = nino_canvas_node_at(c, x, y);
    return v ? nino_document_node(c->doc, nino_canvas_number_of(c, v)) : NULL;
}

gboolean nino_canvas_take_file(NinoCanvas *c, const char *path, double x, double y)
{
    const nino_doc_node *n = x < 0 ? NULL : node_at(c, x, y);
    const char *class_name = NULL;
    g_autoptr(GError) error = NULL;
    const FileKind kind = kind_of(path, &class_name);
    if (kind == FILE_MODEL) {
        take_model(c, path, x, y);
        return TRUE;
    }
    if (!nino_input_widget(n) && kind != FILE_MEDIA)
        return FALSE;
    char *name = nino_input_take(path, &error);
    if (nino_input_widget(n))
        give(c, n, name, error);
    else
        add_loader(c, class_name, name, error, x, y);
    return TRUE;
}

static char *loading_class(const char *path)
{
    nino_inspect i = { 0 };
    const char *own = g_str_has_suffix(path, ".latent") ? "LoadLatent" : NULL;
    if (!own && !nino_inspect_file(path, &i, NULL))
        own = class_for(i.format);
    char *name = g_strdup(own ? own : "LoadImage");
    nino_inspect_release(&i);
    return name;
}

void nino_canvas_use_file(NinoCanvas *c, const char *path)
{
    const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_first_selected(c));
    g_autofree char *class_name = loading_class(path);
    g_autoptr(GError) error = NULL;
    n = nino_input_widget(n) ? n : NULL;
    for (int i = 0; !n && i < nino_document_n_nodes(c->doc); i++) {
        const nino_doc_node *at = nino_document_node(c->doc, i);
        if (!strcmp(at->type, class_name) && nino_input_widget(at))
            n = at;
    }
    char *name = nino_input_take(path, &error);
    if (n)
        give(c, n, name, error);
    else
        add_loader(c, class_name, name, error, -1, -1);
}

// ---- dropped ---------------------------------------------------------------------------------

static void take_files(NinoCanvas *c, GSList *files, double x, double y)
{
    for (GSList *l = files; l; l = l->next) {
        g_autofree char *path = g_file_get_path(l->data);
        if (path && !nino_canvas_take_file(c, path, x, y)) // who shows the canvas opens it
            gtk_widget_activate_action(GTK_WIDGET(c), "win.open-path", "s", path);
    }
}

// A picture without a file, as browsers give them.
static void take_texture(NinoCanvas *c, GdkTexture *picture, const nino_doc_node *n, double x,
                         double y)
{
    g_autoptr(GError) error = NULL;
    char *name = nino_input_take_texture("pasted/image.png", picture, &error);
    if (nino_input_widget(n))
        give(c, n, name, error);
    else
        add_loader(c, "LoadImage", name, error, x, y);
}

static gboolean on_files_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                              gpointer canvas)
{
    NinoCanvas *c = canvas;
    (void) target;
    if (!c->doc)
        return FALSE;
    if (G_VALUE_HOLDS(value, GDK_TYPE_FILE_LIST)) {
        take_files(c, g_value_get_boxed(value), x, y);
    } else {
        take_texture(c, g_value_get_object(value), node_at(c, x, y), x, y);
    }
    return TRUE;
}

void nino_canvas_take_files(NinoCanvas *c)
{
    GType types[] = { GDK_TYPE_FILE_LIST, GDK_TYPE_TEXTURE };
    GtkDropTarget *drop = gtk_drop_target_new(G_TYPE_INVALID, GDK_ACTION_COPY);
    gtk_drop_target_set_gtypes(drop, types, G_N_ELEMENTS(types));
    g_signal_connect(drop, "drop", G_CALLBACK(on_files_drop), c);
    gtk_widget_add_controller(GTK_WIDGET(c), GTK_EVENT_CONTROLLER(drop));
}

// ---- pasted ----------------------------------------------------------------------------------

static void on_pasted(GObject *clipboard, GAsyncResult *result, gpointer user)
{
    g_autoptr(NinoCanvas) c = user;
    g_autoptr(GError) error = NULL;
    const GValue *value = gdk_clipboard_read_value_finish(GDK_CLIPBOARD(clipboard), result, &error);
    const double w = c->view.width, h = c->view.height;
    const gboolean inside = c->px > 0 && c->py > 0 && c->px < w && c->py < h;
    const double x = inside ? c->px : w / 2, y = inside ? c->py : h / 2;
    if (!c->doc)
        return;
    const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_first_selected(c));
    if (!value) {
        tell_problem(c, error->message);
    } else if (G_VALUE_HOLDS(value, GDK_TYPE_TEXTURE)) {
        take_texture(c, g_value_get_object(value), n, x, y);
    } else if (nino_input_widget(n)) {
        GSList *files = g_value_get_boxed(value);
        g_autofree char *path = files ? g_file_get_path(files->data) : NULL;
        g_autoptr(GError) why = NULL;
        char *name = path ? nino_input_take(path, &why) : NULL;
        if (path)
            give(c, n, name, why);
    } else {
        take_files(c, g_value_get_boxed(value), x, y);
    }
}

gboolean nino_canvas_paste_files(NinoCanvas *c)
{
    GdkClipboard *clipboard = gtk_widget_get_clipboard(GTK_WIDGET(c));
    g_autoptr(GdkContentFormats) formats = gdk_content_formats_union_deserialize_gtypes(
        gdk_content_formats_ref(gdk_clipboard_get_formats(clipboard)));
    const GType type =
        gdk_content_formats_contain_gtype(formats, GDK_TYPE_FILE_LIST) ? GDK_TYPE_FILE_LIST
        : gdk_content_formats_contain_gtype(formats, GDK_TYPE_TEXTURE) ? GDK_TYPE_TEXTURE
                                                                       : G_TYPE_INVALID;
    if (type == G_TYPE_INVALID)
        return FALSE;
    gdk_clipboard_read_value_async(clipboard, type, G_PRIORITY_DEFAULT, NULL, on_pasted,
                                   g_object_ref(c));
    return TRUE;
}

// ---- chosen ----------------------------------------------------------------------------------

static void on_chosen(gpointer user, const char *value, const char *error)
{
    NinoCanvas *c = user;
    const char *id = g_object_get_data(G_OBJECT(c), "choose-for");
    const nino_doc_node *n =
        c->doc ? nino_document_node(c->doc, nino_document_find(c->doc, id)) : NULL;
    const nino_doc_widget *w = nino_input_widget(n);
    nino_error err = { 0 };
    if (error)
        tell_problem(c, error);
    else if (w)
        nino_canvas_did(c, nino_document_set_text(c->doc, id, w->name, value, &err), &err);
}

void nino_canvas_edit_mask(NinoCanvas *c)
{
    const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_first_selected(c));
    const nino_doc_widget *w = nino_input_widget(n);
    if (!w || !nino_input_has_mask(w->param))
        return;
    g_object_set_data_full(G_OBJECT(c), "choose-for", g_strdup(n->id), g_free);
    nino_input_edit_mask(GTK_WIDGET(c), w, on_chosen, c);
}

void nino_canvas_choose_file(NinoCanvas *c)
{
    const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_first_selected(c));
    const nino_doc_widget *w = nino_input_widget(n);
    if (!w)
        return;
    g_object_set_data_full(G_OBJECT(c), "choose-for", g_strdup(n->id), g_free);
    nino_input_browse(GTK_WIDGET(c), w->param, on_chosen, c);
}
