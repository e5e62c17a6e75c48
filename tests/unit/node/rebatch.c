// RebatchLatents and RebatchImages: sizes, masks and indices of the new batches; lists as values.
#include "tests/node.h"

static nino_value *latent(int64_t n, int64_t w, float first, const char *index)
{
    nino_value *v = nino_value_create(NINO_PORT_LATENT);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, 1, w, 1));
    CHECK(v && a);
    for (int64_t i = 0; i < n * w; i++)
        nino_array_f32(a)[i] = first + (float) (i / w);
    v->u.latent.samples = a;
    if (index) {
        v->u.latent.batch_index = calloc((size_t) n, sizeof(int64_t));
        CHECK(v->u.latent.batch_index != NULL);
        for (int64_t i = 0; i < n; i++)
            v->u.latent.batch_index[i] = index[i] - '0';
    }
    return v;
}

static void mask(nino_value *v, float value)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 8, 8));
    CHECK(a != NULL);
    for (int i = 0; i < 64; i++)
        nino_array_f32(a)[i] = value;
    v->u.latent.noise_mask = a;
}

// Item i holds n entries, the first of value `first`, and indices `index`.
static const nino_latent *item(int i, int64_t n, float first, const char *index)
{
    const nino_value *v = nino_value_at(node.out[0], i);
    CHECK(v && v->type == NINO_PORT_LATENT && !v->is_list);
    const nino_latent *l = &v->u.latent;
    CHECK(l->samples->shape.dim[0] == n && nino_array_f32(l->samples)[0] == first);
    for (int64_t k = 0; k < n; k++)
        CHECK(l->batch_index[k] == index[k] - '0');
    return l;
}

static nino_value *list_of(nino_value *a, nino_value *b, nino_value *c)
{
    nino_value *v = nino_value_create_list(a->type);
    CHECK(v && nino_value_append(v, a) && nino_value_append(v, b));
    CHECK(!c || nino_value_append(v, c));
    return v;
}

static void test_latents(void)
{
    node_new("RebatchLatents");
    node_set("batch_size", "2");
    node_give("latents", latent(5, 2, 0, NULL)); // one value is a list of one
    CHECK_OK(node_try(), node.err);
    CHECK(nino_value_count(node.out[0]) == 3);
    CHECK(!item(0, 2, 0, "01")->noise_mask); // white ones go
    item(1, 2, 2, "23");
    item(2, 1, 4, "4");

    // across values, where the sizes agree; a part of a batch is masked
    nino_value *b = latent(2, 2, 10, "78");
    mask(b, 0.25f);
    node_give("latents", list_of(latent(3, 2, 0, NULL), b, latent(1, 3, 20, NULL)));
    CHECK_OK(node_try(), node.err);
    CHECK(nino_value_count(node.out[0]) == 4);
    item(0, 2, 0, "01");
    const nino_latent *l = item(1, 2, 2, "27");
    CHECK(l->noise_mask && l->noise_mask->shape.dim[1] == 8 && l->noise_mask->shape.dim[2] == 16);
    CHECK(nino_array_f32(l->noise_mask)[0] == 1 && nino_array_f32(l->noise_mask)[128] == 0.25f);
    CHECK(nino_array_f32(l->samples)[2] == 10);
    CHECK(item(2, 1, 11, "8")->noise_mask != NULL);
    item(3, 1, 20, "5"); // counted on from those before

    node_set("batch_size", "4"); // all of it fits exactly, and is kept for what follows
    node_give("latents", list_of(latent(4, 2, 0, NULL), latent(1, 2, 4, NULL), NULL));
    CHECK_OK(node_try(), node.err);
    CHECK(nino_value_count(node.out[0]) == 2);
    item(0, 4, 0, "0123");
    item(1, 1, 4, "4");
}

static void test_images(void)
{
    node_new("RebatchImages");
    node_set("batch_size", "2");
    nino_value *a = nino_value_create(NINO_PORT_IMAGE), *b = nino_value_create(NINO_PORT_IMAGE);
    a->u.image = A(SHAPE(1, 1, 1, 3), 0, 1, 2);
    b->u.image = A(SHAPE(2, 1, 1, 3), 3, 4, 5, 6, 7, 8);
    node_give("images", list_of(a, b, NULL));
    CHECK_OK(node_try(), node.err);
    CHECK(nino_value_count(node.out[0]) == 2);
    const nino_array *first = nino_value_at(node.out[0], 0)->u.image;
    CHECK(first->shape.dim[0] == 2 && nino_array_f32(first)[5] == 5);
    CHECK(nino_value_at(node.out[0], 1)->u.image->shape.dim[0] == 1);
    a = nino_value_create(NINO_PORT_IMAGE), b = nino_value_create(NINO_PORT_IMAGE);
    a->u.image = A(SHAPE(1, 1, 1, 3), 0, 1, 2);
    b->u.image = A(SHAPE(1, 1, 2, 3), 3, 4, 5, 6, 7, 8);
    node_give("images", list_of(a, b, NULL)); // of different sizes
    node_fails("shape", "");
}

static void test_values(void)
{
    nino_value *list = nino_value_create_list(NINO_PORT_LATENT), *one = latent(1, 1, 3, NULL);
    CHECK(nino_value_count(list) == 0 && !nino_value_at(list, 0));
    CHECK(nino_value_count(NULL) == 0 && !nino_value_at(NULL, 3));
    CHECK(nino_value_count(one) == 1 && nino_value_at(one, 3) == one);
    const uint64_t bytes = nino_value_bytes(list);
    CHECK(nino_value_append(list, one) && nino_value_append(list, NULL));
    CHECK(nino_value_count(list) == 2 && nino_value_at(list, 0) == one && !nino_value_at(list, 9));
    CHECK(nino_value_bytes(list) > bytes);
    nino_value *both = list_of(nino_value_ref(list), nino_value_ref(one), NULL);
    CHECK(nino_value_count(both) == 3 && one->refs == 3); // lists do not nest
    nino_value_unref(&both);
    nino_value_unref(&list);
}

int main(void)
{
    node_open();
    test_latents();
    test_images();
    test_values();
    node_close();
    return 0;
}
