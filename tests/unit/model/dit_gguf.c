// FLUX.2, Qwen-Image, Z-Image and a ControlNet for it in GGUF, as converters of ComfyUI's files write
// them: matrices in blocks of each kind that such files have, the rest in 16 and 32 bits. The same network of the
// values that those blocks stand for gives the same, and blocks stay blocks.
#include "tests/random_dit.h"

#include "core/harness/kernel_check.h"
#include "core/model/detect.h"
#include "core/model/diffusion/model_patch.h"
#include "core/op/raw.h"
#include "tests/gguf_tokens.h"
#include "tests/networks.h"

// Rows of 256 and more, which K-quants need.
static const net_flux2 klein = { 256, 128, 1, 1, 128, 512, 256, false };
static const net_qwen qwen = { 256, 128, 2, 512, 256, false };
static const net_zimage z = { 256, 128, 1, 1, 512, 256, 256, 256 };

static const struct {
    nino_dtype type;
    uint32_t number; // in files
} types[] = { { NINO_Q8_0, 8 },  { NINO_Q4_0, 2 },  { NINO_Q5_1, 7 },  { NINO_Q2_K, 10 },
              { NINO_Q3_K, 11 }, { NINO_Q4_K, 12 }, { NINO_Q5_K, 13 }, { NINO_Q6_K, 14 } };
enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

// Matrices of whole blocks are random ones, small or odd ones BF16, the rest F32.
static void write_gguf(const net_list *l, const char *arch, int type, const char *path)
{
    nino_buf head = { 0 }, data = { 0 };
    uint64_t rng = 11;
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) l->n);
    gguf_u64(&head, 1);
    gguf_text(&head, "general.architecture", arch);
    for (int i = 0; i < l->n; i++) {
        const net_tensor *t = &l->t[i];
        const nino_shape shape = nino_shape_make(t->rank, t->dim);
        const bool is_block = t->rank == 2 && t->dim[1] % 256 == 0;
        nino_array *a = is_block ? nino_check_blocks(shape, types[type].type, &rng)
                                 : test_values(shape, (uint64_t) i + 1);
        CHECK(a);
        if (t->rank == 2 && !is_block) {
            nino_array *half = nino_array_convert(a, NINO_BF16);
            nino_array_unref(&a);
            a = half;
        }
        gguf_string(&head, t->name);
        gguf_u32(&head, (uint32_t) t->rank);
        for (int k = t->rank; k-- > 0;)
            gguf_u64(&head, (uint64_t) t->dim[k]);
        gguf_u32(&head, is_block ? types[type].number : t->rank == 2 ? 30 : 0);
        gguf_u64(&head, data.len);
        nino_buf_add(&data, a->data, a->bytes);
        gguf_pad(&data);
        nino_array_unref(&a);
    }
    gguf_save(&head, &data, path);
}

// What its blocks stand for.
static nino_weights *as_numbers(const nino_weights *w)
{
    for (int i = 0; i < nino_weights_count(w); i++)
        put(tensor(w, nino_weights_at(w, i)), nino_weights_at(w, i)->name);
    return save_copy("numbers");
}

static nino_array *answer(const nino_diffusion *d, const nino_pass *pass)
{
    inputs p;
    fill(&p, d, 1, 4, 6, 5);
    p.in.pass = pass;
    if (!strcmp(d->family, "qwen_image"))
        p.owned[0]->shape = NINO_SHAPE(1, 1, 4, 6, 16);
    nino_array *out = test_forward(dev.s, d, &p.in);
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    drop(&p);
    return out;
}

// Matrices that stay blocks on a device.
static int count_blocks(const nino_layers *layers)
{
    int n = 0;
    nino_raw_layout l;
    for (const nino_layers_item *i = layers->items; i; i = i->next)
        n +=
            i->weight && nino_dtype_is_block(i->weight->dtype) && nino_raw_layout_of(i->weight, &l);
    return n;
}

static void check(net_list l, const char *arch, const char *family, int type, int blocks,
                  double most)
{
    char path[300];
    nino_detected found;
    snprintf(path, sizeof(path), "%s/net.gguf", dir.path);
    write_gguf(&l, arch, type, path);
    free(l.t);
    nino_weights *w = test_open("%s", path), *numbers = as_numbers(w);
    nino_detect(w, &found);
    CHECK_STR(found.diffusion, family[0] == 'f' ? "flux2" : family);
    CHECK(strstr(found.quantisation, nino_dtype_name(types[type].type)));
    nino_diffusion *d = test_diffusion(w, family), *e = test_diffusion(numbers, family);
    nino_array *a = answer(d, NULL), *b = answer(e, NULL);
    const double far = test_nmse(a, b);
    printf("  %s %s: %d matrices of blocks, NMSE %.1e\n", family, nino_dtype_name(types[type].type),
           count_blocks(&d->layers), far);
    CHECK(count_blocks(&d->layers) >= blocks && !count_blocks(&e->layers) && far <= most);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&w);
    nino_weights_unref(&numbers);
}

// The same of a Fun ControlNet, in a transformer of numbers.
static void check_fun(int type, double most)
{
    char path[300];
    nino_array *got[3], *hint = test_values(NINO_SHAPE(1, 4, 6, 33), 5);
    nino_block_net *nets[2];
    nino_weights *base = made(net_list_zimage(&z, NULL), "base");
    nino_diffusion *d = test_diffusion(base, "z_image");
    snprintf(path, sizeof(path), "%s/net.gguf", dir.path);
    net_list l = net_list_zimage_fun(&z, 3, 132, true);
    write_gguf(&l, "lumina2", type, path);
    free(l.t);
    nino_weights *w = test_open("%s", path), *files[] = { w, as_numbers(w) };
    for (int i = 0; i < 2; i++) {
        CHECK_OK(nino_model_patch_load(files[i], "fun", &nets[i], &err), err);
        const nino_block_use use = { .net = nets[i], .strength = 1 };
        const nino_patch patch = { .kind = NINO_PATCH_BLOCK_CONTROL,
                                   .control = (nino_block_use *) &use };
        const nino_pass pass = {
            .patch = &patch, .n_patches = 1, .active = 1, .images = 1, .hint = &hint
        };
        got[i] = answer(d, &pass);
    }
    got[2] = answer(d, NULL);
    const double far = test_nmse(got[0], got[1]);
    printf("  Fun ControlNet %s: %d matrices of blocks, NMSE %.1e\n",
           nino_dtype_name(types[type].type), count_blocks(&nets[0]->layers), far);
    CHECK(count_blocks(&nets[0]->layers) >= 50 && !count_blocks(&nets[1]->layers) && far <= most);
    CHECK(test_nmse(got[2], got[0]) > 1e-4);
    for (int i = 0; i < 2; i++) {
        nino_block_net_unref(&nets[i]);
        nino_weights_unref(&files[i]);
    }
    for (int i = 0; i < 3; i++)
        nino_array_unref(&got[i]);
    nino_array_unref(&hint);
    nino_diffusion_unref(&d);
    nino_weights_unref(&base);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl" };
    dir = test_dir_create();
    for (int k = 0; k < 2; k++) {
        if (!test_device_open(&dev, devices[k], 0))
            continue;
        printf("%s\n", devices[k]);
        // a device takes products of each kind with a program of its own: two kinds there
        for (int i = 0; i < N_TYPES; i++) {
            const double most = k ? 1e-9 : 1e-14;
            if (k && types[i].type != NINO_Q8_0 && types[i].type != NINO_Q4_K)
                continue;
            check(net_list_flux2(&klein, NULL), "flux", "flux2_klein", i, 12, most);
            check(net_list_qwen(&qwen, NULL), "qwen_image", "qwen_image", i, 20, most);
            check(net_list_zimage(&z, NULL), "lumina2", "z_image", i, 12, most);
            if (types[i].type == NINO_Q8_0 || types[i].type == NINO_Q4_K)
                check_fun(i, most);
        }
        // leejet's files keep the prefix
        check(net_list_zimage(&z, "model.diffusion_model."), "lumina2", "z_image", 0, 12, 1e-9);
        test_device_close(&dev);
    }
    test_dir_remove(&dir, (const char *const[]){ "net.gguf", "numbers", "base", NULL });
    return 0;
}
