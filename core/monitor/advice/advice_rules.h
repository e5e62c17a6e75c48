// Internal to core/monitor/advice*.c: what the rules share.
#pragma once
#include <ninodes/advice.h>
#include <ninodes/job.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NINO_MAX_ADVICE = 32 };

typedef struct advisor {
    const nino_advice_input *in;
    const nino_history *h;
    bool has_ceilings;
    nino_ceilings c;
    double wall_s;               // of the last job
    uint64_t begin_ns, end_ns;   // of it
    double kernel_s, transfer_s; // on the device
    double plan_s;               // predicted time of the graph as it is; 0: not planned
    uint64_t plan_peak, budget;
    nino_mem_stat mem;
    nino_advice out[NINO_MAX_ADVICE];
    size_t n;
} advisor;

// The next entry, its gain NaN; NULL when the table is full.
nino_advice *nino_advice_new(advisor *a, const char *rule, const char *node);
// Names, settings and values: the same in every language.
__attribute__((format(printf, 3, 4))) void nino_advice_text(char *out, size_t size, const char *fmt,
                                                            ...);
#define PUT(field, ...) nino_advice_text(field, sizeof(field), __VA_ARGS__)
// What is read, in the reader's language. A text is a whole sentence or clause, and right for every
// count in it: none is put together from words.
__attribute__((format(printf, 4, 5))) void nino_advice_say(const advisor *a, char *out, size_t size,
                                                           const char *fmt, ...);
#define SAY(a, field, ...) nino_advice_say(a, field, sizeof(field), __VA_ARGS__)
// Another clause behind what the field says: "; ...".
#define ADD(a, field, ...)                                                                         \
    do {                                                                                           \
        nino_advice_join(field, sizeof(field));                                                    \
        nino_advice_say(a, (field) + strlen(field), sizeof(field) - strlen(field), __VA_ARGS__);   \
    } while (0)
void nino_advice_join(char *out, size_t size);
// 1.5 GiB
const char *nino_advice_bytes(const advisor *a, char *buf, size_t size, double bytes);
// 1.35 s, 200 ms, 8.00 µs: three digits.
const char *nino_advice_time(const advisor *a, char *buf, size_t size, double seconds);
// The same in a place of its own, for as long as the statement lasts.
#define NINO_ADVICE_TIME(a, seconds) nino_advice_time(a, (char[32]){ 0 }, 32, seconds)
// Plans the graph with one setting changed; false: cannot, or it does not fit.
bool nino_advice_plan(const advisor *a, const char *setting, double *seconds, uint64_t *peak);
// "8" of "8 VAEDecode" of the node that scope belongs to; "" when it is not known.
void nino_advice_node_of(const advisor *a, uint32_t scope, char *id, size_t size);
// The current value of a node's input as text; false: no such node or input, or it is linked.
bool nino_advice_value(const advisor *a, const char *node, const char *input, char *buf,
                       size_t size);
// The first node of the graph with an input of that name.
bool nino_advice_find(const advisor *a, const char *class_part, const char *input, char *node,
                      size_t size);

// Seconds of preparing kernels that began in [t0, t1), for how many programs, and what of it the
// next run saves: it was compiled, and is kept. Both may be NULL.
double nino_advice_compiling(const advisor *a, uint64_t t0, uint64_t t1, size_t *n,
                             double *saved_s);

// Rules by topic.
void nino_advise_tiles(advisor *a);   // advice_tile.c
void nino_advise_sampler(advisor *a); // advice_step.c: previews, slow steps
void nino_advise_device(advisor *a);  // advice_device.c: launches, transfers, precision, idle time
void nino_advise_memory(advisor *a);  // advice_memory.c: trims, evictions, compiling
