// The own worker as a process: started, or taken over from an app that is gone; its last words; its end.
#include "engine/engine_priv.h"

#include <ninodes/worker.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/i18n.h"
#include "base/places.h"

// How long a worker outlives an app that was killed, when it has nothing to do.
#define IDLE_END_S "30"

// The folder of the queue: apart from that of a worker of the command line.
static char *queue_folder(void)
{
    return g_build_filename(g_get_user_state_dir(), "ninodes", "studio", "worker", NULL);
}

int nino_engine_worker_pid(NinoEngine *e)
{
    const char *pid = e->process ? g_subprocess_get_identifier(e->process) : NULL;
    return pid ? atoi(pid) : e->adopted;
}

gboolean nino_engine_has_survivor(NinoEngine *e)
{
    g_autofree char *folder = queue_folder();
    return e->adopted && nino_worker_find(folder) == e->adopted;
}

void nino_engine_end_worker(NinoEngine *e)
{
    if (e->process)
        nino_child_signal(e->process, SIGTERM);
    else if (nino_engine_has_survivor(e)) // the number is still its own
        kill(e->adopted, SIGTERM);
}

// ---- its end ------------------------------------------------------------------------------------

void nino_engine_worker_ended(NinoEngine *e, const char *why)
{
    const gboolean asked = e->is_stopping, again = asked && e->starts_again;
    e->is_stopping = e->starts_again = FALSE;
    if (!asked)
        nino_engine_lose_jobs(e);
    if (again)
        nino_engine_start(e);
    else
        nino_engine_set_state(e, asked ? NINO_ENGINE_OFF : NINO_ENGINE_DEAD, asked ? "" : why);
}

static char *ending(NinoEngine *e)
{
    const char *words = e->words->str;
    if (g_subprocess_get_if_signaled(e->process)) {
        const int sig = g_subprocess_get_term_sig(e->process);
        g_autofree char *how =
            g_strdup_printf(_("The worker was killed by signal %d (%s)"), sig, g_strsignal(sig));
        return g_strconcat(how, *words ? ": " : "", words, NULL);
    }
    if (*words)
        return g_strdup_printf(_("The worker ended: %s"), words);
    return g_strdup_printf(_("The worker ended with status %d"),
                           g_subprocess_get_exit_status(e->process));
}

// Its last words are read before it is said how it ended.
static void process_ended(NinoEngine *e)
{
    if (!e->is_gone || !e->is_silent)
        return;
    if (!e->is_foreign) {
        nino_engine_drain(e);
        nino_engine_hang_up(e);
    }
    g_autofree char *why = ending(e);
    g_clear_object(&e->process);
    if (e->is_foreign)
        e->is_stopping = FALSE;
    else
        nino_engine_worker_ended(e, why);
}

static void on_process_exit(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    g_subprocess_wait_finish(G_SUBPROCESS(source), result, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the engine is gone or has another process
    NinoEngine *e = user;
    e->is_gone = TRUE;
    process_ended(e);
}

// "ninodes: worker: ..." begins an error, the lines after it explain it.
static void keep_words(NinoEngine *e, const char *line)
{
    enum { MOST = 4096 };
    const char *text = g_str_has_prefix(line, "ninodes: ") ? line + strlen("ninodes: ") : line;
    if (g_str_has_prefix(text, "worker: ")) {
        g_string_assign(e->words, text + strlen("worker: "));
    } else if (e->words->len < MOST) {
        g_string_append_printf(e->words, "%s%s", e->words->len ? "\n" : "", text);
    }
}

static void read_next(NinoEngine *e, GDataInputStream *stream);

static void on_line(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *line = g_data_input_stream_read_line_finish_utf8(G_DATA_INPUT_STREAM(source),
                                                                      result, NULL, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    NinoEngine *e = user;
    if (!line && !error) {
        e->is_silent = TRUE;
        process_ended(e);
        return;
    }
    if (line && *line) {
        keep_words(e, line);
        g_signal_emit_by_name(e, "log", line);
    }
    read_next(e, G_DATA_INPUT_STREAM(source));
}

static void read_next(NinoEngine *e, GDataInputStream *stream)
{
    g_data_input_stream_read_line_async(stream, G_PRIORITY_DEFAULT, e->cancellable, on_line, e);
}

// ---- its start ----------------------------------------------------------------------------------

static void add_option(GPtrArray *argv, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    g_ptr_array_add(argv, g_strdup(name));
    g_ptr_array_add(argv, g_strdup(value));
}

static GPtrArray *arguments(NinoEngine *e, const char *worker)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *state = queue_folder();
    g_ptr_array_add(argv, g_strdup(worker));
    g_ptr_array_add(argv, g_strdup("worker"));
    for (int i = 0; e->models && e->models[i]; i++)
        add_option(argv, "--models", e->models[i]);
    add_option(argv, "--input", e->input);
    add_option(argv, "--output", e->output);
    add_option(argv, "--device", e->device_option);
    add_option(argv, "--object-info", e->object_info);
    add_option(argv, "--state", state);
    add_option(argv, "--idle-end", IDLE_END_S);
    g_ptr_array_add(argv, NULL);
    return argv;
}

// Of the queue that the last worker kept. A name that has these words has its quotes escaped.
static gboolean has_work_left(void)
{
    g_autofree char *folder = queue_folder();
    g_autofree char *path = g_build_filename(folder, "queue.json", NULL);
    g_autofree char *text = NULL;
    return g_file_get_contents(path, &text, NULL, NULL) &&
           (strstr(text, "\"state\":\"waiting\"") || strstr(text, "\"state\":\"running\""));
}

static void take_survivor(NinoEngine *e)
{
    g_autofree char *folder = queue_folder();
    if (e->process || e->adopted || !(e->adopted = nino_worker_find(folder)))
        return;
    e->is_foreign = FALSE;
    e->was_started = TRUE;
    nino_engine_attach_later(e);
    nino_engine_set_state(e, NINO_ENGINE_STARTING, "");
}

void nino_engine_start(NinoEngine *e)
{
    take_survivor(e);
    if (e->process || e->adopted)
        return;
    e->is_foreign = FALSE;
    e->was_started = TRUE;
    g_autofree char *worker = nino_place_of_command();
    if (!worker) {
        nino_engine_set_state(e, NINO_ENGINE_DEAD,
                              _("The program “ninodes” is neither beside this one nor in PATH"));
        return;
    }
    g_autoptr(GPtrArray) argv = arguments(e, worker);
    g_autoptr(GError) error = NULL;
    e->process = g_subprocess_newv(
        (const char *const *) argv->pdata,
        G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    if (!e->process) {
        nino_engine_set_state(e, NINO_ENGINE_DEAD, error->message);
        return;
    }
    g_string_truncate(e->words, 0);
    e->is_gone = e->is_silent = FALSE;
    g_clear_object(&e->cancellable);
    e->cancellable = g_cancellable_new();
    g_autoptr(GDataInputStream) err =
        g_data_input_stream_new(g_subprocess_get_stderr_pipe(e->process));
    read_next(e, err);
    g_subprocess_wait_async(e->process, e->cancellable, on_process_exit, e);
    nino_engine_attach_later(e);
    nino_engine_set_state(e, NINO_ENGINE_STARTING, "");
}

void nino_engine_resume(NinoEngine *e)
{
    take_survivor(e);
    if (!e->adopted && has_work_left())
        nino_engine_start(e);
}

void nino_engine_restart(NinoEngine *e)
{
    if (!e->process && !e->adopted) {
        nino_engine_start(e);
        return;
    }
    e->is_stopping = e->starts_again = TRUE;
    nino_engine_end_worker(e);
}
