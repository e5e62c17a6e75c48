// Starts `ninodes run` for a workflow, reads what it says, and watches its event socket.
#include "app/session.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define ATTACH_RETRY_MS 20
#define DRAIN_BATCH 512

struct Session {
    GSubprocess *process;
    GDataInputStream *out, *err;
    GCancellable *cancellable;
    nino_attach *attach;
    guint attach_timer, attach_source;
    SessionCallbacks cb;
    gpointer user;
    char *last_line; // of stderr: the worker's one-line error
    int open_streams;
    gboolean exited, cancelled;
};

// The worker beside this program when run from a build or an install, else the one in PATH.
static char *worker_path(void)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n > 0) {
        self[n] = 0;
        g_autofree char *dir = g_path_get_dirname(self);
        g_autofree char *beside = g_build_filename(dir, "ninodes", NULL);
        if (g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
            return g_steal_pointer(&beside);
    }
    return g_find_program_in_path("ninodes");
}

const char *session_name(gpointer session, uint32_t id)
{
    Session *s = session;
    return s->attach ? nino_attach_name(s->attach, id) : "";
}

static void detach(Session *s)
{
    g_clear_handle_id(&s->attach_timer, g_source_remove);
    g_clear_handle_id(&s->attach_source, g_source_remove);
    if (s->attach)
        nino_attach_close(&s->attach);
}

// Hands over everything that can be read now. False when the run has closed the socket.
static gboolean drain(Session *s)
{
    nino_event batch[DRAIN_BATCH];
    for (;;) {
        size_t n = 0;
        const nino_status st = nino_attach_read(s->attach, batch, DRAIN_BATCH, &n, NULL);
        if (n)
            s->cb.events(s->user, batch, n);
        if (st)
            return FALSE;
        if (n < DRAIN_BATCH)
            return TRUE;
    }
}

static gboolean on_socket(gint fd, GIOCondition condition, gpointer user)
{
    (void) fd, (void) condition;
    Session *s = user;
    if (drain(s))
        return G_SOURCE_CONTINUE;
    s->attach_source = 0;
    return G_SOURCE_REMOVE;
}

static gboolean try_attach(gpointer user)
{
    Session *s = user;
    const char *pid = g_subprocess_get_identifier(s->process);
    s->attach = pid ? nino_attach_open(pid, NULL) : NULL;
    if (pid && !s->attach)
        return G_SOURCE_CONTINUE;
    s->attach_timer = 0;
    if (!s->attach)
        return G_SOURCE_REMOVE; // it has ended already
    s->attach_source =
        g_unix_fd_add(nino_attach_fd(s->attach), G_IO_IN | G_IO_HUP | G_IO_ERR, on_socket, s);
    return G_SOURCE_REMOVE;
}

// The end of a run: both streams closed and the exit status known, so no message is missed.
static void maybe_finished(Session *s)
{
    if (!s->exited || s->open_streams)
        return;
    if (s->attach)
        drain(s);
    g_clear_handle_id(&s->attach_timer, g_source_remove);
    g_clear_handle_id(&s->attach_source, g_source_remove);
    SessionState state = SESSION_FAILED;
    g_autofree char *message = NULL;
    if (g_subprocess_get_if_exited(s->process)) {
        const int code = g_subprocess_get_exit_status(s->process);
        if (code == 0)
            state = SESSION_DONE;
        else if (code == 130 || code == 143)
            state = SESSION_CANCELLED;
        else
            message = g_strdup(s->last_line ? s->last_line : "The run failed");
    } else if (s->cancelled) {
        state = SESSION_CANCELLED;
    } else {
        message = g_strdup_printf("The worker was killed by signal %d (%s)",
                                  g_subprocess_get_term_sig(s->process),
                                  g_strsignal(g_subprocess_get_term_sig(s->process)));
    }
    s->cb.state(s->user, state, message ? message : "");
}

static void on_worker_exit(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    g_subprocess_wait_finish(G_SUBPROCESS(source), result, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the session is gone
    Session *s = user;
    s->exited = TRUE;
    maybe_finished(s);
}

static void read_next(Session *s, GDataInputStream *stream);

static void on_line(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *line = g_data_input_stream_read_line_finish_utf8(G_DATA_INPUT_STREAM(source),
                                                                      result, NULL, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    Session *s = user;
    if (!line) {
        s->open_streams--;
        maybe_finished(s);
        return;
    }
    if (G_DATA_INPUT_STREAM(source) == s->out) {
        s->cb.output(s->user, line);
    } else if (*line) {
        g_free(s->last_line);
        s->last_line = g_strdup(line);
        s->cb.log(s->user, line);
    }
    read_next(s, G_DATA_INPUT_STREAM(source));
}

static void read_next(Session *s, GDataInputStream *stream)
{
    g_data_input_stream_read_line_async(stream, G_PRIORITY_DEFAULT, s->cancellable, on_line, s);
}

static void add_option(GPtrArray *argv, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    g_ptr_array_add(argv, g_strdup(name));
    g_ptr_array_add(argv, g_strdup(value));
}

Session *session_start(const SessionOptions *o, const SessionCallbacks *callbacks, gpointer user,
                       GError **error)
{
    g_autofree char *worker = worker_path();
    if (!worker) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                            "The program “ninodes” is neither beside this one nor in PATH");
        return NULL;
    }
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup(worker));
    g_ptr_array_add(argv, g_strdup("run"));
    for (int i = 0; o->models && o->models[i]; i++)
        add_option(argv, "--models", o->models[i]);
    add_option(argv, "--input", o->input);
    add_option(argv, "--output", o->output);
    add_option(argv, "--device", o->device);
    add_option(argv, "--precision", o->precision);
    add_option(argv, "--preview", o->preview);
    g_ptr_array_add(argv, g_strdup("--"));
    g_ptr_array_add(argv, g_strdup(o->workflow));
    g_ptr_array_add(argv, NULL);

    GSubprocess *process =
        g_subprocess_newv((const char *const *) argv->pdata,
                          G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, error);
    if (!process)
        return NULL;
    Session *s = g_new0(Session, 1);
    s->process = process;
    s->cb = *callbacks;
    s->user = user;
    s->cancellable = g_cancellable_new();
    s->out = g_data_input_stream_new(g_subprocess_get_stdout_pipe(process));
    s->err = g_data_input_stream_new(g_subprocess_get_stderr_pipe(process));
    s->open_streams = 2;
    read_next(s, s->out);
    read_next(s, s->err);
    g_subprocess_wait_async(process, s->cancellable, on_worker_exit, s);
    s->attach_timer = g_timeout_add(ATTACH_RETRY_MS, try_attach, s);
    s->cb.state(s->user, SESSION_RUNNING, "");
    return s;
}

void session_cancel(Session *s)
{
    s->cancelled = TRUE;
    if (!s->exited)
        g_subprocess_send_signal(s->process, SIGINT);
}

void session_free(Session *s)
{
    if (!s)
        return;
    g_cancellable_cancel(s->cancellable); // pending callbacks see it and do not touch s
    detach(s);
    if (!s->exited)
        g_subprocess_force_exit(s->process);
    g_object_unref(s->cancellable);
    g_object_unref(s->out);
    g_object_unref(s->err);
    g_object_unref(s->process);
    g_free(s->last_line);
    g_free(s);
}
