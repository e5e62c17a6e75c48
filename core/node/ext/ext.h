// Internal: what nodes of extensions share: values of any type as text and numbers, batches of any
// kind, bundles, colours.
#pragma once
#include "core/base/buf.h"
#include "core/node/planar.h"

#define EXT_LARGEST ((double) INT64_MAX)

// Hands every input on to the output of its number.
nino_status nino_ext_pass(nino_run *r, nino_error *err);
// Output i becomes (a reference to) v; NULL: it stays empty.
void nino_ext_give(nino_run *r, int i, nino_value *v);
// Takes the buffer as STRING output i.
nino_status nino_ext_out_buf(nino_run *r, int i, nino_buf *b, nino_error *err);
nino_status nino_ext_out_copy(nino_run *r, int i, const char *text, nino_error *err);
// A seed as INT output i; those beyond its range are refused.
nino_status nino_ext_out_seed(nino_run *r, int i, uint64_t seed, const char *key, nino_error *err);
// A new bundle as output i.
nino_value *nino_ext_out_bundle(nino_run *r, int i, nino_port_type type, int n, nino_error *err);
// The plain number of an INT, FLOAT or BOOLEAN; false: it is none.
bool nino_ext_number(const nino_value *v, double *out);
// As Python's str() has it; arrays and networks are described.
void nino_ext_text(nino_buf *b, const nino_value *v);

// The array of an IMAGE or MASK, the samples of a LATENT; NULL: another type.
nino_array *nino_ext_array(const nino_value *v);
// Output i becomes a value like `like` (IMAGE, MASK, LATENT) that has this array (taken; NULL: err
// is filled). Of a latent its mask and index come with it.
nino_status nino_ext_out_like(nino_run *r, int i, const nino_value *like, nino_array *a,
                              nino_error *err);
// Entries at[0..n) of the batch of v as output i.
nino_status nino_ext_out_picked(nino_run *r, int i, const nino_value *v, const int64_t *at,
                                int64_t n, nino_error *err);
// One batch of a and b; b is scaled to a's size, its channels are filled up with 1.
nino_array *nino_ext_join(nino_run *r, const nino_array *a, const nino_array *b,
                          nino_scale_method method, nino_error *err);
// "255, 0, 0", "#ff0000", "red" as 0..1.
nino_status nino_ext_color(const char *text, const char *key, float rgb[3], nino_error *err);
// One plane's width x height at (x, y) of an image; the rest of the frame has the colour.
nino_array *nino_ext_framed(const nino_array *a, int64_t y, int64_t x, int64_t h, int64_t w,
                            const float rgb[3], const char *what, nino_error *err);
