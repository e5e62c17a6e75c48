// A file is copied as it is, not decoded: what it tells of its making stays in it.
#include "node/input_file.h"

#include "base/chosen.h"
#include "base/i18n.h"
#include "mask/mask_window.h"
#include "node/folders.h"

#include <ninodes/base.h>
#include <string.h>

enum { MAX_TRIES = 10000 };

const nino_doc_widget *nino_input_widget(const nino_doc_node *n)
{
    for (int i = 0; n && i < n->n_widgets; i++) {
        const nino_doc_widget *w = &n->widgets[i];
        if (w->param && w->param->type == NINO_FILE && !w->is_linked &&
            (!strcmp(w->param->folder, "input") || !strcmp(w->param->folder, "output")))
            return w;
    }
    return NULL;
}

static GBytes *read_all(const char *path, GError **error)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, error);
    return file ? g_mapped_file_get_bytes(file) : NULL;
}

static gboolean holds(const char *path, GBytes *content)
{
    g_autoptr(GBytes) there = read_all(path, NULL);
    return there && g_bytes_equal(there, content);
}

// "name (1).png", as ComfyUI's server names an upload whose name is taken.
static char *numbered(const char *name, int i)
{
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    const int stem = (int) (dot && dot > name && (!slash || dot > slash + 1) ? (size_t) (dot - name)
                                                                             : strlen(name));
    return i ? g_strdup_printf("%.*s (%d)%s", stem, name, i, name + stem) : g_strdup(name);
}

char *nino_input_take_bytes(const char *name, GBytes *content, GError **error)
{
    gsize n = 0;
    const void *data = g_bytes_get_data(content, &n);
    for (int i = 0; i < MAX_TRIES; i++) {
        g_autofree char *own = numbered(name, i);
        g_autofree char *path = g_build_filename(nino_folders_get(FALSE), own, NULL);
        nino_error err = { 0 };
        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
            if (holds(path, content))
                return g_steal_pointer(&own);
            continue;
        }
        if (nino_place_save(path, data, n, &err)) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", path, err.msg);
            return NULL;
        }
        return g_steal_pointer(&own);
    }
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS, _("%s: too many files have this name"), name);
    return NULL;
}

char *nino_input_take(const char *path, GError **error)
{
    g_autoptr(GFile) file = g_file_new_for_path(path),
                     folder = g_file_new_for_path(nino_folders_get(FALSE));
    char *own = g_file_get_relative_path(folder, file);
    if (own)
        return own;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, _("%s: not a file"), path);
        return NULL;
    }
    g_autoptr(GBytes) content = read_all(path, error);
    g_autofree char *name = g_path_get_basename(path);
    return content ? nino_input_take_bytes(name, content, error) : NULL;
}

char *nino_input_take_texture(const char *name, GdkTexture *picture, GError **error)
{
    g_autoptr(GBytes) png = gdk_texture_save_to_png_bytes(picture);
    return nino_input_take_bytes(name, png, error);
}

char *nino_input_value(const nino_param *p, const char *name)
{
    return !p || !strcmp(p->folder, "input") ? g_strdup(name) : g_strconcat(name, " [input]", NULL);
}

// ---- its mask --------------------------------------------------------------------------------

typedef struct Masked {
    const nino_param *param;
    char *name; // of the file to be
    NinoInputFn fn;
    gpointer user;
} Masked;

static void masked_free(gpointer p)
{
    g_free(((Masked *) p)->name);
    g_free(p);
}

// "photo.jpg" and "clipspace/photo-masked (2).png" become "clipspace/photo-masked.png".
static char *masked_name(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.'), *had;
    if (dot && dot > base)
        *dot = 0;
    if ((had = strstr(base, "-masked")))
        *had = 0;
    return g_strdup_printf("clipspace/%s-masked.png", base);
}

static void on_mask_done(gpointer user, GBytes *png)
{
    const Masked *m = user;
    g_autoptr(GError) error = NULL;
    g_autofree char *name = nino_input_take_bytes(m->name, png, &error);
    g_autofree char *value = name ? nino_input_value(m->param, name) : NULL;
    m->fn(m->user, value, error ? error->message : NULL);
}

gboolean nino_input_has_mask(const nino_param *p)
{
    return p && p->type == NINO_FILE && p->upload_slot && !strcmp(p->key, "image");
}

void nino_input_edit_mask(GtkWidget *parent, const nino_doc_widget *w, NinoInputFn fn,
                          gpointer user)
{
    g_autofree char *path = nino_folders_input_path(w);
    g_autoptr(GError) error = NULL;
    Masked *m = g_new0(Masked, 1);
    *m = (Masked){ w->param, masked_name(path ? path : w->text), fn, user };
    g_object_set_data_full(G_OBJECT(parent), "nino-input-masked", m, masked_free);
    if (!nino_mask_edit(parent, path ? path : w->text, on_mask_done, m, &error))
        fn(user, NULL, error->message);
}

// ---- asking for one --------------------------------------------------------------------------

typedef struct Asked {
    GtkFileChooserNative *dialog;
    const nino_param *param;
    NinoInputFn fn;
    gpointer user;
} Asked;

static void asked_free(gpointer p)
{
    Asked *a = p;
    gtk_native_dialog_hide(GTK_NATIVE_DIALOG(a->dialog));
    g_object_unref(a->dialog);
    g_free(a);
}

static void on_response(GtkNativeDialog *dialog, int response, gpointer parent)
{
    g_autofree char *path = nino_chosen_path(dialog, response);
    const Asked asked = *(Asked *) g_object_get_data(parent, "nino-input-asked");
    g_object_set_data(parent, "nino-input-asked", NULL); // the dialog goes
    if (!path)
        return;
    g_autoptr(GError) error = NULL;
    g_autofree char *name = nino_input_take(path, &error);
    g_autofree char *value = name ? nino_input_value(asked.param, name) : NULL;
    asked.fn(asked.user, value, error ? error->message : NULL);
}

void nino_input_browse(GtkWidget *parent, const nino_param *p, NinoInputFn fn, gpointer user)
{
    GtkRoot *root = gtk_widget_get_root(parent);
    Asked *a = g_new0(Asked, 1);
    *a = (Asked){ .param = p, .fn = fn, .user = user };
    a->dialog = nino_chooser_new(_("Choose a file"), GTK_WINDOW(root), GTK_FILE_CHOOSER_ACTION_OPEN,
                                 _("_Open"));
    g_autoptr(GFile) folder = g_file_new_for_path(nino_folders_get(FALSE));
    if (g_file_query_exists(folder, NULL))
        gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(a->dialog), folder, NULL);
    g_signal_connect(a->dialog, "response", G_CALLBACK(on_response), parent);
    g_object_set_data_full(G_OBJECT(parent), "nino-input-asked", a, asked_free);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(a->dialog), TRUE);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(a->dialog));
}
