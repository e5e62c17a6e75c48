// Small UNets and FLUX networks with random weights, what an evaluation of them takes, and files
// made from other ones' tensors, in another notation of their names; names in LoRA files.
#pragma once
#include "core/model/merge/lora_map.h"
#include "tests/diffusion.h"

static const net_unet tiny_sd
    __attribute__((unused)) = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };
static const net_unet tiny_xl
    __attribute__((unused)) = { 32, 3, { 1, 2, 2 }, { 0, 2, 1 }, 2, 40, 20, 4, 4, true };
static const net_unet tiny_short
    __attribute__((unused)) = { 32, 2, { 1, 1 }, { 1, 0 }, -1, 24, 0, 9, 4, false };
static const net_flux tiny_flux __attribute__((unused)) = { 128, 64, 2, 2, 16, 20, 12, true };
static const net_flux tiny_fill __attribute__((unused)) = { 128, 64, 1, 1, 96, 20, 12, true };
static const net_flux tiny_fast __attribute__((unused)) = { 64, 32, 1, 1, 16, 20, 12, false };

static nino_error err;
static test_device dev;
static test_dir dir;

static inline nino_weights *made(net_list l, const char *file)
{
    return test_net_file(&dir, l, file);
}

static inline nino_weights *made_unet(const net_unet *u, const char *prefix)
{
    return made(net_list_unet(u, prefix), "ldm");
}

static inline nino_weights *made_flux(const net_flux *f, const char *prefix)
{
    return made(net_list_flux(f, prefix), "bfl");
}

// Everything an evaluation takes, random, of a size in cells.
typedef struct inputs {
    test_inputs in;
    nino_array *owned[8];
    float t[2];
} inputs;

static inline void fill(inputs *p, const nino_diffusion *d, int64_t n, int64_t h, int64_t w,
                        int64_t tokens)
{
    const int c = d->format->channels, extra = d->in_channels - c;
    *p = (inputs){ .t = { 0.8f, 0.3f } };
    for (int i = 0; i < 2 && d->kind == NINO_DIFFUSION_UNET; i++)
        p->t[i] *= 999;
    p->owned[0] = test_values(NINO_SHAPE(n, h, w, c), 3);
    p->owned[1] = test_values(NINO_SHAPE(n, tokens, d->context_dim), 4);
    p->owned[2] = d->y_dim ? test_values(NINO_SHAPE(n, d->y_dim), 5) : NULL;
    p->owned[3] = extra ? test_values(NINO_SHAPE(n, h, w, extra), 6) : NULL;
    p->in = (test_inputs){ .x = p->owned[0],
                           .context = p->owned[1],
                           .y = p->owned[2],
                           .concat = p->owned[3],
                           .timestep = p->t,
                           .guidance = 3.5f };
}

static inline void drop(inputs *p)
{
    for (int i = 0; i < 8; i++)
        nino_array_unref(&p->owned[i]);
}

static inline nino_array *run(const nino_diffusion *d, int64_t n, int64_t h, int64_t w)
{
    inputs p;
    fill(&p, d, n, h, w, 5);
    nino_array *out = test_forward(dev.s, d, &p.in);
    CHECK(nino_shape_equal(&out->shape, &p.in.x->shape));
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    drop(&p);
    return out;
}

// ---- a file being made from another one's tensors ---------------------------------------------
typedef struct copy {
    nino_st_entry e[1024];
    char names[1024][160];
    int n;
} copy;

static copy to;

static inline void put(nino_array *a, const char *name)
{
    CHECK(to.n < 1024);
    const int len = snprintf(to.names[to.n], sizeof(to.names[0]), "%s", name);
    CHECK(len < (int) sizeof(to.names[0]));
    to.e[to.n] = (nino_st_entry){ to.names[to.n], a };
    to.n++;
}

static inline nino_weights *save_copy(const char *file)
{
    CHECK_OK(nino_st_save(dir.path, file, false, to.e, to.n, NULL, 0, &err), err);
    for (int i = 0; i < to.n; i++) {
        nino_array *a = (nino_array *) to.e[i].array;
        nino_array_unref(&a);
    }
    to.n = 0;
    return test_open("%s/%s", dir.path, file);
}

static inline nino_array *tensor(const nino_weights *w, const nino_tensor_info *t)
{
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    return a;
}

// ---- other notations of names, and names in LoRA files ---------------------------------------
typedef struct renamed {
    const char *own, *theirs;
} renamed;

// The first pair whose own name is in the name, replaced.
static inline void rename_first(char *name, size_t size, const renamed *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *at = strstr(name, list[i].own), tail[160];
        if (!at)
            continue;
        snprintf(tail, sizeof(tail), "%s", at + strlen(list[i].own));
        snprintf(at, size - (size_t) (at - name), "%s%s", list[i].theirs, tail);
        return;
    }
}

// Rows row ... row + n of a under a name.
static inline void put_part(const nino_array *a, int64_t row, int64_t n, const char *name)
{
    nino_shape shape = a->shape;
    const size_t row_bytes = a->bytes / (size_t) shape.dim[0];
    shape.dim[0] = n;
    nino_array *part = nino_array_create(NINO_F32, shape);
    CHECK(part);
    memcpy(part->data, (const char *) a->data + (size_t) row * row_bytes, part->bytes);
    put(part, name);
}

// Rows of a third of a fused layer under the name of each; what follows them under `rest`.
static inline void put_thirds(nino_array *a, int64_t rows, const char *name, const char *fused,
                              const char *const parts[3], const char *rest)
{
    for (int i = 0; i < 3 + (rest != NULL); i++) {
        char full[160];
        const renamed one = { fused, i < 3 ? parts[i] : rest };
        snprintf(full, sizeof(full), "%s", name);
        rename_first(full, sizeof(full), &one, 1);
        put_part(a, i * rows, i < 3 ? rows : a->shape.dim[0] - 3 * rows, full);
    }
    nino_array_unref(&a);
}

static inline void swap_halves(nino_array *a)
{
    const size_t half = a->bytes / 2;
    char *p = a->data, *old = malloc(half);
    CHECK(old);
    memcpy(old, p, half);
    memcpy(p, p + half, half);
    memcpy(p + half, old, half);
    free(old);
}

// Both networks answer with the same bits. Takes b.
static inline void check_same_answer(nino_weights *a, nino_weights *b, const char *family)
{
    nino_diffusion *d = test_diffusion(a, family), *e = test_diffusion(b, family);
    nino_array *p = run(d, 1, 7, 5), *q = run(e, 1, 7, 5);
    CHECK(d->in_channels == e->in_channels && d->has_guidance == e->has_guidance);
    CHECK(!memcmp(p->data, q->data, p->bytes));
    nino_array_unref(&p);
    nino_array_unref(&q);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&b);
}

typedef struct damage {
    const char *tensor;
    int64_t rows; // 0: missing
    nino_status st;
    const char *words;
} damage;

typedef struct lora_name {
    const char *layer, *tensor; // NULL: unknown
    int64_t row0, rows, from;
} lora_name;

static inline void check_lora(nino_weights *w, const char *family, const lora_name *list,
                              size_t count)
{
    nino_diffusion *d = test_diffusion(w, family);
    lora_map m = { 0 };
    CHECK_OK(lora_map_diffusion(&m, d, &err), err);
    for (size_t i = 0; i < count; i++) {
        const lora_name *e = &list[i];
        bool found = false;
        int n;
        const lora_place *p = lora_map_find(&m, e->layer, strlen(e->layer), &n);
        for (int k = 0; k < n && e->tensor; k++)
            found |= !strcmp(p[k].tensor->name, e->tensor) && p[k].row0 == e->row0 &&
                     p[k].rows == e->rows && p[k].from == e->from;
        if (e->tensor ? !found : n != 0)
            fprintf(stderr, "%s: %s, %d places\n", e->layer, e->tensor ? "wrong" : "known", n);
        CHECK(e->tensor ? found : n == 0);
    }
    lora_map_release(&m);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

#define CHECK_LORA(w, family, list) check_lora(w, family, list, sizeof(list) / sizeof((list)[0]))
