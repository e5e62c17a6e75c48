// Internal: ceilings of a device: what a backend measures, and their use as a profile's numbers.
#pragma once
#include "core/base/buf.h"
#include "core/op/profile.h"
#include <ninodes/measure.h>
#include <ninodes/monitor.h>

typedef enum nino_ceiling_kind {
    NINO_CEILING_READ, // bytes/s of a working set
    NINO_CEILING_WRITE,
    NINO_CEILING_COPY, // half of the set to the other half
    NINO_CEILING_F32,  // FLOP/s; bytes is not used
    NINO_CEILING_F16,
    NINO_CEILING_LAUNCH, // seconds a kernel
    NINO_CEILING_UPLOAD, // bytes/s
    NINO_CEILING_DOWNLOAD
} nino_ceiling_kind;

// Raises the ceilings of a device by kernels that were faster: probes are short, and may have run on
// a device that was busy or whose clock was low. One reading may be a clock's error, so three of a
// kind must have been as fast, of a tenth of a millisecond at least.
enum { NINO_CEILING_EVIDENCE = 3 };
typedef struct nino_ceiling_watch {
    nino_ceilings c;
    // How many times as fast as its ceiling, the highest first: f32, f16, and sets up to each point
    // but beyond the one before.
    double best[2 + NINO_MAX_CEILING_POINTS][NINO_CEILING_EVIDENCE];
    bool is_raised; // since it was last set to false
} nino_ceiling_watch;
// A KERNEL with its times. Ceilings that nobody measured stay as they are.
void nino_ceiling_watch_kernel(nino_ceiling_watch *w, const nino_event *kernel);

// Where something that belongs to a device and its driver is kept: DIR/KIND/NAME-HASH.json, and
// DIR/KIND; `version` may be "" or what else it belongs to. False: nowhere.
bool nino_device_file(const char *cache_dir, const char *kind, const nino_device_info *d,
                      const char *version, char *dir, char *path, size_t size);
// Saves b, which goes, as path; dir is made if it is not there.
nino_status nino_device_file_save(const char *dir, const char *path, nino_buf *b, nino_error *err);
// Puts the figures of this device, if it was measured, in the place of the profile's; true when it
// did. cache_dir as in nino_ctx_params.
bool nino_ceilings_apply(const char *cache_dir, const nino_device_info *d, nino_profile *p);
// Keeps c as what was measured on d; nowhere when cache_dir is "".
nino_status nino_ceilings_save(const char *cache_dir, const nino_device_info *d,
                               const nino_ceilings *c, nino_error *err);
