// Internal: samples of the GPU and of the machine's memory for the monitor.
#pragma once
#include "core/event/publish.h"
#include <ninodes/measure.h>

// The device's counters (ninodes/counter.h), each a line that sets its value; the time stays 0.
// Where to read: "" for this machine, a folder that holds sys/ and proc/ for tests.
void nino_device_sample(const char *root, nino_sample *out);

// The same for the counters of the machine.
// *busy_before holds what the last call read from /proc/stat; 0 at first.
enum { NINO_N_RESIDENCY = 7 };
typedef struct nino_throttle_state {
    bool is_known;
    uint32_t residency[NINO_N_RESIDENCY];
} nino_throttle_state;
typedef struct nino_cpu_time {
    uint64_t busy, all;
    nino_throttle_state throttle;
} nino_cpu_time;
void nino_host_sample(const char *root, nino_cpu_time *before, nino_sample *out);

// Memory of the machine and of a card of AMD; 0: not told.
typedef struct nino_memory_now {
    uint64_t available; // of the machine's, without swapping
    bool has_card;
    bool is_apu; // by its table gpu_metrics
    uint64_t vram_total, vram_used;
    uint64_t gtt_total, gtt_used; // of the machine's, as far as the card may use it
} nino_memory_now;
// pci: the card's address, "0000:c5:00.0"; "": the card with most memory.
void nino_memory_read(const char *root, const char *pci, nino_memory_now *out);

// Parts of it (sensor_metrics.c). Bits of ninodes/throttle.h from CARD/gpu_metrics: what throttles
// now, or has since the last call.
unsigned nino_throttle_read(const char *card, nino_throttle_state *before);
bool nino_card_is_apu(const char *card); // by the format of CARD/gpu_metrics
uint64_t nino_own_gtt(const char *root); // bytes that this process holds through DRM

// Publishes a sample ten times a second and the host's twice, on a thread that sleeps while nobody
// reads the monitor: a monitor that nobody looks at must not keep the GPU awake. Every new reader
// is told the ceilings (may be NULL). NULL: no thread could be started.
typedef struct nino_device_sampler nino_device_sampler;
nino_device_sampler *nino_device_sampler_start(nino_monitor *m, const char *root,
                                               const nino_ceilings *ceilings);
// Other ceilings from now on: all readers are told, before the call returns. s may be NULL.
void nino_device_sampler_tell(nino_device_sampler *s, const nino_ceilings *c);
void nino_device_sampler_stop(nino_device_sampler **s);
