// Kept runs: ID.ninotrace each, and runs.ini with what the list shows of them. A row without a trace is
// not shown; a trace without a row, after a crash between the two or where the list was damaged, gets
// one anew.
#include "plot/kept_runs.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "base/key_file.h"
#include "settings/prefs.h"

#define ENDING ".ninotrace"
enum { MOST_RECORDS = 400000 }; // some 25 MB, a tenth of a second

typedef struct Watcher {
    GtkWidget *widget;
    void (*fn)(GtkWidget *widget);
} Watcher;
static GArray *watchers;

static void watcher_gone(gpointer data, GObject *widget)
{
    (void) data;
    for (guint i = watchers->len; i-- > 0;)
        if ((GObject *) g_array_index(watchers, Watcher, i).widget == widget)
            g_array_remove_index(watchers, i);
}

void nino_kept_watch(GtkWidget *widget, void (*fn)(GtkWidget *widget))
{
    const Watcher w = { widget, fn };
    if (!watchers)
        watchers = g_array_new(FALSE, FALSE, sizeof(Watcher));
    g_array_append_val(watchers, w);
    g_object_weak_ref(G_OBJECT(widget), watcher_gone, NULL);
}

static void kept_changed(void)
{
    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);
        w->fn(w->widget);
    }
}

void nino_kept_free(gpointer kept)
{
    NinoKept *k = kept;
    g_free(k->id);
    g_free(k->title);
    g_free(k->name);
    g_free(k->note);
    g_free(k->kind);
    g_free(k);
}

static char *kept_folder(void)
{
    char *dir = nino_state_path("runs");
    g_mkdir_with_parents(dir, 0700);
    return dir;
}

char *nino_kept_path(const char *id)
{
    g_autofree char *dir = kept_folder(), *file = g_strconcat(id, ENDING, NULL);
    return g_build_filename(dir, file, NULL);
}

// NULL: the list cannot be read now.
static GKeyFile *load_rows(char **path, GError **error)
{
    g_autofree char *dir = kept_folder();
    *path = g_build_filename(dir, "runs.ini", NULL);
    return nino_key_file_open(*path, error);
}

static int newer_first(gconstpointer a, gconstpointer b)
{
    const NinoKept *x = *(NinoKept *const *) a, *y = *(NinoKept *const *) b;
    return x->at != y->at ? (x->at < y->at ? 1 : -1) : strcmp(y->id, x->id);
}

static NinoKept *read_row(GKeyFile *rows, const char *id)
{
    g_autoptr(GError) error = NULL;
    NinoKept *k = g_new0(NinoKept, 1);
    k->id = g_strdup(id);
    k->title = g_key_file_get_string(rows, id, "title", NULL);
    k->name = g_key_file_get_string(rows, id, "name", NULL);
    k->note = g_key_file_get_string(rows, id, "note", NULL);
    k->kind = g_key_file_get_string(rows, id, "kind", NULL);
    k->at = g_key_file_get_int64(rows, id, "at", NULL);
    k->seconds = g_key_file_get_double(rows, id, "seconds", &error);
    k->n_records = g_key_file_get_uint64(rows, id, "records", NULL);
    if (error)
        k->seconds = NAN;
    k->title = k->title ? k->title : g_strdup("");
    k->name = k->name ? k->name : g_strdup("");
    k->note = k->note ? k->note : g_strdup("");
    k->kind = k->kind ? k->kind : g_strdup("");
    return k;
}

// Rows for traces that have none; whether there were any.
static gboolean take_strays(GKeyFile *rows)
{
    g_autofree char *dir = kept_folder();
    g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
    gboolean is_any = FALSE;
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        const gsize n = strspn(name, "0123456789");
        g_autofree char *id = g_strndup(name, n);
        if (!n || strcmp(name + n, ENDING) != 0 || g_key_file_has_group(rows, id))
            continue;
        g_key_file_set_string(rows, id, "title", name);
        g_key_file_set_int64(rows, id, "at", g_ascii_strtoll(id, NULL, 10) / G_USEC_PER_SEC);
        is_any = TRUE;
    }
    return is_any;
}

GPtrArray *nino_kept_list(void)
{
    g_autofree char *file = NULL;
    g_autoptr(GKeyFile) rows = load_rows(&file, NULL);
    GPtrArray *list = g_ptr_array_new_with_free_func(nino_kept_free);
    if (!rows)
        return list;
    if (take_strays(rows))
        nino_key_file_save(rows, file, NULL);
    g_auto(GStrv) ids = g_key_file_get_groups(rows, NULL);
    for (char **id = ids; *id; id++) {
        g_autofree char *path = nino_kept_path(*id);
        if (!strpbrk(*id, "./") && g_file_test(path, G_FILE_TEST_IS_REGULAR))
            g_ptr_array_add(list, read_row(rows, *id));
        else
            g_key_file_remove_group(rows, *id, NULL);
    }
    g_ptr_array_sort(list, newer_first);
    return list;
}

char *nino_kept_called(const char *path)
{
    g_autoptr(GPtrArray) list = nino_kept_list();
    for (guint i = 0; i < list->len; i++) {
        const NinoKept *k = g_ptr_array_index(list, i);
        g_autofree char *own = nino_kept_path(k->id);
        if (!strcmp(own, path))
            return g_strdup(*k->name ? k->name : k->title);
    }
    return g_path_get_basename(path);
}

// Of those that nobody has named or noted something about.
static void remove_oldest(void)
{
    g_autoptr(GPtrArray) list = nino_kept_list();
    guint n = list->len;
    for (guint i = list->len; i-- > 0 && n > NINO_KEPT_MOST;) {
        const NinoKept *k = g_ptr_array_index(list, i);
        if (!*k->name && !*k->note) {
            nino_kept_remove(k->id);
            n--;
        }
    }
}

static const nino_span *first_job(nino_history *h)
{
    size_t n;
    const nino_span *spans = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++)
        if (spans[i].kind == NINO_EV_JOB)
            return &spans[i];
    return NULL;
}

// seconds: NAN: not known; from: the file that it came from, or NULL.
static gboolean keep(NinoRun *run, const char *title, double seconds, const char *from,
                     GError **error)
{
    nino_history *h = nino_run_history(run);
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, g_get_real_time()), *file = NULL,
                    *path = nino_kept_path(id);
    nino_error err = { 0 };
    if (nino_history_save(h, path, &err)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", err.where, err.msg);
        return FALSE;
    }
    g_autoptr(GKeyFile) rows = load_rows(&file, error);
    if (!rows) {
        g_unlink(path);
        return FALSE;
    }
    char *kind = nino_history_kind(h);
    g_key_file_set_string(rows, id, "title", title);
    g_key_file_set_string(rows, id, "kind", kind ? kind : "");
    free(kind);
    if (from)
        g_key_file_set_string(rows, id, "from", from);
    g_key_file_set_int64(rows, id, "at", g_get_real_time() / G_USEC_PER_SEC);
    g_key_file_set_uint64(rows, id, "records", nino_history_count(h));
    if (!isnan(seconds))
        g_key_file_set_double(rows, id, "seconds", seconds);
    if (!g_key_file_save_to_file(rows, file, error)) {
        g_unlink(path);
        return FALSE;
    }
    remove_oldest();
    kept_changed();
    return TRUE;
}

static double seconds_of(const nino_span *job)
{
    return job && job->end_ns ? (double) (job->end_ns - job->begin_ns) * 1e-9 : (double) NAN;
}

gboolean nino_kept_add(NinoRun *run, GError **error)
{
    nino_history *h = nino_run_history(run);
    const nino_span *job = first_job(h);
    if (!job || nino_history_count(h) > MOST_RECORDS)
        return FALSE;
    g_autofree char *title = g_path_get_basename(nino_run_name(run, job->name));
    return keep(run, title, seconds_of(job), NULL, error);
}

// Of a trace without a job all of it.
static double seconds_shown(nino_history *h)
{
    const nino_span *job = first_job(h);
    return job ? seconds_of(job) : (double) (nino_history_end(h) - nino_history_begin(h)) * 1e-9;
}

gboolean nino_kept_is_shown(const NinoKept *kept, NinoRun *run)
{
    return fabs(kept->seconds - seconds_shown(nino_run_history(run))) < 0.5e-9;
}

static gboolean is_kept(const char *path, guint64 n_records)
{
    g_autofree char *dir = kept_folder(), *in = g_path_get_dirname(path), *file = NULL;
    g_autoptr(GKeyFile) rows = load_rows(&file, NULL);
    g_auto(GStrv) ids = rows ? g_key_file_get_groups(rows, NULL) : NULL;
    for (char **id = ids; id && *id; id++) {
        g_autofree char *from = g_key_file_get_string(rows, *id, "from", NULL);
        if (!g_strcmp0(from, path) &&
            g_key_file_get_uint64(rows, *id, "records", NULL) == n_records)
            return TRUE;
    }
    return !strcmp(dir, in);
}

gboolean nino_kept_take(NinoRun *run, const char *path, GError **error)
{
    nino_history *h = nino_run_history(run);
    const guint64 n = nino_history_count(h);
    g_autofree char *title = g_path_get_basename(path);
    if (!n || n > MOST_RECORDS || is_kept(path, n))
        return FALSE;
    return keep(run, title, seconds_shown(h), path, error);
}

void nino_kept_trend(const GPtrArray *list, const NinoKept *kept, nino_trend *out)
{
    g_autofree double *seconds = g_new(double, list->len + 1);
    gsize n = 0;
    for (guint i = list->len; i-- > 0;) { // the oldest is the last
        const NinoKept *k = g_ptr_array_index(list, i);
        if (!strcmp(k->title, kept->title) && !strcmp(k->kind, kept->kind) && !isnan(k->seconds))
            seconds[n++] = k->seconds;
        if (!strcmp(k->id, kept->id))
            break;
    }
    nino_trend_of(seconds, n, 0, out);
}

static void set_text(const char *id, const char *key, const char *text)
{
    g_autofree char *file = NULL, *was = NULL;
    g_autoptr(GKeyFile) rows = load_rows(&file, NULL);
    if (!rows || !g_key_file_has_group(rows, id))
        return;
    was = g_key_file_get_string(rows, id, key, NULL);
    if (!g_strcmp0(was ? was : "", text))
        return;
    g_key_file_set_string(rows, id, key, text);
    if (g_key_file_save_to_file(rows, file, NULL))
        kept_changed();
}

void nino_kept_rename(const char *id, const char *name) { set_text(id, "name", name); }

void nino_kept_set_note(const char *id, const char *note) { set_text(id, "note", note); }

gboolean nino_kept_matches(const NinoKept *k, const char *text)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(k->at);
    g_autofree char *when = g_date_time_format(at, "%F %H:%M:%S");
    g_autofree char *all = g_strjoin("\n", k->title, k->name, k->note, when, NULL);
    g_autofree char *folded = g_utf8_casefold(all, -1), *wanted = g_utf8_casefold(text, -1);
    g_auto(GStrv) words = g_strsplit(wanted, " ", -1);
    for (char **w = words; *w; w++)
        if (!strstr(folded, *w))
            return FALSE;
    return TRUE;
}

void nino_kept_remove(const char *id)
{
    g_autofree char *file = NULL, *path = nino_kept_path(id);
    g_autoptr(GKeyFile) rows = load_rows(&file, NULL);
    if (!rows || !g_key_file_has_group(rows, id))
        return;
    g_key_file_remove_group(rows, id, NULL);
    if (g_key_file_save_to_file(rows, file, NULL)) {
        g_unlink(path);
        kept_changed();
    }
}
