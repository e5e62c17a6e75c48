// The cases of the suite and their workflows.
#include "core/suite/suite_priv.h"

#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"

// The quick form runs the demo's networks at half the sides, the last case at a quarter: all of it is to be done in
// five minutes on two cores.
const suite_case nino_suite_cases[] = {
    { "image 128x128", "phases flux", SUITE_FLUX, false, 128, 128, 1, 0, 2, 0, 0 },
    { "image 256x256", "phases flux", SUITE_FLUX, false, 256, 256, 1, 0, 2, 0, 0 },
    { "image 512x512", "phases flux", SUITE_FLUX, false, 512, 512, 1, 0, 2, 0, 0 },
    { "batch 4 x 128x128", "phases flux", SUITE_FLUX, false, 128, 128, 4, 0, 2, 0, 0 },
    { "fp16 256x256", "phases flux", SUITE_FLUX, false, 256, 256, 1, 0, 2, NINO_PRECISION_F16, 0 },
    { "memory efficiency 512x512", "phases flux", SUITE_FLUX, false, 512, 512, 1, 0, 2, 0, 0.6 },
    { "video 128x128 x 17", "phases wan", SUITE_WAN, false, 128, 128, 1, 17, 2, 0, 0 },
    { "batch video 4 x 128x128 x 9", "phases wan", SUITE_WAN, false, 128, 128, 4, 9, 2, 0, 0 },
    { "decode 256x256", "vae", SUITE_VAE, false, 256, 256, 1, 0, 0, 0, 0 },
    { "decode 512x512", "vae", SUITE_VAE, false, 512, 512, 1, 0, 0, 0, 0 },
    { "stream 128x128", "load", SUITE_LOAD, false, 128, 128, 1, 0, 2, 0, 0.7 },
    // Networks of full size with random weights, the larger ones where 48 runs of a case on two cores leave time for all
    // others: the eight took 24 minutes.
    { "image 256x256", "phases sd", SUITE_SD, true, 256, 256, 1, 0, 1, 0, 0 },
    { "image 1024x1024", "phases vae", SUITE_TAESD, true, 1024, 1024, 1, 0, 0, 0, 0 },
    { "memory efficiency 1024x1024", "phases vae", SUITE_TAESD, true, 1024, 1024, 1, 0, 0, 0, 0.6 },
    { "video 256x256 x 17", "phases vae", SUITE_TAEHV, true, 256, 256, 1, 17, 0, 0, 0 },
    { "image 512x512", "phases vae", SUITE_VAE, true, 512, 512, 1, 0, 0, 0, 0 },
    { "fp16 512x512", "phases vae", SUITE_VAE, true, 512, 512, 1, 0, 0, NINO_PRECISION_F16, 0 },
    { "batch 4 x 256x256", "phases sd", SUITE_SD, true, 256, 256, 4, 0, 1, 0, 0 },
    { "batch video 4 x 512x512 x 9", "phases vae", SUITE_TAEHV, true, 512, 512, 4, 9, 0, 0, 0 },
    // What time does not allow comes last.
    { "video 256x256 x 17", "wan", SUITE_WAN, true, 256, 256, 1, 17, 1, 0, 0 },
    { "image 512x512", "sd", SUITE_SD, true, 512, 512, 1, 0, 1, 0, 0 },
    { "fp16 512x512", "sd", SUITE_SD, true, 512, 512, 1, 0, 1, NINO_PRECISION_F16, 0 },
    { "image 1024x1024", "sd", SUITE_SD, true, 1024, 1024, 1, 0, 1, 0, 0 },
    { "memory efficiency 1024x1024", "sd", SUITE_SD, true, 1024, 1024, 1, 0, 1, 0, 0.6 },
    { "batch video 4 x 512x512 x 9", "wan", SUITE_WAN, true, 512, 512, 4, 9, 1, 0, 0 },
    { "decode 256x256", "vae", SUITE_VAE, true, 256, 256, 1, 0, 0, 0, 0 },
    { "decode 1024x1024", "vae", SUITE_VAE, true, 1024, 1024, 1, 0, 0, 0, 0 },
    { "stream 256x256", "load", SUITE_LOAD, true, 256, 256, 1, 0, 1, 0, 0.33 },
    { 0 },
};

const char *const *nino_suite_names(void)
{
    static const char *const names[] = { "phases", "vae", "sd", "flux", "wan", "load", NULL };
    return names;
}

bool nino_suite_has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; p && *p; p += p[strcspn(p, " ")] ? strcspn(p, " ") + 1 : strlen(p))
        if (!strncmp(p, word, n) && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

size_t nino_suite_case_names(const char *suite, bool quick, const char **out, size_t max)
{
    size_t n = 0;
    for (const suite_case *c = nino_suite_cases; c->name; c++) {
        if (c->is_full == quick || !nino_suite_has_word(c->suites, suite ? suite : "phases"))
            continue;
        if (n < max)
            out[n] = c->name;
        n++;
    }
    return n;
}

// A node: its number, class and inputs as JSON.
static void suite_node(nino_buf *b, int id, const char *class_type, const char *inputs)
{
    nino_buf_addf(b, "%s\"%d\":{\"class_type\":\"%s\",\"inputs\":{%s}}", b->len > 1 ? "," : "", id,
                  class_type, inputs);
}

static void sources(nino_buf *b, const suite_case *c, const suite_models *m)
{
    char text[200];
    if (*m->checkpoint && c->flow != SUITE_WAN) {
        snprintf(text, sizeof(text), "\"ckpt_name\":\"%s\"", m->checkpoint);
        suite_node(b, 1, "CheckpointLoaderSimple", text);
        return;
    }
    snprintf(text, sizeof(text), "\"vae_name\":\"%s\"", m->vae);
    suite_node(b, 11, "VAELoader", text);
    if (suite_is_decode(c))
        return;
    snprintf(text, sizeof(text), "\"clip_name\":\"%s\",\"type\":\"wan\",\"device\":\"default\"",
             m->text);
    suite_node(b, 10, "CLIPLoader", text);
    snprintf(text, sizeof(text), "\"unet_name\":\"%s\",\"weight_dtype\":\"default\"", m->network);
    suite_node(b, 12, "UNETLoader", text);
}

static void latent(nino_buf *b, const suite_case *c)
{
    char text[200];
    snprintf(text, sizeof(text), "\"width\":%d,\"height\":%d,\"batch_size\":%d%s", c->width,
             c->height, c->batch, c->flow == SUITE_WAN ? "," : "");
    if (c->flow == SUITE_WAN)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "\"length\":%d", c->frames);
    if (suite_is_decode(c))
        suite_node(b, 5, "LoadLatent", "\"latent\":\"from memory\"");
    else
        suite_node(b, 5,
                   c->flow == SUITE_WAN    ? "EmptyHunyuanLatentVideo"
                   : c->flow != SUITE_FLUX ? "EmptyLatentImage"
                                           : "EmptySD3LatentImage",
                   text);
}

char *nino_suite_workflow(const suite_case *c, const suite_models *m)
{
    const bool is_clip = c->flow == SUITE_WAN;
    const char *clip = is_clip ? "[\"10\",0]" : "[\"1\",1]";
    nino_buf b = { 0 };
    char text[300];
    nino_buf_addc(&b, '{');
    sources(&b, c, m);
    latent(&b, c);
    if (!suite_is_decode(c)) {
        snprintf(text, sizeof(text), "\"text\":\"a red circle on a blue background\",\"clip\":%s",
                 clip);
        suite_node(&b, 3, "CLIPTextEncode", text);
        snprintf(text, sizeof(text), "\"text\":\"blurry\",\"clip\":%s", clip);
        suite_node(&b, 4, "CLIPTextEncode", text);
        snprintf(text, sizeof(text),
                 "\"seed\":1,\"steps\":%d,\"cfg\":3.0,\"sampler_name\":\"euler\",\"scheduler\":"
                 "\"simple\",\"denoise\":1,\"model\":[\"%d\",0],\"positive\":[\"3\",0],"
                 "\"negative\":[\"4\",0],\"latent_image\":[\"5\",0]",
                 c->steps, is_clip ? 12 : 1);
        suite_node(&b, 6, "KSampler", text);
    }
    const bool has_file = is_clip || !*m->checkpoint; // of the VAE alone
    snprintf(text, sizeof(text), "\"samples\":[\"%d\",0],\"vae\":[\"%d\",%d]",
             suite_is_decode(c) ? 5 : 6, has_file ? 11 : 1, has_file ? 0 : 2);
    suite_node(&b, 8, "VAEDecode", text);
    suite_node(&b, 9, "SaveImage", "\"images\":[\"8\",0],\"filename_prefix\":\"suite\"");
    nino_buf_addc(&b, '}');
    if (b.failed)
        nino_buf_release(&b);
    return b.data;
}
