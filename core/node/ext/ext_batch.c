// Batches of images, masks and latents: count, split, join, pick, repeat. One run function serves
// all three types.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t batch_of(const nino_value *v) { return nino_ext_array(v)->shape.dim[0]; }

// How many of from, from + step, ... lie below `to`.
static int64_t steps_of(int64_t from, int64_t to, int64_t step)
{
    return to > from ? 1 + (to - from - 1) / step : 0;
}

// Is there room for n of the kind that the first input has?
static nino_status need_room(const nino_run *r, int64_t n, nino_error *err)
{
    nino_shape shape = nino_ext_array(r->in[0])->shape;
    shape.dim[0] = n;
    return nino_node_fits(NINO_F32, shape, r->def->key, err);
}

// Entries from, from + step, ... below `to` as output i; none: it stays empty.
static nino_status give_range(nino_run *r, int i, const nino_value *v, int64_t from, int64_t to,
                              int64_t step, nino_error *err)
{
    const int64_t n = steps_of(from, to, step);
    int64_t *at = calloc((size_t) n + 1, sizeof(*at));
    nino_status st = NINO_OK;
    if (!at)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t k = 0; k < n; k++)
        at[k] = from + k * step;
    if (n)
        st = nino_ext_out_picked(r, i, v, at, n, err);
    free(at);
    return st;
}

static nino_status give_counted(nino_run *r, int i, const nino_value *v, int64_t from, int64_t to,
                                int64_t step, nino_error *err)
{
    const nino_status st = give_range(r, i, v, from, to, step, err);
    return st ? st : nino_out_int(r, i + 1, steps_of(from, to, step), err);
}

// ---- counting --------------------------------------------------------------------------------

static nino_status count_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, batch_of(r->in[0]), err);
}

static nino_status count_any_run(nino_run *r, nino_error *err)
{
    const nino_value *v = nino_value_at(r->in[0], 0);
    if (r->in[0]->is_list)
        return nino_out_int(r, 0, r->in[0]->n_items, err);
    return nino_out_int(r, 0, nino_ext_array(v) ? batch_of(v) : 1, err);
}

NINO_NODE(vhs_count_images, "VHS_GetImageCount", "Get Image Count", "Video Helper Suite/image",
          "How many images a batch has", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(count, INT)), NINO_RUN(count_run));

NINO_NODE(vhs_count_latents, "VHS_GetLatentCount", "Get Latent Count", "Video Helper Suite/latent",
          "How many latents a batch has", NINO_INPUTS(NINO_PORT(latents, LATENT)),
          NINO_OUTPUTS(NINO_PORT(count, INT)), NINO_RUN(count_run));

NINO_NODE(vhs_count_masks, "VHS_GetMaskCount", "Get Mask Count", "Video Helper Suite/mask",
          "How many masks a batch has", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(count, INT)), NINO_RUN(count_run));

NINO_NODE(essentials_count, "BatchCount+", "Batch Count", "essentials/utilities",
          "How many a batch or list has", NINO_INPUTS(NINO_PORT(batch, ANY)),
          NINO_OUTPUTS(NINO_PORT(INT, INT)), NINO_RUN(count_any_run, .takes_lists = true));

// ---- splitting, joining ----------------------------------------------------------------------

typedef struct split_params {
    int64_t split_index;
} split_params;

// Python's x[:index] and x[index:].
static nino_status split_run(nino_run *r, nino_error *err)
{
    const int64_t n = batch_of(r->in[0]), index = ((const split_params *) r->params)->split_index;
    int64_t at = index < 0 ? n + index : index;
    at = at < 0 ? 0 : at > n ? n : at;
    const nino_status st = give_counted(r, 0, r->in[0], 0, at, 1, err);
    return st ? st : give_counted(r, 2, r->in[0], at, n, 1, err);
}

NINO_NODE(vhs_split_images, "VHS_SplitImages", "Split Images", "Video Helper Suite/image",
          "Cuts a batch of images in two", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE_A, IMAGE), NINO_PORT(A_count, INT),
                       NINO_PORT(IMAGE_B, IMAGE), NINO_PORT(B_count, INT)),
          NINO_PARAMS(split_params,
                      NINO_P_INT(split_params, split_index, 0, -9007199254740991, 9007199254740991,
                                 1, .label = "At",
                                 .help = "How many go into the first part, negative from the end")),
          NINO_RUN(split_run));

NINO_NODE(vhs_split_latents, "VHS_SplitLatents", "Split Latents", "Video Helper Suite/latent",
          "Cuts a batch of latents in two", NINO_INPUTS(NINO_PORT(latents, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT_A, LATENT), NINO_PORT(A_count, INT),
                       NINO_PORT(LATENT_B, LATENT), NINO_PORT(B_count, INT)),
          NINO_PARAMS(split_params,
                      NINO_P_INT(split_params, split_index, 0, -9007199254740991, 9007199254740991,
                                 1, .label = "At",
                                 .help = "How many go into the first part, negative from the end")),
          NINO_RUN(split_run));

NINO_NODE(vhs_split_masks, "VHS_SplitMasks", "Split Masks", "Video Helper Suite/mask",
          "Cuts a batch of masks in two", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK_A, MASK), NINO_PORT(A_count, INT), NINO_PORT(MASK_B, MASK),
                       NINO_PORT(B_count, INT)),
          NINO_PARAMS(split_params,
                      NINO_P_INT(split_params, split_index, 0, -9007199254740991, 9007199254740991,
                                 1, .label = "At",
                                 .help = "How many go into the first part, negative from the end")),
          NINO_RUN(split_run));

typedef struct merge_params {
    int64_t merge_strategy;
    int64_t scale_method;
    int64_t crop;
} merge_params;

static const nino_scale_method merge_methods[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                                   NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                                   NINO_SCALE_BISLERP };

// A mask as an image of one channel, or the other way round; shares nothing.
static nino_array *reshaped(const nino_array *a, bool as_mask, nino_error *err)
{
    const nino_shape s = a->shape;
    nino_array *out = nino_node_array(NINO_F32,
                                      as_mask ? NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2])
                                              : NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2], 1),
                                      "mask", err);
    if (out)
        memcpy(out->data, a->data, a->bytes);
    return out;
}

// The size of one of both; the other is scaled to it.
static nino_status merge(nino_run *r, nino_array *a, nino_array *b, nino_array **out,
                         nino_error *err)
{
    const merge_params *p = r->params;
    const nino_picture s[2] = { nino_picture_of(a), nino_picture_of(b) };
    const bool is_first_smaller = s[0].w * s[0].h <= s[1].w * s[1].h;
    const int to = p->merge_strategy == 0   ? 0
                   : p->merge_strategy == 1 ? 1
                   : p->merge_strategy == 2 ? !is_first_smaller
                                            : is_first_smaller;
    nino_array *sized = NULL;
    nino_array *const other = to ? a : b;
    const nino_status st = nino_rescale(r, other, s[to].w, s[to].h, merge_methods[p->scale_method],
                                        p->crop == 1, &sized, err);
    if (!st)
        *out = nino_picture_join(to ? sized : a, to ? b : sized, 0, r->def->key, err);
    nino_array_unref(&sized);
    return st ? st : *out ? NINO_OK : err && err->code ? err->code : NINO_ERR_NOMEM;
}

static nino_status merge_run(nino_run *r, nino_error *err)
{
    const bool is_mask = r->in[0]->type == NINO_PORT_MASK;
    nino_array *a = nino_ext_array(r->in[0]), *b = nino_ext_array(r->in[1]), *out = NULL;
    a = is_mask ? reshaped(a, false, err) : nino_array_ref(a);
    b = is_mask ? reshaped(b, false, err) : nino_array_ref(b);
    nino_status st = a && b ? merge(r, a, b, &out, err) : NINO_ERR_NOMEM;
    nino_array_unref(&a);
    nino_array_unref(&b);
    if (!st && is_mask) {
        nino_array *flat = reshaped(out, true, err);
        nino_array_unref(&out);
        out = flat;
    }
    const int64_t n = out ? out->shape.dim[0] : 0;
    if (!st)
        st = nino_ext_out_like(r, 0, r->in[0], out, err);
    return st ? st : nino_out_int(r, 1, n, err);
}

#define MERGE_NODE(id, class_name, title, category, what, TYPE)                                    \
    NINO_NODE(                                                                                     \
        id, class_name, title, "Video Helper Suite/" category,                                     \
        "One batch of two, at the size of one of them",                                            \
        NINO_INPUTS(NINO_PORT(what##_A, TYPE), NINO_PORT(what##_B, TYPE)),                         \
        NINO_OUTPUTS(NINO_PORT(TYPE, TYPE), NINO_PORT(count, INT)),                                \
        NINO_PARAMS(                                                                               \
            merge_params,                                                                          \
            NINO_P_ENUM(merge_params, merge_strategy,                                              \
                        NINO_WORDS("match A", "match B", "match smaller", "match larger"), 0,      \
                        .label = "Size", .help = "Whose size both get"),                           \
            NINO_P_ENUM(merge_params, scale_method,                                                \
                        NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "bislerp"), 0,  \
                        .label = "Method", .help = "How values between pixels are found"),         \
            NINO_P_ENUM(merge_params, crop, NINO_WORDS("disabled", "center"), 0, .label = "Crop",  \
                        .help = "Whether the second is cut to the aspect ratio of the first")),    \
        NINO_RUN(merge_run))

MERGE_NODE(vhs_merge_images, "VHS_MergeImages", "Merge Images", "image", images, IMAGE);
MERGE_NODE(vhs_merge_latents, "VHS_MergeLatents", "Merge Latents", "latent", latents, LATENT);
MERGE_NODE(vhs_merge_masks, "VHS_MergeMasks", "Merge Masks", "mask", mask, MASK);

// ---- picking ---------------------------------------------------------------------------------

typedef struct nth_params {
    int64_t select_every_nth;
    int64_t skip_first_images;
} nth_params;

static nino_status nth_run(nino_run *r, nino_error *err)
{
    const nth_params *p = r->params;
    return give_counted(r, 0, r->in[0], p->skip_first_images, batch_of(r->in[0]),
                        p->select_every_nth, err);
}

NINO_NODE(vhs_nth_images, "VHS_SelectEveryNthImage", "Select Every Nth Image",
          "Video Helper Suite/image", "One image of so many", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(count, INT)),
          NINO_PARAMS(nth_params,
                      NINO_P_INT(nth_params, select_every_nth, 1, 1, 9007199254740991, 1,
                                 .label = "Every", .help = "One of so many is taken"),
                      NINO_P_INT(nth_params, skip_first_images, 0, 0, 9007199254740991, 1,
                                 .label = "Skip", .help = "How many are left out first")),
          NINO_RUN(nth_run));

typedef struct nth_latent_params {
    int64_t select_every_nth;
    int64_t skip_first_latents;
} nth_latent_params;

static nino_status nth_latent_run(nino_run *r, nino_error *err)
{
    const nth_latent_params *p = r->params;
    return give_counted(r, 0, r->in[0], p->skip_first_latents, batch_of(r->in[0]),
                        p->select_every_nth, err);
}

NINO_NODE(vhs_nth_latents, "VHS_SelectEveryNthLatent", "Select Every Nth Latent",
          "Video Helper Suite/latent", "One latent of so many",
          NINO_INPUTS(NINO_PORT(latents, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT), NINO_PORT(count, INT)),
          NINO_PARAMS(nth_latent_params,
                      NINO_P_INT(nth_latent_params, select_every_nth, 1, 1, 9007199254740991, 1,
                                 .label = "Every", .help = "One of so many is taken"),
                      NINO_P_INT(nth_latent_params, skip_first_latents, 0, 0, 9007199254740991, 1,
                                 .label = "Skip", .help = "How many are left out first")),
          NINO_RUN(nth_latent_run));

typedef struct nth_mask_params {
    int64_t select_every_nth;
    int64_t skip_first_masks;
} nth_mask_params;

static nino_status nth_mask_run(nino_run *r, nino_error *err)
{
    const nth_mask_params *p = r->params;
    return give_counted(r, 0, r->in[0], p->skip_first_masks, batch_of(r->in[0]),
                        p->select_every_nth, err);
}

NINO_NODE(vhs_nth_masks, "VHS_SelectEveryNthMask", "Select Every Nth Mask",
          "Video Helper Suite/mask", "One mask of so many", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK), NINO_PORT(count, INT)),
          NINO_PARAMS(nth_mask_params,
                      NINO_P_INT(nth_mask_params, select_every_nth, 1, 1, 9007199254740991, 1,
                                 .label = "Every", .help = "One of so many is taken"),
                      NINO_P_INT(nth_mask_params, skip_first_masks, 0, 0, 9007199254740991, 1,
                                 .label = "Skip", .help = "How many are left out first")),
          NINO_RUN(nth_mask_run));

typedef struct duplicate_params {
    int64_t multiply_by;
} duplicate_params;

static nino_status duplicate_run(nino_run *r, nino_error *err)
{
    const int64_t n = batch_of(r->in[0]), by = ((const duplicate_params *) r->params)->multiply_by;
    if (by > INT32_MAX / (n ? n : 1))
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", "multiply_by", "too many");
    int64_t *at = calloc((size_t) (n * by) + 1, sizeof(*at));
    if (!at)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t k = 0; k < n * by; k++)
        at[k] = k % n;
    const nino_status st = nino_ext_out_picked(r, 0, r->in[0], at, n * by, err);
    free(at);
    return st ? st : nino_out_int(r, 1, n * by, err);
}

NINO_NODE(vhs_duplicate_images, "VHS_DuplicateImages", "Repeat Images", "Video Helper Suite/image",
          "A batch several times in a row", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(count, INT)),
          NINO_PARAMS(duplicate_params,
                      NINO_P_INT(duplicate_params, multiply_by, 1, 1, 9007199254740991, 1,
                                 .label = "Times", .help = "How often")),
          NINO_RUN(duplicate_run));

NINO_NODE(vhs_duplicate_latents, "VHS_DuplicateLatents", "Repeat Latents",
          "Video Helper Suite/latent", "A batch several times in a row",
          NINO_INPUTS(NINO_PORT(latents, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT), NINO_PORT(count, INT)),
          NINO_PARAMS(duplicate_params,
                      NINO_P_INT(duplicate_params, multiply_by, 1, 1, 9007199254740991, 1,
                                 .label = "Times", .help = "How often")),
          NINO_RUN(duplicate_run));

NINO_NODE(vhs_duplicate_masks, "VHS_DuplicateMasks", "Repeat Masks", "Video Helper Suite/mask",
          "A batch several times in a row", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK), NINO_PORT(count, INT)),
          NINO_PARAMS(duplicate_params,
                      NINO_P_INT(duplicate_params, multiply_by, 1, 1, 9007199254740991, 1,
                                 .label = "Times", .help = "How often")),
          NINO_RUN(duplicate_run));

typedef struct select_params {
    const char *indexes;
    bool err_if_missing;
    bool err_if_empty;
} select_params;

// Appends the numbers that "3", "-1" or "2:8:2" stand for. False: it is none of these.
static bool add_range(const char *s, size_t len, int64_t n, int64_t *at, int64_t *n_at,
                      int64_t most, bool *is_missing)
{
    int64_t v[3] = { 0, n, 1 };
    int part = 0;
    bool has_colon = false;
    for (size_t i = 0; i <= len; part++) {
        char *end = NULL;
        const int64_t x = strtoll(s + i, &end, 10);
        const size_t used = (size_t) (end - s) - i;
        if (part > 2 || i + used > len)
            return false;
        if (used)
            v[part] = x;
        i += used;
        if (i < len && s[i] != ':')
            return false;
        has_colon |= i < len;
        i++;
    }
    if (!has_colon) {
        const int64_t k = v[0] < 0 ? n + v[0] : v[0];
        *is_missing |= k < 0 || k >= n;
        if (k >= 0 && k < n && *n_at < most)
            at[(*n_at)++] = k;
        return true;
    }
    for (int k = 0; k < 2; k++)
        v[k] = v[k] < 0 ? (n + v[k] < 0 ? 0 : n + v[k]) : v[k] > n ? n : v[k];
    if (v[2] <= 0)
        return false;
    for (int64_t k = v[0]; k < v[1] && *n_at < most; k += v[2])
        at[(*n_at)++] = k;
    return true;
}

static nino_status select_run(nino_run *r, nino_error *err)
{
    const select_params *p = r->params;
    const int64_t n = batch_of(r->in[0]), most = INT64_C(1) << 16;
    int64_t n_at = 0, *at = calloc((size_t) most, sizeof(*at));
    nino_status st = at ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    bool is_missing = false;
    for (const char *s = p->indexes; !st && *s;) {
        s += strspn(s, " ,\n");
        const size_t len = strcspn(s, ",\n");
        size_t used = len;
        while (used && s[used - 1] == ' ')
            used--;
        if (used && !add_range(s, used, n, at, &n_at, most, &is_missing))
            st = nino_fail_kind(err, NINO_ERR_FORMAT, "value", "indexes",
                                "'%.40s' is no list of numbers and ranges", p->indexes);
        s += len;
    }
    if (!st && is_missing && p->err_if_missing)
        st = nino_fail_kind(err, NINO_ERR_RANGE, "range", "indexes",
                            "there are %lld, not all that '%.40s' asks for", (long long) n,
                            p->indexes);
    if (!st && !n_at && p->err_if_empty)
        st = nino_fail_kind(err, NINO_ERR_RANGE, "range", "indexes", "nothing is selected");
    if (!st && n_at)
        st = nino_ext_out_picked(r, 0, r->in[0], at, n_at, err);
    free(at);
    return st;
}

NINO_NODE(vhs_select_images, "VHS_SelectImages", "Select Images", "Video Helper Suite/image",
          "Some images of a batch", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(select_params,
                      NINO_P_STRING(select_params, indexes, "0", .label = "Numbers",
                                    .help = "Numbers and ranges from:to:step with commas between, "
                                            "from 0, negative from the end"),
                      NINO_P_BOOL(select_params, err_if_missing, true, .label = "Missing fails",
                                  .help = "A number that is not there is an error"),
                      NINO_P_BOOL(select_params, err_if_empty, true, .label = "None fails",
                                  .help = "Selecting nothing is an error")),
          NINO_RUN(select_run));

NINO_NODE(vhs_select_latents, "VHS_SelectLatents", "Select Latents", "Video Helper Suite/latent",
          "Some latents of a batch", NINO_INPUTS(NINO_PORT(latent, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(select_params,
                      NINO_P_STRING(select_params, indexes, "0", .label = "Numbers",
                                    .help = "Numbers and ranges from:to:step with commas between, "
                                            "from 0, negative from the end"),
                      NINO_P_BOOL(select_params, err_if_missing, true, .label = "Missing fails",
                                  .help = "A number that is not there is an error"),
                      NINO_P_BOOL(select_params, err_if_empty, true, .label = "None fails",
                                  .help = "Selecting nothing is an error")),
          NINO_RUN(select_run));

NINO_NODE(vhs_select_masks, "VHS_SelectMasks", "Select Masks", "Video Helper Suite/mask",
          "Some masks of a batch", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(select_params,
                      NINO_P_STRING(select_params, indexes, "0", .label = "Numbers",
                                    .help = "Numbers and ranges from:to:step with commas between, "
                                            "from 0, negative from the end"),
                      NINO_P_BOOL(select_params, err_if_missing, true, .label = "Missing fails",
                                  .help = "A number that is not there is an error"),
                      NINO_P_BOOL(select_params, err_if_empty, true, .label = "None fails",
                                  .help = "Selecting nothing is an error")),
          NINO_RUN(select_run));

// ---- ranges ----------------------------------------------------------------------------------

typedef struct part_params {
    int64_t start;
    int64_t length;
} part_params;

static nino_status part_run(nino_run *r, nino_error *err)
{
    const part_params *p = r->params;
    const int64_t n = batch_of(r->in[0]), from = p->start < n ? p->start : n - 1;
    const int64_t most = n - from, len = p->length < 0 || p->length > most ? most : p->length;
    return give_range(r, 0, r->in[0], from, from + len, 1, err);
}

NINO_NODE(essentials_part_image, "ImageFromBatch+", "Image From Batch", "essentials/image batch",
          "A part of a batch", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(part_params,
                      NINO_P_INT(part_params, start, 0, 0, INT64_MAX, 1, .label = "First",
                                 .help = "Number of the first that is kept, from 0"),
                      NINO_P_INT(part_params, length, -1, -1, INT64_MAX, 1, .label = "Length",
                                 .help = "How many are kept")),
          NINO_RUN(part_run));

NINO_NODE(essentials_part_mask, "MaskFromBatch+", "Mask From Batch", "essentials/mask batch",
          "A part of a batch", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(part_params,
                      NINO_P_INT(part_params, start, 0, 0, INT64_MAX, 1, .label = "First",
                                 .help = "Number of the first that is kept, from 0"),
                      NINO_P_INT(part_params, length, 1, 1, INT64_MAX, 1, .label = "Length",
                                 .help = "How many are kept")),
          NINO_RUN(part_run));

typedef struct last_params {
    int64_t start_index;
    int64_t num_frames;
} last_params;

// -1 as the start: the last ones.
static nino_status range_of(nino_run *r, int port, int out, int64_t start, int64_t count,
                            nino_error *err)
{
    const int64_t n = batch_of(r->in[port]);
    const int64_t last = count < n ? n - count : 0, from = start == -1 ? last : start;
    if (from < 0 || from >= n)
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", "start_index",
                              "outside of the batch of %lld", (long long) n);
    return give_range(r, out, r->in[port], from, least(from + count, n), 1, err);
}

static nino_status image_range_run(nino_run *r, nino_error *err)
{
    const last_params *p = r->params;
    nino_status st = NINO_OK;
    for (int k = 0; k < 2 && !st; k++)
        if (r->in[k])
            st = range_of(r, k, k, p->start_index, p->num_frames, err);
    return st;
}

NINO_NODE(kj_image_range, "GetImageRangeFromBatch", "Get Image or Mask Range From Batch",
          "KJNodes/image", "A part of a batch of images and masks",
          NINO_INPUTS(NINO_PORT(images, IMAGE, .optional = true),
                      NINO_PORT(masks, MASK, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(MASK, MASK)),
          NINO_PARAMS(last_params,
                      NINO_P_INT(last_params, start_index, 0, -1, 4096, 1, .label = "First",
                                 .help = "Number of the first, -1 for the last ones"),
                      NINO_P_INT(last_params, num_frames, 1, 1, 4096, 1, .label = "Count",
                                 .help = "How many")),
          NINO_RUN(image_range_run));

typedef struct last_latent_params {
    int64_t start_index;
    int64_t num_frames;
} last_latent_params;

static nino_status latent_range_run(nino_run *r, nino_error *err)
{
    const last_latent_params *p = r->params;
    const int64_t n = batch_of(r->in[0]);
    return range_of(
        r, 0, 0, p->start_index,
        p->num_frames == -1 ? n - (p->start_index < 0 ? 0 : p->start_index) : p->num_frames, err);
}

NINO_NODE(kj_latent_range, "GetLatentRangeFromBatch", "Get Latent Range From Batch",
          "KJNodes/latents", "A part of a batch of latents",
          NINO_INPUTS(NINO_PORT(latents, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(last_latent_params,
                      NINO_P_INT(last_latent_params, start_index, 0, -1, 4096, 1, .label = "First",
                                 .help = "Number of the first, -1 for the last ones"),
                      NINO_P_INT(last_latent_params, num_frames, 1, -1, 4096, 1, .label = "Count",
                                 .help = "How many, -1 for all that follow")),
          NINO_RUN(latent_range_run));

static nino_status reverse_run(nino_run *r, nino_error *err)
{
    const int64_t n = batch_of(r->in[0]);
    int64_t *at = calloc((size_t) n + 1, sizeof(*at));
    for (int64_t k = 0; at && k < n; k++)
        at[k] = n - 1 - k;
    const nino_status st = at ? nino_ext_out_picked(r, 0, r->in[0], at, n, err)
                              : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    free(at);
    return st;
}

NINO_NODE(kj_reverse, "ReverseImageBatch", "Reverse Image Batch", "KJNodes/image",
          "A batch in the opposite order", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(reverse_run));

typedef struct expand_params {
    int64_t size;
    int64_t method;
} expand_params;

// To a size: spread evenly, or with some of them repeated.
static nino_status expand_run(nino_run *r, nino_error *err)
{
    const expand_params *p = r->params;
    const int64_t n = batch_of(r->in[0]), size = p->size;
    nino_status st = need_room(r, size, err);
    if (st)
        return st;
    int64_t *at = calloc((size_t) size + 1, sizeof(*at));
    const double down = size > 1 ? (double) (n - 1) / (double) (size - 1) : 0;
    for (int64_t i = 0; at && i < size; i++) {
        int64_t k = i;
        if (size != n && p->method == 0)
            k = size < n ? (int64_t) rint((double) i * down)
                         : (int64_t) floor(((double) i + 0.5) * (double) n / (double) size);
        else if (size > n)
            k = p->method == 1 ? i % n : p->method == 2 ? (i < size - n ? 0 : i - (size - n)) : i;
        at[i] = k < n ? k : n - 1;
    }
    st = at ? nino_ext_out_picked(r, 0, r->in[0], at, size, err)
            : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    free(at);
    return st;
}

NINO_NODE(essentials_expand_image, "ImageExpandBatch+", "Image Expand Batch",
          "essentials/image batch", "A batch made longer or shorter",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(expand_params,
                      NINO_P_INT(expand_params, size, 16, 1, INT64_MAX, 1, .label = "Count",
                                 .help = "How many it becomes"),
                      NINO_P_ENUM(expand_params, method,
                                  NINO_WORDS("expand", "repeat all", "repeat first", "repeat last"),
                                  0, .label = "Method",
                                  .help = "Which of them are repeated or left out")),
          NINO_RUN(expand_run));

NINO_NODE(essentials_expand_mask, "MaskExpandBatch+", "Mask Expand Batch", "essentials/mask batch",
          "A batch made longer or shorter", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(expand_params,
                      NINO_P_INT(expand_params, size, 16, 1, INT64_MAX, 1, .label = "Count",
                                 .help = "How many it becomes"),
                      NINO_P_ENUM(expand_params, method,
                                  NINO_WORDS("expand", "repeat all", "repeat first", "repeat last"),
                                  0, .label = "Method",
                                  .help = "Which of them are repeated or left out")),
          NINO_RUN(expand_run));
