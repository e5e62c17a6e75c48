// The workflow goes to the command's stdin; the lines below its table are the answer.
#include "engine/forecast.h"

#include <string.h>

#include "engine/engine.h"
#include "base/i18n.h"
#include "base/places.h"

#define EXIT_NO_FIT 6

typedef struct Question {
    NinoPlanReady ready;
    gpointer user;
} Question;

// "fits      yes (budget 17.4 GiB)" and the lines before it, without the table of scopes.
static char *forecast_summary(const char *out)
{
    const char *at = strstr(out, "\nprofile ");
    g_autofree char *tail = g_strdup(at ? at + 1 : out);
    return g_strdup(g_strstrip(tail));
}

static void on_answer(GObject *source, GAsyncResult *result, gpointer user)
{
    GSubprocess *p = G_SUBPROCESS(source);
    g_autofree Question *q = user;
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_subprocess_communicate_utf8_finish(p, result, &out, &err, &error)) {
        if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
            q->ready(q->user, error->message, FALSE);
        return;
    }
    const int status = g_subprocess_get_if_exited(p) ? g_subprocess_get_exit_status(p) : -1;
    const gboolean has_plan = status == 0 || status == EXIT_NO_FIT;
    g_autofree char *text = has_plan ? forecast_summary(out) : g_strdup(g_strstrip(err));
    q->ready(q->user, *text ? text : _("There is no plan for this workflow"), status == 0);
}

static void forecast_add(GPtrArray *argv, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    g_ptr_array_add(argv, (gpointer) name);
    g_ptr_array_add(argv, (gpointer) value);
}

void nino_plan_ask(const char *workflow, gsize len, const char *const *models, const char *input,
                   const char *device, GCancellable *cancellable, NinoPlanReady ready,
                   gpointer user)
{
    g_autofree char *program = nino_place_of_command();
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, program ? program : (gpointer) "ninodes");
    g_ptr_array_add(argv, (gpointer) "plan");
    for (int i = 0; models && models[i]; i++)
        forecast_add(argv, "--models", models[i]);
    forecast_add(argv, "--input", input);
    forecast_add(argv, "--device", device);
    g_ptr_array_add(argv, (gpointer) "-");
    g_ptr_array_add(argv, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) p =
        g_subprocess_newv((const char *const *) argv->pdata,
                          G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                              G_SUBPROCESS_FLAGS_STDERR_PIPE,
                          &error);
    if (!p) {
        ready(user, error->message, FALSE);
        return;
    }
    Question *q = g_new0(Question, 1);
    *q = (Question){ ready, user };
    g_autofree char *text = g_strndup(workflow, len);
    g_subprocess_communicate_utf8_async(p, text, cancellable, on_answer, q);
}
