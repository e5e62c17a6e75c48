// The workflows whose plans bench/plans.c prints: models by published shapes, as ComfyUI's examples
// run them.
#pragma once
#include "core/base/buf.h"
#include "tests/vae.h"
#include <ninodes/ninodes.h>

// ---- workflows -------------------------------------------------------------------------------
typedef struct run run;
typedef void print_fn(nino_buf *b, const run *r);
static print_fn print_pair, print_5b, print_flux, print_sdxl, print_sd15, print_vae, print_qwen,
    print_zimage, print_flux2, print_sd3, print_chroma;
struct run {
    const char *title;
    int width, height, frames; // frames 0: a picture
    print_fn *print;
    const char *model, *text; // of pictures: files
    int steps, refs;          // refs: pictures to go by
    double cfg;               // of Qwen-Image: above 1, a step takes two evaluations
    const char *published;    // by others about such a device; NULL: no part of the forecast
};

static const run runs[] = {
    { "WAN 2.2 A14B image to video, 320x320, 17 frames", 320, 320, 17, .print = print_pair,
      .published = "93 s, of which the VAE 7.5 (iGavroche/rocm-ninodes, README; steps not given)" },
    { "WAN 2.2 A14B image to video, 1280x720, 81 frames", 1280, 720, 81, .print = print_pair },
    { "WAN 2.2 5B image to video, 1280x704, 121 frames", 1280, 704, 121, .print = print_5b,
      .published = "none known to us" },
    { "FLUX.1 dev, 1024x1024, 20 steps", 1024, 1024, .print = print_flux,
      .published = "110 s (iGavroche/rocm-ninodes, README; steps not given)" },
    { "SDXL, 1024x1024, 20 steps of two evaluations", 1024, 1024, .print = print_sdxl,
      .published = "none known to us" },
    { "SD1.5, 512x512, 20 steps of two evaluations", 512, 512, .print = print_sd15 },
    { "VAE of SDXL, 1024x1024", 1024, 1024, .print = print_vae,
      .published = "5 to 10 s for 1600x1280 on Strix Point, a smaller chip (ROCm/TheRock#2591)" },
    { "Qwen-Image text to image, 1328x1328, 20 steps, guidance 2.5", 1328, 1328,
      .print = print_qwen, .steps = 20, .cfg = 2.5,
      .published = "355 s (kyuz0, as above); 359 s elsewhere, whose source is not known to us" },
    { "Qwen-Image text to image, 1328x1328, 4 steps, guidance 1", 1328, 1328, .print = print_qwen,
      .steps = 4, .cfg = 1,
      .published = "72 s (kyuz0, as above); 75 s elsewhere, whose source is not known to us" },
    { "Z-Image-Turbo, 1024x1024, 8 steps, bf16", 1024, 1024, .print = print_zimage,
      .model = "z_image", .text = "qwen3_4b", .steps = 8,
      .published = "about 10 s, the first time 30 (IgnatBeresnev/comfyui-gfx1151#1, ComfyUI's "
                   "template); 10 to 20 s elsewhere, whose source is not known to us" },
    { "FLUX.2 klein 4B, 1024x1024, 4 steps, bf16", 1024, 1024, .print = print_flux2,
      .model = "klein_4b", .text = "qwen3_4b", .steps = 4, .published = "none known to us" },
    { "FLUX.2 klein 4B, 1024x1024 from a picture, 4 steps, bf16", 1024, 1024, .print = print_flux2,
      .model = "klein_4b", .text = "qwen3_4b", .steps = 4, .refs = 1 },
    { "FLUX.2 klein 9B, 1024x1024, 4 steps, 8-bit floats", 1024, 1024, .print = print_flux2,
      .model = "klein_9b", .text = "qwen3_8b", .steps = 4 },
    { "SD3.5 medium, 1024x1024, 28 steps of two evaluations, f16", 1024, 1024, .print = print_sd3,
      .model = "sd35_medium", .steps = 28, .cfg = 5 },
    { "SD3.5 large, 1024x1024, 28 steps of two evaluations, 8-bit floats", 1024, 1024,
      .print = print_sd3, .model = "sd35_large", .steps = 28, .cfg = 4.5 },
    { "Chroma, 1024x1024, 26 steps of two evaluations, bf16", 1024, 1024, .print = print_chroma,
      .model = "chroma", .text = "t5xxl", .steps = 26, .cfg = 4 },
};

// ComfyUI's example: 20 steps, the second expert from the tenth on.
static void print_pair(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'high.safetensors', "
        "'weight_dtype': 'default'}}, '2': {'class_type': 'UNETLoader', 'inputs': {'unet_name': "
        "'low.safetensors', 'weight_dtype': 'default'}}, '8': {'class_type': 'VAELoader', "
        "'inputs': {'vae_name': 'wan21.safetensors'}}, '10': {'class_type': 'WanImageToVideo', "
        "'inputs': {'positive': ['6', 0], 'negative': ['7', 0], 'vae': ['8', 0], 'width': %d, "
        "'height': %d, 'length': %d, 'batch_size': 1, 'start_image': ['9', 0]}}, ",
        r->width, r->height, r->frames);
    for (int i = 0; i < 2; i++)
        nino_buf_addf(
            b,
            "'%d': {'class_type': 'ModelSamplingSD3', 'inputs': {'model': ['%d', 0], 'shift': 8}}, "
            "'%d': {'class_type': 'KSamplerAdvanced', 'inputs': {'model': ['%d', 0], 'add_noise': "
            "'%s', 'noise_seed': 0, 'steps': 20, 'cfg': 3.5, 'sampler_name': 'euler', 'scheduler': "
            "'simple', 'positive': ['10', 0], 'negative': ['10', 1], 'latent_image': ['%d', %d], "
            "'start_at_step': %d, 'end_at_step': %d, 'return_with_leftover_noise': '%s'}}, ",
            3 + i, 1 + i, 11 + i, 3 + i, i ? "disable" : "enable", i ? 11 : 10, i ? 0 : 2, 10 * i,
            i ? 10000 : 10, i ? "disable" : "enable");
}

static void print_5b(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'ti2v.safetensors', "
        "'weight_dtype': 'default'}}, '8': {'class_type': 'VAELoader', 'inputs': {'vae_name': "
        "'wan22.safetensors'}}, '3': {'class_type': 'ModelSamplingSD3', 'inputs': {'model': ['1', "
        "0], 'shift': 8}}, '10': {'class_type': 'Wan22ImageToVideoLatent', 'inputs': {'vae': ['8', "
        "0], 'width': %d, 'height': %d, 'length': %d, 'batch_size': 1, 'start_image': ['9', 0]}}, "
        "'12': {'class_type': 'KSampler', 'inputs': {'model': ['3', 0], 'seed': 0, 'steps': 30, "
        "'cfg': 5, 'sampler_name': 'uni_pc', 'scheduler': 'simple', 'positive': ['6', 0], "
        "'negative': ['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}, ",
        r->width, r->height, r->frames);
}

// The pictures' text and sampler, of FLUX.1, SDXL and SD1.5, which has one encoder. model: a file's name, of
// a GGUF file with its end.
static void print_sampled(nino_buf *b, const char *model, const char *text, const char *type,
                          int cfg)
{
    const bool is_gguf = strstr(model, ".gguf") != NULL;
    nino_buf_addf(b, "'1': {'class_type': '%s', 'inputs': {'unet_name': '%s%s'}}, ",
                  is_gguf ? "UnetLoaderGGUF" : "UNETLoader", model, is_gguf ? "" : ".safetensors");
    if (text)
        nino_buf_addf(b,
                      "'5': {'class_type': 'DualCLIPLoader', 'inputs': {'clip_name1': "
                      "'clip_l.safetensors', 'clip_name2': '%s.safetensors', 'type': '%s'}}, ",
                      text, type);
    else
        nino_buf_addf(b,
                      "'5': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
                      "'clip_l.safetensors', 'type': '%s'}}, ",
                      type);
    nino_buf_addf(
        b,
        "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': 'a cat'}}, "
        "'7': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': 'blurry'}}, "
        "'12': {'class_type': 'KSampler', 'inputs': {'model': ['1', 0], 'seed': 0, 'steps': 20, "
        "'cfg': %d, 'sampler_name': 'euler', 'scheduler': 'simple', 'positive': ['6', 0], "
        "'negative': ['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}, ",
        cfg);
}

static void print_decoded(nino_buf *b, const run *r, const char *vae, const char *empty, int latent)
{
    nino_buf_addf(
        b,
        "'8': {'class_type': 'VAELoader', 'inputs': {'vae_name': '%s.safetensors'}}, "
        "'10': {'class_type': '%s', 'inputs': {'width': %d, 'height': %d, 'batch_size': 1}}, "
        "'13': {'class_type': 'VAEDecode', 'inputs': {'samples': ['%d', 0], 'vae': ['8', 0]}}, "
        "'14': {'class_type': 'PreviewImage', 'inputs': {'images': ['13', 0]}}}",
        vae, empty, r->width, r->height, latent);
}

static void print_flux(nino_buf *b, const run *r)
{
    print_sampled(b, r->model ? r->model : "flux", "t5xxl", "flux", 1);
    print_decoded(b, r, "flux", "EmptySD3LatentImage", 12);
}

static void print_sdxl(nino_buf *b, const run *r)
{
    print_sampled(b, "sdxl", "clip_g", "sdxl", 7);
    print_decoded(b, r, "sdxl", "EmptyLatentImage", 12);
}

static void print_sd15(nino_buf *b, const run *r)
{
    print_sampled(b, "sd15", NULL, "stable_diffusion", 7);
    print_decoded(b, r, "sdxl", "EmptyLatentImage", 12);
}

static void print_vae(nino_buf *b, const run *r)
{
    print_decoded(b, r, "sdxl", "EmptyLatentImage", 10);
}

// A prompt of a hundred tokens, which is what the published runs have.
static void print_qwen(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'qwen_image.safetensors', "
        "'weight_dtype': 'default'}}, '3': {'class_type': 'ModelSamplingAuraFlow', 'inputs': "
        "{'model': ['1', 0], 'shift': 3.1}}, '5': {'class_type': 'CLIPLoader', 'inputs': "
        "{'clip_name': 'qwen25.safetensors', 'type': 'qwen_image'}}, '7': {'class_type': "
        "'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': ''}}, '8': {'class_type': "
        "'VAELoader', 'inputs': {'vae_name': 'wan21.safetensors'}}, '10': {'class_type': "
        "'EmptySD3LatentImage', 'inputs': {'width': %d, 'height': %d, 'batch_size': 1}}, '12': "
        "{'class_type': 'KSampler', 'inputs': {'model': ['3', 0], 'seed': 0, 'steps': %d, 'cfg': "
        "%g, 'sampler_name': 'euler', 'scheduler': 'simple', 'positive': ['6', 0], 'negative': "
        "['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}, '13': {'class_type': 'VAEDecode', "
        "'inputs': {'samples': ['12', 0], 'vae': ['8', 0]}}, '14': {'class_type': 'PreviewImage', "
        "'inputs': {'images': ['13', 0]}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': "
        "{'clip': ['5', 0], 'text': '",
        r->width, r->height, r->steps, r->cfg);
    for (int i = 0; i < 96; i++)
        nino_buf_addf(b, "%scat", i ? " " : "");
    nino_buf_addf(b, "'}}}");
}

static void print_loaders(nino_buf *b, const run *r, const char *type, const char *vae)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s.safetensors', "
        "'weight_dtype': 'default'}}, '5': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
        "'%s.safetensors', 'type': '%s'}}, '8': {'class_type': 'VAELoader', 'inputs': {'vae_name': "
        "'%s.safetensors'}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], "
        "'text': 'a cat'}}, '7': {'class_type': 'ConditioningZeroOut', 'inputs': {'conditioning': "
        "['6', 0]}}, '13': {'class_type': 'VAEDecode', 'inputs': {'samples': ['12', 0], 'vae': "
        "['8', 0]}}, '14': {'class_type': 'PreviewImage', 'inputs': {'images': ['13', 0]}}, ",
        r->model, r->text, type, vae);
}

// ComfyUI's example of Z-Image-Turbo.
static void print_zimage(nino_buf *b, const run *r)
{
    print_loaders(b, r, "lumina2", "flux");
    nino_buf_addf(
        b,
        "'3': {'class_type': 'ModelSamplingAuraFlow', 'inputs': {'model': ['1', 0], 'shift': 3}}, "
        "'10': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': %d, 'height': %d, "
        "'batch_size': 1}}, '12': {'class_type': 'KSampler', 'inputs': {'model': ['3', 0], 'seed': "
        "0, 'steps': %d, 'cfg': 1, 'sampler_name': 'res_multistep', 'scheduler': 'simple', "
        "'positive': ['6', 0], 'negative': ['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}}",
        r->width, r->height, r->steps);
}

// ComfyUI's examples of FLUX.2 klein, distilled.
static void print_flux2(nino_buf *b, const run *r)
{
    print_loaders(b, r, "flux2", "flux2");
    if (r->refs)
        nino_buf_addf(b,
                      "'9': {'class_type': 'EmptyImage', 'inputs': {'width': %d, 'height': %d, "
                      "'batch_size': 1, 'color': 0}}, '15': {'class_type': 'VAEEncode', 'inputs': "
                      "{'pixels': ['9', 0], 'vae': ['8', 0]}}, '16': {'class_type': "
                      "'ReferenceLatent', 'inputs': {'conditioning': ['6', 0], 'latent': ['15', "
                      "0]}}, ",
                      r->width, r->height);
    nino_buf_addf(
        b,
        "'10': {'class_type': 'EmptyFlux2LatentImage', 'inputs': {'width': %d, 'height': %d, "
        "'batch_size': 1}}, '2': {'class_type': 'Flux2Scheduler', 'inputs': {'steps': %d, 'width': "
        "%d, 'height': %d}}, '3': {'class_type': 'CFGGuider', 'inputs': {'model': ['1', 0], "
        "'positive': ['%s', 0], 'negative': ['7', 0], 'cfg': 1}}, '4': {'class_type': "
        "'KSamplerSelect', 'inputs': {'sampler_name': 'euler'}}, '11': {'class_type': "
        "'RandomNoise', 'inputs': {'noise_seed': 0}}, '12': {'class_type': "
        "'SamplerCustomAdvanced', "
        "'inputs': {'noise': ['11', 0], 'guider': ['3', 0], 'sampler': ['4', 0], 'sigmas': ['2', "
        "0], 'latent_image': ['10', 0]}}}",
        r->width, r->height, r->steps, r->width, r->height, r->refs ? "16" : "6");
}

static void print_guided(nino_buf *b, const run *r, const char *sampler, const char *scheduler)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s.safetensors', "
        "'weight_dtype': 'default'}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': "
        "['5', 0], 'text': 'a cat'}}, '7': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': "
        "['5', 0], 'text': 'blurry'}}, '12': {'class_type': 'KSampler', 'inputs': {'model': ['1', "
        "0], 'seed': 0, 'steps': %d, 'cfg': %g, 'sampler_name': '%s', 'scheduler': '%s', "
        "'positive': ['6', 0], 'negative': ['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}, ",
        r->model, r->steps, r->cfg, sampler, scheduler);
    print_decoded(b, r, "flux", "EmptySD3LatentImage", 12);
}

// ComfyUI's example of SD3.5.
static void print_sd3(nino_buf *b, const run *r)
{
    nino_buf_addf(b, "'5': {'class_type': 'TripleCLIPLoader', 'inputs': {'clip_name1': "
                     "'clip_l.safetensors', 'clip_name2': 'clip_g.safetensors', 'clip_name3': "
                     "'t5xxl.safetensors'}}, ");
    print_guided(b, r, "dpmpp_2m", "sgm_uniform");
}

// Chroma's usual sampler and guidance; prompts are not padded.
static void print_chroma(nino_buf *b, const run *r)
{
    nino_buf_addf(b,
                  "'5': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': '%s.safetensors', "
                  "'type': 'chroma'}}, ",
                  r->text);
    print_guided(b, r, "euler", "beta");
}

// What the videos share.
static void print_text_and_end(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'5': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': 'umt5.safetensors', 'type': "
        "'wan'}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': 'a "
        "cat'}}, '7': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': "
        "'blurry'}}, '9': {'class_type': 'EmptyImage', 'inputs': {'width': %d, 'height': %d, "
        "'batch_size': 1, 'color': 0}}, '13': {'class_type': 'VAEDecode', 'inputs': {'samples': "
        "['12', 0], 'vae': ['8', 0]}}, '14': {'class_type': 'PreviewImage', 'inputs': {'images': "
        "['13', 0]}}}",
        r->width, r->height);
}

static nino_graph *make_graph(const run *r)
{
    nino_buf b = { 0 };
    nino_buf_addc(&b, '{');
    r->print(&b, r);
    if (r->frames)
        print_text_and_end(&b, r);
    CHECK(!b.failed);
    for (size_t i = 0; i < b.len; i++)
        b.data[i] = b.data[i] == '\'' ? '"' : b.data[i];
    nino_graph *g = nino_graph_load(b.data, b.len, r->title, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    nino_buf_release(&b);
    return g;
}
