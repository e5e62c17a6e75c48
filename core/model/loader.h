// Internal: reading the layers of a network by name. Every step does nothing after the first
// failure, so that a network reads like its list of layers; the caller looks at `st` once. What a
// step hands out belongs to `layers`, also after a failure: nothing of it is released one by one.
#pragma once
#include "core/model/layers.h"

// The entry of a file's metadata that says how many channels its heads of attention have: the
// tensors do not tell, and small models do not follow the rule of the released ones.
#define NINO_META_HEAD_CHANNELS "head_channels"

typedef struct nino_loader {
    nino_weights *file;
    const char *prefix;  // before every name
    nino_layers *layers; // of the network; NULL where only names are looked at
    nino_dtype type;     // weights are rounded to it; NINO_F32: stay as stored
    const char *where;   // the file in messages; NULL: its name without folders
    nino_status st;
    nino_error *err;
} nino_loader;

typedef struct nino_name {
    char s[192];
} nino_name;

__attribute__((format(printf, 1, 2))) nino_name nino_name_of(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) bool nino_load_has(const nino_loader *l, const char *fmt,
                                                         ...);
// Marks it failed unless it has; the error names the file. kind "model".
__attribute__((format(printf, 3, 4))) void nino_load_fail(nino_loader *l, nino_status st,
                                                          const char *fmt, ...);
// n things of `size` bytes, zeroed. NULL after a failure.
void *nino_load_alloc(nino_loader *l, size_t n, size_t size);
// name without ".weight". cin < 0: any.
void nino_load_linear(nino_loader *l, const char *name, int64_t cin, nino_linear *out);
void nino_load_part(nino_loader *l, nino_weight_part part, int64_t cin, nino_linear *out);
// A convolution as far apart as it is wide, as a linear layer over the channels and cells of a
// patch (in this order). Stays as stored.
void nino_load_patch(nino_loader *l, const char *name, nino_linear *out);
void nino_load_conv(nino_loader *l, const char *name, int64_t cin, nino_conv *out);
// gamma and beta of exactly c channels
void nino_load_norm(nino_loader *l, const char *name, int64_t c, int groups, float eps,
                    nino_norm *out);
void nino_load_vector(nino_loader *l, const char *name, int64_t n, nino_weight **out); // full name
// Rows and columns of a tensor by its full name; n or c < 0: any. required false: *out stays NULL
// when it is absent.
void nino_load_weight(nino_loader *l, nino_weight_part part, nino_weight_role role, int64_t n,
                      int64_t c, bool required, nino_weight **out);
// A weight with the values of a, which may be NULL: no memory for them.
void nino_load_made(nino_loader *l, nino_array *a, nino_weight_role role, nino_weight **out);
// A tensor that stays on the host, as f32.
void nino_load_table(nino_loader *l, const nino_tensor_info *t, nino_array **out);
// The same for the caller to change and release; NULL after a failure.
nino_array *nino_load_values(nino_loader *l, const nino_tensor_info *t);
// Rows of a weight that was just read; 0 after a failure.
int64_t nino_load_rows(const nino_loader *l, const nino_weight *w);
// A linear must have exactly n rows.
void nino_load_expect(nino_loader *l, const char *name, const nino_linear *w, int64_t n);
// Heads of attentions that are `width` wide: of as many channels as "head_channels" in the file's
// metadata says, else `usual`. 1 after a failure.
int nino_load_heads(nino_loader *l, int64_t width, int usual);
// 1 + the largest N of the tensors called stemN.*, so that a gap shows as a missing tensor; at most
// 1000.
int nino_load_count(const nino_loader *l, const char *stem);
// Channels of a head of a network of that width: as many as `norm`, which is over one, has.
int64_t nino_load_head(nino_loader *l, const char *norm, int64_t width);
