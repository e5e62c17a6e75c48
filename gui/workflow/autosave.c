// One folder a session, with a locked file in it: a folder whose lock can be had belongs to a
// session that has ended without tidying up. Folder: $XDG_STATE_HOME/ninodes/studio/autosave/ID.
#include "workflow/autosave.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "settings/prefs.h"

static char *own_dir;
static GPtrArray *found_dirs; // of earlier sessions, their locks held by us

static int lock_dir(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, "lock", NULL);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        return -1;
    }
    return fd;
}

static const char *session_dir(void)
{
    if (!own_dir) {
        g_autofree char *root = nino_state_path("autosave");
        g_autofree char *id = g_uuid_string_random();
        own_dir = g_build_filename(root, id, NULL);
        if (g_mkdir_with_parents(own_dir, 0700) || lock_dir(own_dir) < 0) // held until we end
            g_message("%s cannot be used: unsaved work is not kept", own_dir);
    }
    return own_dir;
}

static char *autosave_file_of(const char *dir, const char *uid, const char *ending)
{
    g_autofree char *name = g_strconcat(uid, ending, NULL);
    return g_build_filename(dir, name, NULL);
}

gboolean nino_autosave_keep(const char *uid, const char *title, const char *path, const char *json,
                            gsize len)
{
    const char *dir = session_dir();
    g_autofree char *text = autosave_file_of(dir, uid, ".json"),
                    *about = autosave_file_of(dir, uid, ".ini");
    g_autoptr(GKeyFile) meta = g_key_file_new();
    g_autoptr(GError) error = NULL;
    g_key_file_set_string(meta, "workflow", "title", title);
    if (path)
        g_key_file_set_string(meta, "workflow", "path", path);
    if (g_file_set_contents(text, json, (gssize) len, &error) &&
        g_key_file_save_to_file(meta, about, &error))
        return TRUE;
    g_message("autosave: %s", error->message);
    return FALSE;
}

void nino_autosave_forget(const char *uid)
{
    if (!own_dir)
        return;
    g_autofree char *text = autosave_file_of(own_dir, uid, ".json"),
                    *about = autosave_file_of(own_dir, uid, ".ini");
    g_unlink(text);
    g_unlink(about);
}

static void recovered_free(gpointer p)
{
    NinoRecovered *r = p;
    g_free(r->title);
    g_free(r->path);
    g_free(r->json);
    g_free(r->folder);
    g_free(r);
}

// FALSE: it cannot be read now.
static gboolean take_file(GPtrArray *out, const char *dir, const char *name)
{
    g_autoptr(GError) error = NULL;
    if (!g_str_has_suffix(name, ".json"))
        return TRUE;
    g_autofree char *uid = g_strndup(name, strlen(name) - strlen(".json"));
    g_autofree char *text = autosave_file_of(dir, uid, ".json"),
                    *about = autosave_file_of(dir, uid, ".ini");
    g_autoptr(GKeyFile) meta = g_key_file_new();
    NinoRecovered *r = g_new0(NinoRecovered, 1);
    if (!g_file_get_contents(text, &r->json, &r->len, &error)) {
        g_message("unsaved work is left for the next start: %s", error->message);
        recovered_free(r);
        return FALSE;
    }
    r->folder = g_strdup(dir);
    g_key_file_load_from_file(meta, about, G_KEY_FILE_NONE, NULL);
    r->title = g_key_file_get_string(meta, "workflow", "title", NULL);
    r->path = g_key_file_get_string(meta, "workflow", "path", NULL);
    g_ptr_array_add(out, r);
    return TRUE;
}

GPtrArray *nino_autosave_recover(void)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(recovered_free);
    g_autofree char *root = nino_state_path("autosave");
    const char *own = session_dir();
    if (!found_dirs)
        found_dirs = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) sessions = g_dir_open(root, 0, NULL);
    const char *id;
    while (sessions && (id = g_dir_read_name(sessions))) {
        g_autofree char *dir = g_build_filename(root, id, NULL);
        if (g_str_equal(dir, own) || lock_dir(dir) < 0)
            continue;
        g_autoptr(GDir) files = g_dir_open(dir, 0, NULL);
        const char *name;
        gboolean is_whole = files != NULL;
        while (files && (name = g_dir_read_name(files)))
            is_whole &= take_file(out, dir, name);
        if (is_whole)
            g_ptr_array_add(found_dirs, g_steal_pointer(&dir));
    }
    return out;
}

static void remove_dir(const char *dir)
{
    g_autoptr(GDir) files = g_dir_open(dir, 0, NULL);
    const char *name;
    while (files && (name = g_dir_read_name(files))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        g_unlink(path);
    }
    g_rmdir(dir);
}

void nino_autosave_discard(void)
{
    for (guint i = 0; found_dirs && i < found_dirs->len; i++)
        remove_dir(found_dirs->pdata[i]);
    if (found_dirs)
        g_ptr_array_set_size(found_dirs, 0);
}

void nino_autosave_leave(const NinoRecovered *r)
{
    guint i;
    if (found_dirs && g_ptr_array_find_with_equal_func(found_dirs, r->folder, g_str_equal, &i))
        g_ptr_array_remove_index(found_dirs, i);
}

void nino_autosave_end(void)
{
    if (own_dir)
        remove_dir(own_dir);
    g_clear_pointer(&own_dir, g_free);
}
