// Weights for which there is no room: which of them go, by the order that was chosen for the node, and
// that the plan backend counts the same loads as the one that computes.
#include "core/op/backend.h"
#include "core/op/plan/plan.h"
#include "tests/test.h"

enum { LAYERS = 6, SIDE = 128, TURNS = 5 };

static nino_error err;

static nino_weight *make_weight(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(SIDE, SIDE));
    CHECK(a);
    memset(a->data, 0, a->bytes);
    nino_weight *w = nino_weight_from_array(a, NINO_W_MATRIX);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static void go_over(nino_stream *s, nino_weight *const *w, int n)
{
    nino_tensor *x = nino_zeros(s, NINO_SHAPE(1, SIDE), NINO_F32);
    for (int i = 0; i < n; i++)
        x = nino_linear_op(s, x, &(nino_linear){ .w = w[i] });
    nino_unref(x);
}

// Bytes that came in while one node went over the layers a few times, after another one had gone
// over one of its own. Sizes are those of whole layers.
static uint64_t loads(nino_backend *be, nino_evict evict, uint64_t *evicted)
{
    nino_weight *layers[LAYERS], *other = make_weight();
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    for (int i = 0; i < LAYERS; i++)
        layers[i] = make_weight();
    nino_stream_set_choice(s, NULL);
    go_over(s, &other, 1);
    const uint64_t before = be->load_bytes;
    nino_stream_set_choice(s, &(nino_choice){ .evict = evict });
    CHECK(nino_stream_choice(s)->evict == evict);
    for (int t = 0; t < TURNS; t++)
        go_over(s, layers, LAYERS);
    CHECK_OK(nino_stream_status(s, &err), err);
    const uint64_t bytes = be->load_bytes - before;
    // the other node's went first, whatever the order
    nino_stream_set_choice(s, NULL);
    const uint64_t then = be->load_bytes;
    go_over(s, &other, 1);
    CHECK(be->load_bytes > then);
    *evicted = be->evicted;
    nino_stream_destroy(&s);
    for (int i = 0; i < LAYERS; i++)
        nino_weight_destroy(&layers[i]);
    nino_weight_destroy(&other);
    return bytes;
}

static uint64_t on_ref(uint64_t budget, nino_evict evict)
{
    uint64_t run, plan, n;
    nino_backend *be = nino_ref_open(budget, NULL, &err);
    CHECK(be);
    run = loads(be, evict, &n);
    CHECK(n > 0);
    nino_backend *p = nino_plan_open(&be->profile, budget, NULL, &err);
    CHECK(p);
    plan = loads(p, evict, &n);
    CHECK(plan == run);
    nino_backend_close(&p);
    nino_backend_close(&be);
    return run;
}

int main(void)
{
    const uint64_t layer = sizeof(float) * SIDE * SIDE, budget = (LAYERS - 2) * layer + 8192;
    const uint64_t oldest = on_ref(budget, NINO_EVICT_OLDEST);
    const uint64_t newest = on_ref(budget, NINO_EVICT_NEWEST);
    printf("  %d layers, room for %d, %d times: %d come in by age, %d when the newest go\n", LAYERS,
           LAYERS - 2, TURNS, (int) (oldest / layer), (int) (newest / layer));
    CHECK(oldest == layer * TURNS * LAYERS); // none is there when it is needed
    CHECK(newest < oldest * 2 / 3 && newest >= layer * (LAYERS + TURNS - 1));
    return 0;
}
