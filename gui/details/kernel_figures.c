// Registers, local memory and occupancy of a kernel, as `ninodes kernel --code` prints them above its machine
// code. An answer is kept: it is the same as long as the program is.
#include "details/details.h"

#include <string.h>

#include "base/i18n.h"
#include "base/places.h"

enum { HEAD = 4096 }; // of what is printed: options may be long

static GHashTable *answers; // "kernel\nprogram\ncall" -> the head of what was printed

static const struct {
    const char *key, *what;
} figures[] = {
    { "vgprs", N_("Vector registers") },   { "sgprs", N_("Scalar registers") },
    { "spills", N_("Spilled registers") }, { "scratch_bytes", N_("Scratch, bytes") },
    { "local_bytes", N_("LDS, bytes") },   { "waves_per_simd", N_("Occupancy, waves a SIMD") },
};

typedef struct Asked {
    char *key, **argv;
    GCancellable *cancellable;
    NinoFactFn fn;
    gpointer user;
} Asked;
static Asked *running;
static GQueue waiting = G_QUEUE_INIT; // Asked, in turn; those that are cancelled are passed over

static void asked_free(Asked *a)
{
    g_free(a->key);
    g_strfreev(a->argv);
    g_object_unref(a->cancellable);
    g_free(a);
}

// "; vgprs 12, sgprs 30, ..." of the head.
static void figures_tell(const char *head, NinoFactFn fn, gpointer user)
{
    gboolean any = FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        g_autofree char *pattern = g_strdup_printf("\\b%s ([0-9]+)", figures[i].key);
        g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;
        if (!g_regex_match(regex, head, 0, &match))
            continue;
        g_autofree char *value = g_match_info_fetch(match, 1);
        fn(user, _(figures[i].what), value);
        any = TRUE;
    }
    const char *mix = strstr(head, "; instructions:");
    if (mix) {
        mix += strlen("; instructions:");
        g_autofree char *kinds = g_strndup(mix, strcspn(mix, "\n"));
        fn(user, _("Instructions"), g_strstrip(kinds));
    }
    g_autofree char *line = g_strndup(head, strcspn(head, "\n"));
    if (*g_strstrip(line))
        fn(user, any ? _("Compiled") : _("Machine code"), line + strspn(line, "; "));
}

// ---- asking: one process at a time, as a compiler takes seconds and a choice changes in less ----

static void ask(Asked *a);

static void on_figures(GObject *child, GAsyncResult *result, gpointer unused)
{
    (void) unused;
    g_autofree char *out = NULL, *said = NULL;
    g_autoptr(GError) error = NULL;
    g_subprocess_communicate_utf8_finish(G_SUBPROCESS(child), result, &out, &said, &error);
    const char *text = error ? error->message : out && *out ? out : said ? said : "";
    g_autofree char *head = g_strndup(text, MIN(strlen(text), HEAD));
    Asked *a = g_steal_pointer(&running), *next;
    // Also of what nobody wants any more.
    g_hash_table_replace(answers, g_strdup(a->key), g_strdup(head));
    if (!g_cancellable_is_cancelled(a->cancellable))
        figures_tell(head, a->fn, a->user);
    asked_free(a);
    while (!running && (next = g_queue_pop_head(&waiting)))
        ask(next);
}

// Starts the process that answers; takes a.
static void start(Asked *a)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) child =
        g_subprocess_newv((const char *const *) a->argv,
                          G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    if (child) {
        running = a;
        g_subprocess_communicate_utf8_async(child, NULL, NULL, on_figures, NULL);
        return;
    }
    a->fn(a->user, _("Machine code"), error->message);
    asked_free(a);
}

// From what is known, by a process, or when the one that runs has ended; takes a.
static void ask(Asked *a)
{
    const char *head = g_hash_table_lookup(answers, a->key);
    if (g_cancellable_is_cancelled(a->cancellable)) {
        asked_free(a);
    } else if (head) {
        figures_tell(head, a->fn, a->user);
        asked_free(a);
    } else if (running) {
        g_queue_push_tail(&waiting, a);
    } else {
        start(a);
    }
}

void nino_kernel_figures_ask(const char *kernel, const nino_kernel_told *told, const char *device,
                             GCancellable *cancellable, NinoFactFn fn, gpointer user)
{
    if (!answers)
        answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *command = nino_place_of_command();
    const char *argv[] = { command ? command : "ninodes",
                           "kernel",
                           kernel,
                           "-q",
                           "--code",
                           "--program",
                           told->program,
                           "--call",
                           told->call,
                           device ? "--device" : NULL,
                           device,
                           NULL };
    Asked *a = g_new0(Asked, 1);
    *a = (Asked){ g_strjoin("\n", kernel, told->program, told->call, NULL),
                  g_strdupv((char **) argv), g_object_ref(cancellable), fn, user };
    ask(a);
}
