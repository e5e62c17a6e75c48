// What of a node's time another run would not take: told by an event, summed per node, kept by traces.
#include <ninodes/ninodes.h>

#include "tests/test.h"

static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id == 1 ? "6 VAEDecode" : id == 2 ? "8 ROCMOptimizedVAEDecodeV2" : "";
}

static void feed(nino_stats *s, nino_trace *t, nino_event e)
{
    nino_stats_add(s, &e, 1, name_of, NULL);
    nino_trace_add(t, &e, 1, name_of, NULL);
}

int main(void)
{
    char path[] = "/tmp/ninodes-once-XXXXXX.ninotrace";
    nino_error err;
    CHECK(mkstemps(path, 10) >= 0);
    nino_stats *s = nino_stats_create();
    nino_trace *t = nino_trace_create(path, &err);
    CHECK(s && t);
    nino_event once = { .t_ns = 900, .kind = NINO_EV_ONCE, .parent = 10 };
    once.u.once.load_ns = 700;
    feed(s, t, (nino_event){ .t_ns = 1, .kind = NINO_EV_JOB, .id = 9 });
    feed(s, t, (nino_event){ .t_ns = 2, .kind = NINO_EV_NODE, .id = 10, .parent = 9, .name = 1 });
    feed(s, t, once);
    feed(s, t, (nino_event){ .t_ns = 1002, .kind = NINO_EV_END, .id = 10, .parent = 9 });
    feed(s, t,
         (nino_event){ .t_ns = 1010, .kind = NINO_EV_NODE, .id = 11, .parent = 9, .name = 2 });
    feed(s, t, (nino_event){ .t_ns = 1310, .kind = NINO_EV_END, .id = 11, .parent = 9 });
    feed(s, t, (nino_event){ .t_ns = 1320, .kind = NINO_EV_END, .id = 9 });
    CHECK(nino_stats_node_once(s, 0) == 700 && nino_stats_node_once(s, 1) == 0);
    CHECK(nino_stats_node_once(s, 2) == 0);
    nino_stats_destroy(&s);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_history_load(h, path, &err), err);
    CHECK(nino_stats_node_once(nino_history_stats(h), 0) == 700);
    nino_history_destroy(&h);
    unlink(path);
    return 0;
}
