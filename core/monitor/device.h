// Internal: samples of the GPU and of the machine's memory for the monitor.
#pragma once
#include "core/monitor/monitor.h"

// Where to read: "" for this machine, a folder that holds sys/ and proc/ for tests. Values that are
// not known are NaN (busy, mhz, watt, celsius) or 0 (bytes).
void nino_device_sample(const char *root, nino_event *out);

// Publishes a sample ten times a second, on a thread that sleeps while nobody reads the monitor: a
// monitor that nobody looks at must not keep the GPU awake. NULL: no thread could be started.
typedef struct nino_device_sampler nino_device_sampler;
nino_device_sampler *nino_device_sampler_start(nino_monitor *m, const char *root);
void nino_device_sampler_stop(nino_device_sampler **s);
