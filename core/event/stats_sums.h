// Internal: statistics as events, for those who did not see the records that were counted.
#pragma once
#include <ninodes/monitor.h>

// Where the events go, and who gives names their ids.
typedef struct nino_sums_out {
    void (*add)(void *priv, const nino_event *ev);
    uint32_t (*name)(void *priv, const char *text);
    void *priv;
} nino_sums_out;
// Tells all that s holds as NINO_EV_SUM: added to others, these then hold what both have counted,
// and go on as s would. Their order is part of them.
void nino_stats_tell(const nino_stats *s, const nino_sums_out *out);
// One of the records that are counted in sums is told by itself as well: it counts once.
void nino_stats_tell_twice(const nino_sums_out *out);
// Makes s, which is empty, begin with what is so at the end of `before`: the memory in use, the power.
void nino_stats_go_on(nino_stats *s, const nino_stats *before);
