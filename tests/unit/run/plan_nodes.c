// What runs can be planned, before any picture has been read: of every node that takes pictures or masks, with every choice that it
// offers and some other numbers. A plan knows sizes, not pixels, and must not judge by them.
#include "core/node/node_impl.h"
#include "tests/flow.h"

enum { W = 48, H = 40 };

static nino_ctx *ctx;
static nino_error err;
static uint8_t pixels[H][W][3];

static const char *source_of(nino_port_type t)
{
    return t == NINO_PORT_IMAGE ? "['1', 0]" : t == NINO_PORT_MASK ? "['2', 0]" : NULL;
}

// A picture in the folder of inputs: what it shows reaches no edge.
static void make_picture(void)
{
    const nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_U8, .n = 1,        .height = H,
                            .width = W,       .channels = 3,          .data = pixels };
    for (int y = 10; y < 30; y++)
        for (int x = 5; x < 35; x++)
            for (int c = 0; c < 3; c++)
                pixels[y][x][c] = (uint8_t) (60 + (x * (c + 1) + y * 3) % 190);
    flow_picture(ctx, &r, "in.png");
}

// The node between a picture and one who looks; false: it is not of this kind.
static bool make_json(const nino_node_def *d, char *json, size_t size)
{
    char inputs[600] = "";
    bool has_input = false;
    for (int i = 0; d->inputs && d->inputs[i].key; i++) {
        if (d->inputs[i].grows && d->inputs[i].optional)
            continue;
        const char *from = source_of(d->inputs[i].type);
        const size_t n = strlen(inputs);
        if (!from && !d->inputs[i].optional)
            return false;
        if (from)
            snprintf(inputs + n, sizeof(inputs) - n, "%s'%s': %s", n ? ", " : "", d->inputs[i].key,
                     from);
        has_input |= from != NULL;
    }
    for (int i = 0; d->params && d->params[i].key; i++)
        if (d->params[i].type == NINO_FILE)
            return false;
    if (!has_input || d->is_virtual || !d->outputs || !d->outputs[0].key)
        return false;
    snprintf(json, size,
             "{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'in.png'}},"
             " '2': {'class_type': 'ImageToMask', 'inputs': {'image': ['1', 0], 'channel': 'red'}},"
             " '4': {'class_type': '%s', 'inputs': {%s}},"
             " '6': {'class_type': 'PreviewAny', 'inputs': {'source': ['4', 0]}}}",
             d->key, inputs);
    return true;
}

// Runs and plans the node with this assignment ("KEY=VALUE" or NULL); false: it runs, and is not planned.
static bool check_with(const nino_node_def *d, const char *json, const char *change, int *n)
{
    static const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .no_files = true,
                                        .is_silent = true };
    nino_plan plan;
    char text[200];
    nino_graph *g = flow_graph(json);
    snprintf(text, sizeof(text), "4.%s", change ? change : "");
    bool ok = true;
    if ((!change || !nino_graph_set(g, text, &err)) && !flow_run(ctx, g, &o).st) {
        ++*n;
        ok = !nino_graph_plan(ctx, g, NULL, &o, &plan, &err);
        if (ok)
            nino_plan_release(&plan);
        else
            fprintf(stderr, "%s (%s): runs, but its plan says %s: %s\n", d->key,
                    change ? change : "as it is", err.where, err.msg);
    }
    nino_graph_destroy(&g);
    return ok;
}

// Values to try, one after the other. False: no more.
static bool value_of(const nino_param *p, int i, char *text, size_t size)
{
    const int64_t ints[] = { p->min.i, 3 };
    const double floats[] = { p->min.f, 0.3 };
    switch (p->type) {
    case NINO_BOOL: snprintf(text, size, "%s=%s", p->key, p->def.b ? "false" : "true"); return !i;
    case NINO_ENUM:
        snprintf(text, size, "%s=%s", p->key, p->names[i] ? p->names[i] : "");
        return p->names[i];
    case NINO_INT: snprintf(text, size, "%s=%lld", p->key, (long long) ints[i % 2]); return i < 2;
    case NINO_FLOAT: snprintf(text, size, "%s=%g", p->key, floats[i % 2]); return i < 2;
    default: return false;
    }
}

static bool check_node(const nino_node_def *d, const char *json, int *n)
{
    char text[160];
    bool ok = check_with(d, json, NULL, n);
    for (const nino_param *p = d->params; p && p->key; p++)
        for (int i = 0; value_of(p, i, text, sizeof(text)); i++)
            ok &= check_with(d, json, text, n);
    return ok;
}

int main(void)
{
    char json[2000];
    int nodes = 0, runs = 0, wrong = 0;
    ctx = flow_open_with("ref", NULL, NULL);
    CHECK(ctx);
    make_picture();
    for (int i = 0; nino_node_defs[i]; i++)
        if (make_json(nino_node_defs[i], json, sizeof(json))) {
            nodes++;
            wrong += !check_node(nino_node_defs[i], json, &runs);
        }
    printf("  %d runs of %d nodes\n", runs, nodes);
    CHECK(nodes > 100 && runs > 500);
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
