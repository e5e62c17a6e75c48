// Text encoders in use: textual inversions, what plan says of an encoding, cancelling, what goes
// wrong, numbers beyond f16.
#include "core/op/plan/plan.h"
#include "tests/clip_files.h"

static void test_inversion(nino_stream *s)
{
    static char name[] = "two.safetensors";
    static char *const files[] = { name, NULL };
    nino_array *v = nino_array_create(NINO_F32, NINO_SHAPE(2, 32));
    for (int i = 0; i < 64; i++)
        nino_array_f32(v)[i] = (float) (i % 5) - 2;
    const nino_st_entry e[] = { { "emb_params", v } };
    CHECK_OK(nino_st_save(dir.path, files[0], false, e, 1, NULL, 0, &err), err);
    data.embeddings = dir.path;
    data.files = files;
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *with = encode(s, c, "cat embedding:two dog"), *without = encode(s, c, "cat dog");
    CHECK(is_shape(with->entry[0].context, 77, 32) && near(row(with, 1), row(without, 1), 32));
    CHECK(!near(row(with, 2), row(without, 2), 32));
    nino_cond_unref(&with);
    CHECK(!data.warning[0]);
    with = encode(s, c, "cat embedding:three dog"); // left out, and said so
    CHECK(near(row(with, 0), row(without, 0), 77 * 32) && strstr(data.warning, "three"));
    nino_cond_unref(&with);
    nino_cond_unref(&without);
    nino_clip_unref(&c);
    nino_array_unref(&v);
    data.files = NULL;
    CHECK(unlink(nino_name_of("%s/%s", dir.path, files[0]).s) == 0);
}

static void check_plan(test_device *d, nino_clip_type type, nino_weights *a, nino_weights *b,
                       const char *text)
{
    nino_mem_stat want, got;
    nino_clip *c = load(type, a, b, NULL); // weights are packed anew
    nino_backend *be = nino_plan_open(&d->be->profile, 0, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK(be && s);
    nino_cond *planned = encode(s, c, text);
    nino_pool_stat(be->pool, &want);
    nino_stream_destroy(&s);
    const double flops = be->flops;
    nino_backend_close(&be);
    nino_pool_stat(d->be->pool, &got);
    CHECK(got.in_use == 0);
    nino_pool_reset_peak(d->be->pool);
    const double before = d->be->flops;
    nino_cond *made = encode(d->s, c, text);
    nino_pool_stat(d->be->pool, &got);
    printf("  %s: plan %.3f MiB, run %.3f\n", d->be->impl->name, (double) want.peak / 1048576,
           (double) got.peak / 1048576);
    CHECK(want.peak == got.peak && d->be->flops - before == flops);
    CHECK(nino_shape_equal(&planned->entry[0].context->shape, &made->entry[0].context->shape));
    CHECK(!planned->entry[0].pooled == !made->entry[0].pooled);
    CHECK(zero(nino_array_f32(planned->entry[0].context),
               nino_shape_count(&planned->entry[0].context->shape)));
    nino_cond_unref(&planned);
    nino_cond_unref(&made);
    nino_clip_unref(&c);
}

static void test_plan(test_device *d)
{
    check_plan(d, NINO_CLIP_SD1, file_l, NULL, "cat");
    check_plan(d, NINO_CLIP_SDXL, file_l, file_g, "cat (dog:1.2)");
    check_plan(d, NINO_CLIP_FLUX, file_l, file_t5, "cat");
    check_plan(d, NINO_CLIP_WAN, file_umt5, NULL, "cat dog");
}

static void test_mistakes(test_device *d)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *cond = NULL;
    volatile int cancel = 1;
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = d->be, .precision = NINO_PREC_F32, .cancel = &cancel },
        &err);
    CHECK(s && nino_clip_encode(s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
                   NINO_ERR_CANCELLED);
    CHECK(!cond);
    nino_stream_destroy(&s);
    nino_clip_unref(&c);

    nino_weights *w[] = { file_l };
    CHECK_OK(nino_clip_load(w, 1, NINO_CLIP_SD1, NULL, "lonely", &c, &err), err);
    CHECK(nino_clip_encode(d->s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
          NINO_ERR_MISSING);
    CHECK_STR(err.where, "lonely");
    CHECK(strstr(err.msg, "no tokenizer for its CLIP-L"));
    nino_clip_unref(&c);

    // a vocabulary that is too small for the tokenizer
    const random_text few = { .width = 32, .layers = 1, .mlp = 8, .vocab = 400 };
    nino_weights *small = random_text_file(&dir, "small", &few, 1, NULL);
    c = load(NINO_CLIP_SD1, small, NULL, NULL);
    CHECK(nino_clip_encode(d->s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
          NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "token 518") && strstr(err.msg, "only 400"));
    nino_clip_unref(&c);
    nino_weights_unref(&small);
}

// Numbers beyond f16: the prompt is encoded again in f32, and the stream is as before.
static void test_overflow(test_device *d)
{
    const random_text t = { .width = 32, .layers = 1, .mlp = 8 };
    nino_weights *w = random_text_file(&dir, "big", &t, 1, NULL);
    const nino_tensor_info *pos =
        nino_weights_find(w, "text_model.embeddings.position_embedding.weight");
    const float big = 1e6f;
    FILE *f = fopen(nino_name_of("%s/big", dir.path).s, "r+");
    CHECK(f && fseek(f, (long) pos->offset, SEEK_SET) == 0 && fwrite(&big, 4, 1, f) == 1 &&
          fclose(f) == 0);
    nino_clip *c = load(NINO_CLIP_SD1, w, NULL, NULL);
    nino_cond *a = encode(d->s, c, "cat");
    nino_stream_set_precision(d->s, NINO_PREC_F16);
    nino_cond *b = encode(d->s, c, "cat");
    CHECK(nino_stream_precision(d->s) == NINO_PREC_F16);
    nino_stream_set_precision(d->s, NINO_PREC_F32);
    CHECK(
        !memcmp(a->entry[0].context->data, b->entry[0].context->data, a->entry[0].context->bytes));
    nino_cond_unref(&a);
    nino_cond_unref(&b);
    nino_clip_unref(&c);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const files[] = { "small", "big", NULL };
    test_device d;
    clip_files_open();
    CHECK(test_device_open(&d, "ref", 0));
    test_inversion(d.s);
    test_plan(&d);
    test_mistakes(&d);
    test_overflow(&d);
    test_device_close(&d);
    if (test_device_open(&d, "cl", 0)) {
        test_plan(&d);
        test_device_close(&d);
    }
    clip_files_close(files);
    return 0;
}
