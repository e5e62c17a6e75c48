// What tests of networks with several notations of their names share: files in another one, that
// both answer alike, what a damaged file is refused with, and names in LoRA files.
#pragma once
#include "core/model/merge/lora_map.h"
#include "tests/networks.h"

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
static inline void check_same(nino_weights *a, nino_weights *b, const char *family)
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
