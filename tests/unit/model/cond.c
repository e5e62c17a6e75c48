// Conditioning lists: defaults, copies share arrays but not entries, joining, bytes.
#include "core/model/cond/cond.h"
#include "tests/test.h"

static nino_array *numbers(int64_t n, float first)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, n));
    CHECK(a != NULL);
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(a)[i] = first + (float) i;
    return a;
}

static nino_cond *prompt(float first)
{
    nino_cond *c = nino_cond_create(1);
    CHECK(c != NULL);
    c->entry[0].context = numbers(8, first);
    c->entry[0].context_mask = numbers(3, first);
    c->entry[0].pooled = numbers(2, first);
    c->entry[0].refs = calloc(1, sizeof(nino_array *));
    CHECK(c->entry[0].refs != NULL);
    c->entry[0].refs[0] = numbers(4, first);
    c->entry[0].n_refs = 1;
    return c;
}

static void test_defaults(void)
{
    nino_cond *none = nino_cond_create(0), *two = nino_cond_create(2);
    CHECK(none && none->n == 0 && two && two->n == 2);
    for (int i = 0; i < 2; i++) {
        const nino_cond_entry *e = &two->entry[i];
        CHECK(e->strength == 1 && e->mask_strength == 1 && e->start == 0 && e->end == 1);
        CHECK(!e->context && !e->pooled && e->area_kind == NINO_AREA_NONE && !e->has_guidance);
    }
    nino_cond_unref(&none);
    nino_cond_unref(&two);
    CHECK(!none && !two);
    nino_cond_unref(&none); // nothing: fine
    CHECK(nino_cond_ref(NULL) == NULL && nino_cond_bytes(NULL) == 0);
}

static void test_copy(void)
{
    nino_cond *a = prompt(1);
    nino_cond *b = nino_cond_copy(a);
    CHECK(b && b != a && b->n == 1 && b->entry != a->entry);
    CHECK(b->entry[0].context == a->entry[0].context && a->entry[0].context->refs == 2);
    CHECK(b->entry[0].context_mask == a->entry[0].context_mask);
    CHECK(b->entry[0].refs != a->entry[0].refs && b->entry[0].refs[0] == a->entry[0].refs[0]);
    b->entry[0].strength = 0.5; // its own
    CHECK(a->entry[0].strength == 1);
    nino_array *zero = numbers(8, 0);
    nino_cond_set_array(&b->entry[0].context, zero);
    CHECK(zero->refs == 2 && a->entry[0].context->refs == 1);
    nino_cond_set_array(&b->entry[0].context, zero); // the same again
    CHECK(zero->refs == 2);
    nino_cond_set_array(&b->entry[0].pooled, NULL);
    CHECK(!b->entry[0].pooled && a->entry[0].pooled->refs == 1);
    nino_array_unref(&zero);
    nino_cond_unref(&a);
    CHECK(nino_array_f32(b->entry[0].refs[0])[0] == 1);
    nino_cond_unref(&b);
}

static void test_join(void)
{
    nino_cond *a = prompt(1), *b = prompt(100);
    const uint64_t bytes = nino_cond_bytes(a);
    CHECK(bytes >= 17 * sizeof(float));
    nino_cond *c = nino_cond_join(a, b), *same = nino_cond_ref(c);
    CHECK(c && c->n == 2 && same == c && c->refs == 2);
    nino_cond_unref(&a);
    nino_cond_unref(&b);
    nino_cond_unref(&same);
    CHECK(nino_array_f32(c->entry[0].context)[0] == 1);
    CHECK(nino_array_f32(c->entry[1].context)[7] == 107);
    CHECK(nino_cond_bytes(c) == 2 * bytes - sizeof(nino_cond));
    nino_cond_unref(&c);
}

int main(void)
{
    test_defaults();
    test_copy();
    test_join();
    return 0;
}
