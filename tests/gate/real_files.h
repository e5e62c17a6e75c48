// The files that real workflows name, in the folder of models of this test: the lists of real_nets.h as the models are
// published, without data.
#pragma once
#include "tests/flow.h"
#include "tests/gate/real_nets.h"

#include <errno.h>
#include <sys/stat.h>

// Of a model: its list and how it is stored. Networks of many equal blocks have two of each kind.
static inline const char *real_path(const char *folder, const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/%s", flow_models(), folder);
    CHECK(!mkdir(path, 0700) || errno == EEXIST);
    snprintf(path, sizeof(path), "%s/%s/%s", flow_models(), folder, name);
    return path;
}

static inline void real_file(net_list l, const char *folder, const char *name, nino_dtype matrix,
                             nino_dtype rest)
{
    real_save(&l, real_path(folder, name), matrix, rest, NULL);
}

// is_whole: with all of their blocks.
static inline void real_diffusion(bool is_whole)
{
    static const char folder[] = "diffusion_models";
    net_flux flux = net_flux_dev;
    net_wan a14b = net_wan22_i2v, ti2v = net_wan22_5b;
    net_zimage zimage = net_z_image;
    net_qwen qwen = net_qwen_image;
    if (!is_whole)
        flux.doubles = flux.singles = a14b.layers = ti2v.layers = zimage.layers = qwen.blocks = 2;
    real_file(net_list_unet(&net_sd15, NULL), folder, "sd15.safetensors", NINO_F16, NINO_F16);
    real_file(net_list_unet(&net_sdxl, NULL), folder, "sdxl.safetensors", NINO_F16, NINO_F16);
    real_file(net_list_flux(&flux, NULL), folder, "flux.safetensors", NINO_BF16, NINO_BF16);
    real_file(net_list_flux(&flux, NULL), folder, "flux_fp8.safetensors", NINO_F8_E4M3,
              NINO_F8_E4M3);
    net_list q4 = net_list_flux(&flux, NULL);
    real_save_gguf(&q4, real_path(folder, "flux_q4.gguf"), NINO_Q4_K);
    real_file(net_list_wan(&a14b, NULL), folder, "high.safetensors", NINO_F8_E4M3, NINO_F32);
    real_file(net_list_wan(&a14b, NULL), folder, "low.safetensors", NINO_F8_E4M3, NINO_F32);
    real_file(net_list_wan(&ti2v, NULL), folder, "ti2v.safetensors", NINO_F16, NINO_F16);
    real_file(net_list_zimage(&zimage, NULL), folder, "z_image.safetensors", NINO_BF16, NINO_BF16);
    real_file(net_list_zimage_fun(&zimage, 3, 132, true), "model_patches", "fun.safetensors",
              NINO_BF16, NINO_BF16);
    real_file(net_list_qwen(&qwen, NULL), folder, "qwen_image.safetensors", NINO_BF16, NINO_BF16);
}

static inline void real_text(void)
{
    static const char folder[] = "text_encoders";
    static const char tiny[] = "tests/data/models/text_encoders/umt5_tiny.safetensors";
    net_llm qwen3 = net_qwen3_4b, qwen25 = net_qwen25;
    qwen3.layers = 36;                // which tell how many there are to be
    qwen3.vocab = qwen25.vocab = 482; // of the small tokenizer
    qwen25.layers = qwen25.vision_layers = 2;
    nino_error e;
    nino_weights *w = test_open("%s", tiny);
    const nino_tensor_info *t = nino_weights_find(w, "spiece_model");
    CHECK(t);
    nino_array *words = nino_array_create(NINO_U8, NINO_SHAPE(t->dim[0]));
    CHECK_OK(nino_weights_read(w, t, words->data, &e), e);
    nino_weights_unref(&w);
    net_list umt5 = real_list_t5(256384, true);
    real_save(&umt5, real_path(folder, "umt5.safetensors"), NINO_F8_E4M3, NINO_F32, words);
    nino_array_unref(&words);
    real_file(real_list_t5(32128, false), folder, "t5xxl.safetensors", NINO_F16, NINO_F16);
    real_file(real_list_clip(768, 3072, 12), folder, "clip_l.safetensors", NINO_F16, NINO_F16);
    real_file(real_list_clip(1280, 5120, 32), folder, "clip_g.safetensors", NINO_F16, NINO_F16);
    real_file(net_list_llm(&qwen3), folder, "qwen3_4b.safetensors", NINO_BF16, NINO_BF16);
    real_file(net_list_llm(&qwen25), folder, "qwen25.safetensors", NINO_F8_E4M3, NINO_BF16);
}

static inline void real_vaes(void)
{
    real_file(real_list_kl(4), "vae", "sdxl.safetensors", NINO_F16, NINO_F16);
    real_file(real_list_kl(16), "vae", "flux.safetensors", NINO_BF16, NINO_BF16);
    real_file(real_list_wan_vae(false), "vae", "wan21.safetensors", NINO_BF16, NINO_BF16);
    real_file(real_list_wan_vae(true), "vae", "wan22.safetensors", NINO_BF16, NINO_BF16);
}

static inline void real_files_make(bool is_whole)
{
    CHECK(!mkdir(flow_models(), 0700));
    real_diffusion(is_whole);
    real_text();
    real_vaes();
}
