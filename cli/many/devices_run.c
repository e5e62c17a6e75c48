// ninodes run on several devices: the parts of a run go to whichever device is free next, so that each
// does as many as its speed allows; then they are joined as by ninodes gather. A device that has no part
// helps the others with their tiles (nino_ctx_params.device).
#include "commands.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DEVICES = 16, PARTS_EACH = 4 }; // more parts a device: a fairer share, smaller batches

typedef struct device_run device_run;
typedef struct lane { // one device and the thread that keeps it busy
    device_run *run;
    nino_ctx *ctx;
    char name[160];
    pthread_t thread;
    size_t n_done;
    bool is_started;
} lane;

struct device_run {
    const options *o;
    const grid *cells;
    nino_graph *graph;
    char dir[4096];
    size_t n_units;
    int n_shards; // of each cell
    lane lane[MAX_DEVICES];
    size_t n_lanes;
    pthread_mutex_t lock; // guards graph and what follows
    size_t next;
    nino_error err; // the first
};

size_t devices_of(const options *o, char name[][160])
{
    size_t n = 0;
    for (const char *p = o->device; p && *p && n < MAX_DEVICES; n++) {
        const size_t len = strcspn(p, ",");
        snprintf(name[n], 160, "%.*s", (int) len, p);
        p += len + (p[len] == ',');
    }
    return n;
}

// ---- a part ------------------------------------------------------------------------------------

// Cell of the grid and number of its part: the last first, which has what cannot be shared out.
static nino_job *start_unit(lane *l, size_t unit, char *path, size_t size, nino_error *err)
{
    device_run *r = l->run;
    const size_t cell = unit / (size_t) r->n_shards;
    nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .parts_dir = path,
                            .shard = r->n_shards - (int) (unit % (size_t) r->n_shards),
                            .n_shards = r->n_shards, .is_silent = true };
    if (r->cells->n_axes)
        snprintf(path, size, "%s/cell-%zu", r->dir, cell + 1);
    else
        snprintf(path, size, "%s", r->dir);
    pthread_mutex_lock(&r->lock); // the job takes a copy of the graph
    nino_job *job = NULL;
    if (!r->cells->n_axes || !grid_set_cell(r->graph, r->cells, cell, err))
        job = nino_job_start(l->ctx, r->graph, &jo, err);
    pthread_mutex_unlock(&r->lock);
    return job;
}

// False: nothing more is to be done.
static bool take_unit(device_run *r, size_t *unit)
{
    pthread_mutex_lock(&r->lock);
    const bool goes_on = r->next < r->n_units && !r->err.code && !signals_stopped();
    *unit = goes_on ? r->next++ : 0;
    pthread_mutex_unlock(&r->lock);
    return goes_on;
}

static bool is_over(device_run *r)
{
    pthread_mutex_lock(&r->lock);
    const bool yes = r->err.code || signals_stopped();
    pthread_mutex_unlock(&r->lock);
    return yes;
}

static void end_unit(lane *l, size_t unit, const nino_error *err, double seconds)
{
    device_run *r = l->run;
    pthread_mutex_lock(&r->lock);
    if (err->code && !r->err.code)
        r->err = *err;
    l->n_done += !err->code;
    pthread_mutex_unlock(&r->lock);
    if (!err->code && !r->o->quiet)
        say("%s: part %zu of %zu, %.2f s", l->name, unit + 1, r->n_units, seconds);
}

static double devices_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void *lane_thread(void *priv)
{
    lane *l = priv;
    char path[4200];
    for (size_t unit; take_unit(l->run, &unit);) {
        const double begin = devices_now();
        nino_error err = { .code = NINO_OK };
        nino_status st = NINO_OK;
        nino_job *job = start_unit(l, unit, path, sizeof(path), &err);
        while (job && !nino_job_done(job, &st, &err)) {
            if (is_over(l->run))
                nino_job_cancel(job);
            nino_job_wait(job, 100);
        }
        if (job && !st)
            err.code = NINO_OK;
        nino_job_destroy(&job);
        end_unit(l, unit, &err, devices_now() - begin);
    }
    return NULL;
}

// ---- all of them -------------------------------------------------------------------------------

// The contexts belong to the first one.
static void open_lanes(device_run *r, nino_ctx *first)
{
    char name[MAX_DEVICES][160];
    const size_t n = devices_of(r->o, name);
    for (size_t i = 0; i < n; i++) {
        lane *l = &r->lane[r->n_lanes++];
        *l = (lane){ .run = r, .ctx = nino_ctx_of_device(first, i) };
        snprintf(l->name, sizeof(l->name), "%.150s", name[i]);
    }
}

static void run_lanes(device_run *r)
{
    for (size_t i = 0; i < r->n_lanes; i++) {
        lane *l = &r->lane[i];
        l->is_started = !pthread_create(&l->thread, NULL, lane_thread, l);
    }
    for (size_t i = 0; i < r->n_lanes; i++)
        if (r->lane[i].is_started)
            pthread_join(r->lane[i].thread, NULL);
    for (size_t i = 0; i < r->n_lanes && !r->o->quiet; i++)
        say("%s: %zu of %zu parts", r->lane[i].name, r->lane[i].n_done, r->n_units);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void) s;
    (void) type;
    (void) f;
    return remove(path);
}

int devices_run(const options *o, const grid *cells, nino_ctx *ctx, nino_graph *graph,
                int (*join)(const options *, const grid *, nino_ctx *, nino_graph *))
{
    device_run r = { .o = o, .cells = cells, .graph = graph, .lock = PTHREAD_MUTEX_INITIALIZER };
    char names[MAX_DEVICES][160];
    const size_t n = devices_of(o, names), n_cells = cells->n_axes ? grid_cells(cells) : 0;
    r.n_shards = n_cells >= n * PARTS_EACH ? 1 : (int) n * PARTS_EACH;
    r.n_units = (n_cells ? n_cells : 1) * (size_t) r.n_shards;
    const char *tmp = getenv("TMPDIR");
    snprintf(r.dir, sizeof(r.dir), "%s/ninodes-parts-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(r.dir)) {
        say("run: %s: no folder for the parts: %s", r.dir, strerror(errno));
        return EXIT_RUN;
    }
    open_lanes(&r, ctx);
    run_lanes(&r);
    options own = *o;
    own.joins = true;
    own.parts = r.dir;
    const int rc = signals_stopped()    ? 128 + signals_stopped()
                   : r.err.code         ? report_error(o, "run", &r.err, NULL)
                   : r.next < r.n_units ? EXIT_RUN
                                        : join(&own, cells, ctx, graph);
    nftw(r.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}
