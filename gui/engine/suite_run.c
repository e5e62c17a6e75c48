// What is measured comes as lines of the command's stderr, "measuring: 37 %: ..."; another line there is why it failed.
// Results go to a folder of the app's state. The child ends with the app, however that ends.
#include "engine/suite_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/i18n.h"
#include "base/places.h"
#include "settings/prefs.h"

struct NinoSuiteRun {
    GSubprocess *child;
    GCancellable *cancellable;
    NinoSuiteTold told;
    NinoSuiteEnded ended;
    gpointer user;
    char *last; // line that says nothing of progress
};

static void run_free(NinoSuiteRun *r)
{
    g_object_unref(r->cancellable);
    g_object_unref(r->child);
    g_free(r->last);
    g_free(r);
}

void nino_suite_run_stop(NinoSuiteRun *r)
{
    g_cancellable_cancel(r->cancellable); // what waits for an answer frees the run
    g_subprocess_send_signal(r->child, SIGTERM);
}

char *nino_suite_run_folder(void) { return nino_state_path("suite"); }

char *nino_suite_run_newest(void)
{
    g_autofree char *folder = nino_suite_run_folder(), *newest = NULL;
    g_autofree char *below = g_build_filename(folder, "test_data", "optimization", NULL);
    g_autoptr(GDir) dir = g_dir_open(below, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_prefix(name, "performance_comparison_") && g_str_has_suffix(name, ".json") &&
            (!newest || strcmp(name, newest) > 0)) { // names have the time
            g_free(newest);
            newest = g_strdup(name);
        }
    return newest ? g_build_filename(below, newest, NULL) : NULL;
}

// ---- what it says -------------------------------------------------------------------------------

static void on_suite_end(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    NinoSuiteRun *r = user;
    if (!g_subprocess_wait_finish(G_SUBPROCESS(child), result, &error)) {
        run_free(r); // stopped
        return;
    }
    const gboolean is_ok = g_subprocess_get_successful(r->child);
    const char *why = r->last ? r->last : _("The benchmark ended without a result");
    r->ended(r->user, is_ok ? NULL : why);
    run_free(r);
}

static void on_suite_line(GObject *stream, GAsyncResult *result, gpointer user)
{
    static const char measuring[] = "measuring: ";
    g_autoptr(GError) error = NULL;
    NinoSuiteRun *r = user;
    g_autofree char *line =
        g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(stream), result, NULL, &error);
    if (g_cancellable_is_cancelled(r->cancellable)) {
        run_free(r);
        return;
    }
    if (!line) { // its end: now how it went
        g_subprocess_wait_async(r->child, r->cancellable, on_suite_end, r);
        return;
    }
    g_autofree char *text = g_utf8_make_valid(line, -1);
    if (g_str_has_prefix(text, measuring)) {
        const char *percent = text + strlen(measuring), *rest = strstr(percent, ": ");
        r->told(r->user, g_ascii_strtod(percent, NULL) / 100, rest ? rest + 2 : percent);
    } else {
        g_free(r->last);
        r->last = g_steal_pointer(&text);
    }
    g_data_input_stream_read_line_async(G_DATA_INPUT_STREAM(stream), G_PRIORITY_DEFAULT,
                                        r->cancellable, on_suite_line, r);
}

// ---- its start ----------------------------------------------------------------------------------

static void die_with_the_app(gpointer user)
{
    (void) user;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void add_words(GPtrArray *argv, const char *name, const char *value)
{
    g_ptr_array_add(argv, g_strdup(name));
    if (value)
        g_ptr_array_add(argv, g_strdup(value));
}

static GPtrArray *arguments(const NinoSuiteAsk *ask)
{
    char *program = nino_place_of_command();
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = nino_suite_run_folder(),
                    *opt = g_strconcat("--opt=", nino_phase_name(ask->last), NULL);
    g_autofree char *report = g_build_filename(folder, "report.md", NULL);
    g_mkdir_with_parents(folder, 0700);
    g_ptr_array_add(argv, program ? program : g_strdup("ninodes"));
    add_words(argv, "bench", "suite");
    add_words(argv, ask->suite, "--progress");
    add_words(argv, opt, NULL);
    add_words(argv, "--output", folder);
    add_words(argv, "--report", report);
    if (ask->is_quick)
        add_words(argv, "--quick", NULL);
    if (ask->device && *ask->device)
        add_words(argv, "--device", ask->device);
    for (int i = 0; i < NINO_POLICY_COUNT; i++)
        if (ask->without & NINO_POLICY_BIT(i))
            g_ptr_array_add(argv, g_strconcat("--no-", nino_policy_name((nino_policy) i), NULL));
    for (const char *const *c = ask->cases; c && *c; c++)
        add_words(argv, "--case", *c);
    g_ptr_array_add(argv, NULL);
    return argv;
}

NinoSuiteRun *nino_suite_run_start(const NinoSuiteAsk *ask, NinoSuiteTold told,
                                   NinoSuiteEnded ended, gpointer user, GError **error)
{
    g_autoptr(GPtrArray) argv = arguments(ask);
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
        G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_set_child_setup(launcher, die_with_the_app, NULL, NULL);
    GSubprocess *child =
        g_subprocess_launcher_spawnv(launcher, (const char *const *) argv->pdata, error);
    if (!child)
        return NULL;
    NinoSuiteRun *r = g_new0(NinoSuiteRun, 1);
    *r = (NinoSuiteRun){ .child = child,
                         .cancellable = g_cancellable_new(),
                         .told = told,
                         .ended = ended,
                         .user = user };
    g_autoptr(GDataInputStream) lines =
        g_data_input_stream_new(g_subprocess_get_stderr_pipe(child));
    g_data_input_stream_read_line_async(lines, G_PRIORITY_DEFAULT, r->cancellable, on_suite_line,
                                        r);
    return r;
}
