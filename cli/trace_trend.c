// ninodes trace trend: kept runs of one workflow, device and models in their order of time, and whether they get slower.
#include "commands.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <ninodes/experiment.h>

typedef struct kept {
    char *path, *title, *kind;
    struct timespec at;
    double seconds; // of its job
} kept;

typedef struct kept_list {
    kept *of;
    size_t n;
} kept_list;

static void list_release(kept_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->of[i].path);
        free(l->of[i].title);
        free(l->of[i].kind);
    }
    free(l->of);
}

// A run that ended. False: out of memory.
static bool add_run(kept_list *l, const char *path, const struct stat *st, const nino_history *h)
{
    size_t n;
    const nino_span *s = nino_history_spans(h, &n), *job = NULL;
    for (size_t i = 0; i < n && !job; i++)
        job = s[i].kind == NINO_EV_JOB && s[i].end_ns ? &s[i] : NULL;
    if (!job)
        return true;
    kept *more = realloc(l->of, (l->n + 1) * sizeof(*more));
    if (!more)
        return false;
    l->of = more;
    const char *name = nino_history_name((void *) (uintptr_t) h, job->name),
               *slash = strrchr(name, '/');
    kept *k = &l->of[l->n++];
    *k = (kept){ .path = strdup(path),
                 .title = strdup(slash ? slash + 1 : name),
                 .kind = nino_history_kind(h),
                 .at = st->st_mtim,
                 .seconds = (double) (job->end_ns - job->begin_ns) * 1e-9 };
    return k->path && k->title && k->kind;
}

// A file that is no trace is said and passed over.
static bool add_file(kept_list *l, const char *path)
{
    nino_error err = { .code = NINO_OK };
    struct stat st;
    nino_history *h = nino_history_create(0);
    bool ok = h != NULL;
    if (ok && !stat(path, &st) && S_ISREG(st.st_mode)) {
        if (nino_history_load(h, path, &err))
            say("trace: %s: %s: left out", err.where, err.msg);
        else
            ok = add_run(l, path, &st, h);
    }
    nino_history_destroy(&h);
    return ok;
}

static int by_kind_and_time(const void *a, const void *b)
{
    const kept *x = a, *y = b;
    const int title = strcmp(x->title, y->title), kind = strcmp(x->kind, y->kind);
    if (title || kind)
        return title ? title : kind;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? -1 : 1;
    return x->at.tv_nsec != y->at.tv_nsec ? (x->at.tv_nsec < y->at.tv_nsec ? -1 : 1)
                                          : strcmp(x->path, y->path);
}

static void say_time(char *buf, size_t size, const kept *k)
{
    struct tm tm;
    if (!localtime_r(&k->at.tv_sec, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(buf, size, "?");
}

static void group_text(const kept *k, size_t n, const nino_trend *t)
{
    char text[200], when[40];
    printf("%s%s%s\n", k->title, *k->kind ? " on " : "", k->kind);
    for (size_t i = 0; i < n; i++) {
        say_time(when, sizeof(when), &k[i]);
        printf("  %s %11.3f s", when, k[i].seconds);
        if (i)
            printf(" %+8.1f %%", 100 * (k[i].seconds / k[i - 1].seconds - 1));
        printf("\n");
    }
    printf("  trend: %s\n", nino_trend_text(t, text, sizeof(text)));
}

static void group_json(const kept *k, size_t n, const nino_trend *t)
{
    static const char *const verdicts[] = { "faster", "none", "slower" };
    char when[40];
    js_open(NULL, '{');
    js_text("workflow", k->title);
    js_text("kind", k->kind);
    js_open("runs", '[');
    for (size_t i = 0; i < n; i++) {
        say_time(when, sizeof(when), &k[i]);
        js_open(NULL, '{');
        js_text("file", k[i].path);
        js_text("at", when);
        js_num("seconds", k[i].seconds);
        js_num("change_percent", i ? 100 * (k[i].seconds / k[i - 1].seconds - 1) : (double) NAN);
        js_close('}');
    }
    js_close(']');
    js_num("change_percent", t->change_percent);
    js_num("trend_percent", t->percent);
    js_num("low_percent", t->low);
    js_num("high_percent", t->high);
    js_num("all_percent", t->all_percent);
    js_num("noise_band_percent", t->band_percent);
    js_num("p", t->p);
    js_text("verdict", t->is_too_few ? NULL : verdicts[t->verdict + 1]);
    js_close('}');
}

static int tell_groups(const options *o, kept_list *l)
{
    double *seconds = calloc(l->n + 1, sizeof(*seconds));
    if (!seconds) {
        say("trace: out of memory");
        return EXIT_RUN;
    }
    if (l->n)
        qsort(l->of, l->n, sizeof(*l->of), by_kind_and_time);
    if (o->json) {
        js_envelope("trace");
        js_open("trends", '[');
    }
    for (size_t i = 0, n; i < l->n; i += n) {
        const kept *k = &l->of[i];
        nino_trend t;
        for (n = 0; i + n < l->n && !strcmp(k->title, k[n].title) && !strcmp(k->kind, k[n].kind);
             n++)
            seconds[n] = k[n].seconds;
        nino_trend_of(seconds, n, 0, &t);
        (o->json ? group_json : group_text)(k, n, &t);
    }
    if (o->json) {
        js_close(']');
        js_envelope_end();
    } else if (!l->n) {
        printf("no run that has ended\n");
    }
    free(seconds);
    return EXIT_OK;
}

// Where the app keeps runs.
static bool kept_folder(char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        return (size_t) snprintf(out, size, "%s/ninodes/studio/runs", state) < size;
    return home && (size_t) snprintf(out, size, "%s/.local/state/ninodes/studio/runs", home) < size;
}

int trace_trend(const options *o)
{
    char folder[4096] = "", path[4400];
    kept_list l = { NULL, 0 };
    bool ok = true;
    if (o->n_args > 2) {
        say("trace: trend takes one folder");
        return EXIT_USAGE;
    }
    if (o->n_args > 1)
        snprintf(folder, sizeof(folder), "%s", o->arg[1]);
    else if (!kept_folder(folder, sizeof(folder)))
        folder[0] = 0;
    DIR *d = opendir(folder);
    if (!d && o->n_args > 1) {
        say("trace: %s: cannot be read as a folder", folder);
        return EXIT_MISSING;
    }
    for (struct dirent *e; d && ok && (e = readdir(d));) {
        const size_t n = strlen(e->d_name);
        if (n < 10 || strcmp(e->d_name + n - 10, ".ninotrace") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        ok = add_file(&l, path);
    }
    if (d)
        closedir(d);
    if (!ok)
        say("trace: out of memory");
    const int rc = ok ? tell_groups(o, &l) : EXIT_RUN;
    list_release(&l);
    return rc;
}
