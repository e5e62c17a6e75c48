// Internal to core/monitor/link: what all records add up to that are not held any more, for viewers
// that come late. One thread.
#pragma once
#include "core/event/ring.h"

typedef struct nino_totals nino_totals;

// Begins to count. Keeps the monitor on, but does not watch it. NULL: out of memory.
nino_totals *nino_totals_create(nino_monitor *m);
void nino_totals_destroy(nino_totals **t);
// Counts the records that leave what is told one by one; to be called before the rings are full.
void nino_totals_advance(nino_totals *t);
// A reader of the records that are not counted yet. Before them its viewer is to be told what
// add() gets: the sums of earlier jobs, the beginning of the last job, its sums, and the scopes that
// are open. NULL: out of memory.
nino_mon_reader *nino_totals_tell(const nino_totals *t,
                                  void (*add)(void *priv, const nino_event *ev), void *priv);
// Records that are counted, the lost ones among them.
uint64_t nino_totals_count(const nino_totals *t);
