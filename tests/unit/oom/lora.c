// Every allocation fails once while a LoRA is read, matched with a network, and changes weights: a
// clean "nomem", nothing leaks.
#include "tests/oom.h"

#include "core/model/loader.h"
#include "tests/lora.h"
#include "tests/random_net.h"

static nino_error err;
static test_dir dir;
static nino_weights *net, *file, *flux_file;
static nino_model *flux;

static bool done(nino_status st, int may_fail) { return oom_passed(st, &err, may_fail); }

static void make_files(void)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    lora_made m = { .seed = 1 };
    for (int i = 0; i < 5; i++)
        lora_tensor(&m, nino_name_of("%s.weight", names[i]).s, NINO_SHAPE(4, 6));
    net = lora_save(&m, &dir, "net");
    lora_forget(&m);
    lora_tensor(&m, "a.lora_up.weight", NINO_SHAPE(4, 2));
    lora_tensor(&m, "a.lora_down.weight", NINO_SHAPE(2, 6));
    lora_tensor(&m, "a.dora_scale", NINO_SHAPE(1, 6));
    lora_number(&m, "a.alpha", 1);
    lora_tensor(&m, "b.hada_w1_a", NINO_SHAPE(4, 2));
    lora_tensor(&m, "b.hada_w1_b", NINO_SHAPE(2, 6));
    lora_tensor(&m, "b.hada_w2_a", NINO_SHAPE(4, 2));
    lora_tensor(&m, "b.hada_w2_b", NINO_SHAPE(2, 6));
    lora_tensor(&m, "c.lokr_w1", NINO_SHAPE(2, 3));
    lora_tensor(&m, "c.lokr_w2_a", NINO_SHAPE(2, 1));
    lora_tensor(&m, "c.lokr_w2_b", NINO_SHAPE(1, 2));
    lora_tensor(&m, "d.oft_blocks", NINO_SHAPE(2, 2, 2, 2));
    lora_tensor(&m, "d.rescale", NINO_SHAPE(4, 1));
    lora_tensor(&m, "e.a1.weight", NINO_SHAPE(6, 2));
    lora_tensor(&m, "e.a2.weight", NINO_SHAPE(2, 6));
    lora_tensor(&m, "e.b1.weight", NINO_SHAPE(4, 2));
    lora_tensor(&m, "e.b2.weight", NINO_SHAPE(2, 6));
    file = lora_save(&m, &dir, "lora");
    lora_forget(&m);
}

static void make_flux(void)
{
    static const net_flux tiny = { 64, 32, 1, 1, 16, 20, 12, true };
    char path[64];
    lora_made m = { .seed = 2 };
    net_list l = net_list_flux(&tiny, NULL);
    snprintf(path, sizeof(path), "%s/flux", dir.path);
    net_save(&l, path, NINO_BF16, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    nino_diffusion *d = NULL;
    CHECK_OK(nino_diffusion_load(w, "flux", &d, &err), err);
    CHECK((flux = nino_model_create(d)));
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    lora_tensor(&m, "transformer.proj_out.diff", NINO_SHAPE(64, 64));
    lora_tensor(&m, "transformer.proj_out.diff_b", NINO_SHAPE(64));
    flux_file = lora_save(&m, &dir, "flux_lora");
    lora_forget(&m);
}

static void read_all(const nino_weights *view, int may_fail)
{
    for (int i = 0; i < nino_weights_count(view); i++) {
        nino_array *a = nino_weights_read_f32(view, nino_weights_at(view, i), &err);
        CHECK(a || (may_fail && oom.fired && err.code == NINO_ERR_NOMEM));
        nino_array_unref(&a);
    }
}

static void values(int may_fail)
{
    nino_lora *l = NULL;
    nino_lora_stack *s = NULL;
    nino_weights *view = NULL;
    lora_map map = { 0 };
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    for (int i = 0; i < 5; i++)
        lora_map_add(&map, net, nino_name_of("%s.weight", names[i]).s, "", names[i], 0, 0, 0);
    if (done(lora_map_finish(&map, "test", &err), may_fail) &&
        done(nino_lora_open(file, "lora", &l, &err), may_fail)) {
        s = lora_stack_push(NULL, l, 0.5);
        CHECK(s || (may_fail && oom.fired));
        if (s && done(lora_view(net, &map, s, LORA_TO_MULTIPLY, &view, &err), may_fail)) {
            CHECK(view != net);
            read_all(view, may_fail);
        }
    }
    nino_weights_unref(&view);
    nino_lora_stack_unref(&s);
    nino_lora_unref(&l);
    lora_map_release(&map);
}

static void network(int may_fail)
{
    nino_lora *l = NULL;
    nino_model *out = NULL;
    if (done(nino_lora_open(flux_file, "lora", &l, &err), may_fail) &&
        done(nino_model_with_lora(flux, l, 1, false, NULL, &out, &err), may_fail))
        CHECK(out != flux);
    nino_model_unref(&out);
    nino_lora_unref(&l);
}

int main(void)
{
    dir = test_dir_create();
    const long live = oom.live;
    make_files();
    make_flux();
    printf("  values: %ld allocations\n", oom_each(values));
    printf("  network: %ld allocations\n", oom_each(network));
    nino_model_unref(&flux);
    nino_weights_unref(&net);
    nino_weights_unref(&file);
    nino_weights_unref(&flux_file);
    CHECK(oom.live == live); // models with a LoRA have left nothing of the one without
    test_dir_remove(&dir, (const char *const[]){ "net", "lora", "flux", "flux_lora", NULL });
    return 0;
}
