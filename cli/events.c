// Events as NDJSON lines. Names of types follow comfy-cli's where it has one: executing, progress,
// executed, execution_cached, output; ours are stage, step, step_done, preview, tile, memory,
// device, host, message, seams, telemetry_lost.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { PERIOD_NS = 100000000, MAX_OPEN = 64 };

struct event_lines {
    uint64_t progress_ns, memory_ns, device_ns, host_ns; // of the lines written last
    uint64_t budget;
    nino_sample sample; // that is coming in
    struct {
        uint32_t id;
        uint64_t t_ns;
        char name[96];
    } node[MAX_OPEN];
    int n_node;
};

event_lines *event_lines_create(void) { return calloc(1, sizeof(event_lines)); }

void event_lines_destroy(event_lines **e)
{
    free(*e);
    *e = NULL;
}

static void events_line(const nino_event *e, const char *type)
{
    js_line("event/1", type);
    js_uint("t_ns", e->t_ns);
}

// "8 VAEDecode" -> node and class_type
static void node_name(const char *name)
{
    const size_t n = strcspn(name, " ");
    char id[96];
    snprintf(id, sizeof(id), "%.*s", (int) n, name);
    js_text("node", id);
    js_text("class_type", name[n] ? name + n + 1 : name + n);
}

static void node_begin(event_lines *l, const nino_event *e, const char *name)
{
    for (int i = 0; i < l->n_node; i++)
        if (l->node[i].id == e->id)
            return;
    const char *cached = strstr(name, " (cached)");
    if (cached && !cached[9]) {
        events_line(e, "execution_cached");
        js_open("nodes", '[');
        char id[96];
        snprintf(id, sizeof(id), "%.*s", (int) strcspn(name, " "), name);
        js_text(NULL, id);
        js_close(']');
        js_end();
        return;
    }
    events_line(e, "executing");
    node_name(name);
    js_uint("index", e->u.scope.arg0);
    js_uint("total", e->u.scope.arg1);
    js_end();
    if (l->n_node == MAX_OPEN)
        return;
    l->node[l->n_node].id = e->id;
    l->node[l->n_node].t_ns = e->t_ns;
    snprintf(l->node[l->n_node++].name, sizeof(l->node[0].name), "%s", name);
}

static void events_scope_end(event_lines *l, const nino_event *e)
{
    for (int i = 0; i < l->n_node; i++)
        if (l->node[i].id == e->id) {
            events_line(e, "executed");
            node_name(l->node[i].name);
            js_num("ms", (double) (e->t_ns - l->node[i].t_ns) * 1e-6);
            js_text("status", nino_status_name((nino_status) - (int) e->u.scope.arg0));
            js_end();
            l->node[i] = l->node[--l->n_node];
            return;
        }
}

static bool is_due(uint64_t *last, const nino_event *e)
{
    if (*last && e->t_ns < *last + PERIOD_NS)
        return false;
    *last = e->t_ns;
    return true;
}

static void progress_line(event_lines *l, const nino_event *e)
{
    if (!is_due(&l->progress_ns, e) && e->u.progress.done < e->u.progress.total)
        return;
    events_line(e, "progress");
    js_num("completed", e->u.progress.done);
    js_num("total", e->u.progress.total);
    js_num("eta_s", e->u.progress.eta_s);
    js_end();
}

static void memory_line(event_lines *l, const nino_event *e)
{
    if (e->sub == NINO_MEM_BUDGET)
        l->budget = e->u.mem.bytes;
    if (!is_due(&l->memory_ns, e) && e->sub != NINO_MEM_FAIL)
        return;
    events_line(e, "memory");
    js_uint("in_use", e->u.mem.in_use);
    js_uint("reserved", e->u.mem.reserved);
    js_uint("largest_free", e->u.mem.largest_free);
    js_uint("budget", l->budget);
    js_bool("failed", e->sub == NINO_MEM_FAIL);
    js_end();
}

static void sample_line(event_lines *l, const nino_event *e)
{
    const bool is_device = e->kind == NINO_EV_DEVICE;
    const nino_counter *c;
    if (!nino_sample_add(&l->sample, e) || !is_due(is_device ? &l->device_ns : &l->host_ns, e))
        return;
    events_line(e, is_device ? "device" : "host");
    for (unsigned id = 1; (c = nino_counter_row(id)); id++) {
        const double v = l->sample.value[id];
        const char *key = nino_counter_word(c, c->json);
        if (c->sample != e->kind)
            continue;
        if (c->unit == NINO_UNIT_BYTES)
            js_uint(key, v > 0 && v < 1e18 ? (uint64_t) v : 0); // 0: also for not known
        else
            js_num(key, v);
    }
    js_end();
}

static void tile_line(const nino_event *e, const char *why, const char *device)
{
    events_line(e, "tile");
    js_uint("x", e->u.tile.x);
    js_uint("y", e->u.tile.y);
    js_uint("w", e->u.tile.w);
    js_uint("h", e->u.tile.h);
    js_uint("index", e->u.tile.order);
    js_uint("total", e->u.tile.n);
    js_uint("pass", e->u.tile.pass);
    js_uint("passes", e->u.tile.n_passes);
    js_text("why", why);
    js_text("device", device);
    js_num("ms", (double) e->u.tile.ns * 1e-6);
    js_uint("peak_bytes", e->u.tile.peak_bytes);
    js_end();
}

static void step_line(const nino_event *e, const char *type, const char *path)
{
    events_line(e, type);
    if (path)
        js_text("path", path);
    js_uint("step", e->u.step.step);
    js_uint("total", e->u.step.total);
    js_num("sigma", e->u.step.sigma);
    js_num("ms", e->u.step.seconds * 1e3);
    js_num("eta_s", e->u.step.eta_s);
    if (path) {
        js_uint("width", e->u.step.width);
        js_uint("height", e->u.step.height);
    }
    js_end();
}

static void counted(const nino_event *e, const char *type, const char *name)
{
    events_line(e, type);
    js_text("name", name);
    if (e->u.scope.arg1) {
        js_uint("index", e->u.scope.arg0);
        js_uint("total", e->u.scope.arg1);
    }
    js_end();
}

static void chunk_line(const nino_event *e)
{
    const double s = (double) e->u.chunk.ns * 1e-9;
    events_line(e, "chunk");
    js_uint("first_frame", e->u.chunk.first);
    js_uint("frames", e->u.chunk.frames);
    js_uint("order", e->u.chunk.order);
    js_uint("of", e->u.chunk.n);
    js_num("seconds", s);
    js_num("frames_per_second", s > 0 ? e->u.chunk.frames / s : 0);
    js_uint("cache_bytes", e->u.chunk.cache_bytes);
    js_uint("peak_bytes", e->u.chunk.peak_bytes);
    js_end();
}

static void clip_line(const nino_event *e)
{
    const double s = (double) e->u.clip.ns * 1e-9;
    events_line(e, "clip");
    js_uint("frames", e->u.clip.frames);
    js_num("seconds", s);
    js_num("frames_per_second", s > 0 ? e->u.clip.frames / s : 0);
    js_num("first_mean", (double) e->u.clip.first_mean);
    js_num("rest_mean", (double) e->u.clip.rest_mean);
    js_num("first_colour", (double) e->u.clip.first_colour);
    js_num("rest_colour", (double) e->u.clip.rest_colour);
    js_num("border_step", (double) e->u.clip.border);
    js_num("border_limit", (double) e->u.clip.limit);
    js_uint("borders", e->u.clip.n_borders);
    js_end();
}

static void events_one(event_lines *l, const nino_event *e, name_fn name, void *priv)
{
    static const char *const levels[] = { "error", "warning", "info", "debug" };
    switch (e->kind) {
    case NINO_EV_NODE: node_begin(l, e, name(priv, e->name)); break;
    case NINO_EV_END: events_scope_end(l, e); break;
    case NINO_EV_STAGE: counted(e, "stage", name(priv, e->name)); break;
    case NINO_EV_STEP: counted(e, "step", name(priv, e->name)); break;
    case NINO_EV_PROGRESS: progress_line(l, e); break;
    case NINO_EV_MEM: memory_line(l, e); break;
    case NINO_EV_DEVICE:
    case NINO_EV_HOST: sample_line(l, e); break;
    case NINO_EV_TILE_INFO: tile_line(e, name(priv, e->name), name(priv, e->id)); break;
    case NINO_EV_CHUNK: chunk_line(e); break;
    case NINO_EV_CLIP: clip_line(e); break;
    case NINO_EV_STEP_INFO: step_line(e, "step_done", NULL); break;
    case NINO_EV_PREVIEW: step_line(e, "preview", name(priv, e->name)); break;
    case NINO_EV_OUTPUT:
        events_line(e, "output");
        js_text("path", name(priv, e->name));
        js_end();
        break;
    case NINO_EV_MESSAGE:
        events_line(e, "message");
        js_text("level", levels[e->u.scope.arg0 & 3]);
        js_text("text", name(priv, e->name));
        js_end();
        break;
    case NINO_EV_CHOICE:
        events_line(e, "choice");
        js_text("text", name(priv, e->name));
        js_num("seconds", e->u.choice.seconds);
        js_num("unchosen_seconds", e->u.choice.unchosen);
        js_num("unlimited_seconds", e->u.choice.unlimited);
        js_uint("ways", e->u.choice.walks);
        js_end();
        break;
    case NINO_EV_SEAM:
        events_line(e, "seams");
        js_num("mean", (double) e->u.seam.mean);
        js_num("max", (double) e->u.seam.max);
        js_num("gradient", (double) e->u.seam.gradient);
        js_uint("seams", e->u.seam.n_seams);
        js_uint("pixels", e->u.seam.pixels);
        js_uint("recomputed", e->u.seam.recomputed);
        js_end();
        break;
    case NINO_EV_LOST:
        events_line(e, "telemetry_lost");
        js_uint("records", e->u.lost);
        js_end();
        break;
    default: break; // kernels come as kernel statistics in the envelope
    }
}

void event_lines_add(event_lines *l, const nino_event *ev, size_t n, name_fn name, void *priv)
{
    for (size_t i = 0; i < n; i++)
        events_one(l, &ev[i], name, priv);
}
