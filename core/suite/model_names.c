// Names and shapes of the tensors of a Stable Diffusion 1 checkpoint, that is UNet, CLIP-L and AutoencoderKL, and of
// the decoders of TAESD and TAEHV.
#include "core/suite/model_names.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    const suite_sd *m;
    const suite_sink *out;
    const char *prefix;
} writer;

__attribute__((format(printf, 4, 5))) static void put(const writer *w, int rank, const int64_t *dim,
                                                      const char *fmt, ...)
{
    char rest[120], name[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(rest, sizeof(rest), fmt, ap);
    va_end(ap);
    snprintf(name, sizeof(name), "%s%s", w->prefix, rest);
    w->out->put(w->out->priv, name, rank, dim);
}

static void linear(const writer *w, int64_t n, int64_t c, bool has_bias, const char *base)
{
    put(w, 2, (const int64_t[]){ n, c }, "%s.weight", base);
    if (has_bias)
        put(w, 1, &n, "%s.bias", base);
}

static void conv(const writer *w, int64_t n, int64_t c, int k, const char *base, const char *leaf)
{
    put(w, 4, (const int64_t[]){ n, c, k, k }, "%s%s.weight", base, leaf);
    put(w, 1, &n, "%s%s.bias", base, leaf);
}

static void norm(const writer *w, int64_t c, const char *base, const char *leaf)
{
    put(w, 1, &c, "%s%s.weight", base, leaf);
    put(w, 1, &c, "%s%s.bias", base, leaf);
}

// ---- the UNet --------------------------------------------------------------------------------

static void unet_res(const writer *w, const char *b, int64_t c, int64_t n)
{
    char name[96];
    norm(w, c, b, ".in_layers.0");
    conv(w, n, c, 3, b, ".in_layers.2");
    snprintf(name, sizeof(name), "%s.emb_layers.1", b);
    linear(w, n, 4 * w->m->ch, true, name);
    norm(w, n, b, ".out_layers.0");
    conv(w, n, n, 3, b, ".out_layers.3");
    if (c != n)
        conv(w, n, c, 1, b, ".skip_connection");
}

static void unet_attention(const writer *w, const char *b, int which, int64_t c, int64_t from)
{
    static const char *const leaf[] = { "to_q", "to_k", "to_v", "to_out.0" };
    char name[128];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%s.transformer_blocks.0.attn%d.%s", b, which, leaf[i]);
        linear(w, c, i == 1 || i == 2 ? from : c, i == 3, name);
    }
}

static void unet_transformer(const writer *w, const char *b, int64_t c)
{
    char name[128];
    norm(w, c, b, ".norm");
    conv(w, c, c, 1, b, ".proj_in");
    unet_attention(w, b, 1, c, c);
    unet_attention(w, b, 2, c, w->m->text);
    for (int k = 1; k <= 3; k++) {
        snprintf(name, sizeof(name), "%s.transformer_blocks.0.norm%d", b, k);
        norm(w, c, name, "");
    }
    snprintf(name, sizeof(name), "%s.transformer_blocks.0.ff.net.0.proj", b);
    linear(w, 8 * c, c, true, name);
    snprintf(name, sizeof(name), "%s.transformer_blocks.0.ff.net.2", b);
    linear(w, c, 4 * c, true, name);
    conv(w, c, c, 1, b, ".proj_out");
}

enum { LEVELS = 4 };
static const int wider[LEVELS] = { 1, 2, 4, 4 };

// skip: channels of what the way up takes.
static int64_t unet_down(const writer *w, int64_t *skip, int *n_skip)
{
    char b[64];
    int64_t c = w->m->ch;
    conv(w, c, 4, 3, "input_blocks.0.0", "");
    skip[(*n_skip)++] = c;
    for (int level = 0; level < LEVELS; level++) {
        for (int r = 0; r < 2; r++) {
            const int64_t n = w->m->ch * wider[level];
            snprintf(b, sizeof(b), "input_blocks.%d.0", *n_skip);
            unet_res(w, b, c, n);
            c = n;
            b[strlen(b) - 1] = '1';
            if (level < 3)
                unet_transformer(w, b, c);
            skip[(*n_skip)++] = c;
        }
        snprintf(b, sizeof(b), "input_blocks.%d.0.op", *n_skip);
        if (level + 1 < LEVELS) {
            conv(w, c, c, 3, b, "");
            skip[(*n_skip)++] = c;
        }
    }
    return c;
}

static void unet(const writer *w)
{
    int64_t skip[16];
    int n_skip = 0;
    char b[64];
    linear(w, 4 * w->m->ch, w->m->ch, true, "time_embed.0");
    linear(w, 4 * w->m->ch, 4 * w->m->ch, true, "time_embed.2");
    int64_t c = unet_down(w, skip, &n_skip);
    unet_res(w, "middle_block.0", c, c);
    unet_transformer(w, "middle_block.1", c);
    unet_res(w, "middle_block.2", c, c);
    for (int level = LEVELS - 1, i = 0; level >= 0; level--)
        for (int r = 0; r < 3; r++, i++) {
            const int64_t n = w->m->ch * wider[level];
            snprintf(b, sizeof(b), "output_blocks.%d.0", i);
            unet_res(w, b, c + skip[--n_skip], n);
            c = n;
            b[strlen(b) - 1] = '1';
            if (level < 3)
                unet_transformer(w, b, c);
            snprintf(b, sizeof(b), "output_blocks.%d.%d.conv", i, level < 3 ? 2 : 1);
            if (r == 2 && level)
                conv(w, c, c, 3, b, "");
        }
    norm(w, c, "out.0", "");
    conv(w, 4, c, 3, "out.2", "");
}

// ---- the text encoder ------------------------------------------------------------------------

static void text_encoder(const writer *w)
{
    static const char *const leaf[] = { "q_proj", "k_proj", "v_proj", "out_proj" };
    const int64_t c = w->m->text;
    char b[96], name[128];
    put(w, 2, (const int64_t[]){ w->m->vocab, c }, "embeddings.token_embedding.weight");
    put(w, 2, (const int64_t[]){ 77, c }, "embeddings.position_embedding.weight");
    for (int i = 0; i < w->m->layers; i++) {
        snprintf(b, sizeof(b), "encoder.layers.%d.", i);
        norm(w, c, b, "layer_norm1");
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof(name), "%sself_attn.%s", b, leaf[k]);
            linear(w, c, c, true, name);
        }
        norm(w, c, b, "layer_norm2");
        snprintf(name, sizeof(name), "%smlp.fc1", b);
        linear(w, 4 * c, c, true, name);
        snprintf(name, sizeof(name), "%smlp.fc2", b);
        linear(w, c, 4 * c, true, name);
    }
    norm(w, c, "final_layer_norm", "");
}

// ---- the VAE ---------------------------------------------------------------------------------

static void vae_res(const writer *w, const char *b, int64_t c, int64_t n)
{
    norm(w, c, b, ".norm1");
    conv(w, n, c, 3, b, ".conv1");
    norm(w, n, b, ".norm2");
    conv(w, n, n, 3, b, ".conv2");
    if (c != n)
        conv(w, n, c, 1, b, ".nin_shortcut");
}

static void vae_decoder(const writer *w)
{
    static const char *const leaf[] = { ".q", ".k", ".v", ".proj_out" };
    const int64_t top = w->m->vae * 4;
    char b[64];
    conv(w, 4, 4, 1, "post_quant_conv", "");
    conv(w, top, 4, 3, "decoder.conv_in", "");
    vae_res(w, "decoder.mid.block_1", top, top);
    norm(w, top, "decoder.mid.attn_1", ".norm");
    for (int i = 0; i < 4; i++)
        conv(w, top, top, 1, "decoder.mid.attn_1", leaf[i]);
    vae_res(w, "decoder.mid.block_2", top, top);
    int64_t c = top;
    for (int level = LEVELS - 1; level >= 0; level--) {
        const int64_t n = w->m->vae * wider[level];
        for (int r = 0; r < 3; r++, c = n) {
            snprintf(b, sizeof(b), "decoder.up.%d.block.%d", level, r);
            vae_res(w, b, c, n);
        }
        snprintf(b, sizeof(b), "decoder.up.%d.upsample.conv", level);
        if (level)
            conv(w, n, n, 3, b, "");
    }
    norm(w, w->m->vae, "decoder.norm_out", "");
    conv(w, 3, w->m->vae, 3, "decoder.conv_out", "");
}

void nino_suite_sd_names(const suite_sd *m, const suite_sink *out)
{
    unet(&(const writer){ m, out, "model.diffusion_model." });
    text_encoder(&(const writer){ m, out, "cond_stage_model.transformer.text_model." });
    vae_decoder(&(const writer){ m, out, "first_stage_model." });
}

// ---- tiny decoders ---------------------------------------------------------------------------

enum { TAESD_WIDTH = 64, TINY_BLOCKS = 3 };

// Three convolutions: of c channels to n, and of those to n.
static void tiny_block(const writer *w, int at, int64_t c, int64_t n)
{
    char b[32];
    snprintf(b, sizeof(b), "%d.conv", at);
    conv(w, n, c, 3, b, ".0");
    conv(w, n, n, 3, b, ".2");
    conv(w, n, n, 3, b, ".4");
}

static void conv_alone(const writer *w, int at, int64_t n, int64_t c, int k, const char *leaf)
{
    put(w, 4, (const int64_t[]){ n, c, k, k }, "%d%s.weight", at, leaf);
}

// Positions without tensors are its activations and upsamplings.
void nino_suite_taesd_names(const suite_sink *out)
{
    const writer w = { .out = out, .prefix = "taesd_decoder." };
    int at = 3;
    conv(&w, TAESD_WIDTH, 4, 3, "1", "");
    for (int level = 0; level < LEVELS - 1; level++, at += 2) {
        for (int i = 0; i < TINY_BLOCKS; i++)
            tiny_block(&w, at++, TAESD_WIDTH, TAESD_WIDTH);
        conv_alone(&w, at + 1, TAESD_WIDTH, TAESD_WIDTH, 3, "");
    }
    tiny_block(&w, at, TAESD_WIDTH, TAESD_WIDTH);
    conv(&w, 3, TAESD_WIDTH, 3, "19", "");
}

// Blocks see their own frame and the one before; three levels make 1, 2 and 2 frames of one.
void nino_suite_taehv_names(const suite_sink *out)
{
    static const int64_t width[] = { 256, 128, 64, 64 }, frames[] = { 1, 2, 2 };
    const writer w = { .out = out, .prefix = "decoder." };
    conv(&w, width[0], 16, 3, "1", "");
    for (int level = 0; level < LEVELS - 1; level++) {
        const int at = 3 + 6 * level;
        for (int i = 0; i < TINY_BLOCKS; i++)
            tiny_block(&w, at + i, 2 * width[level], width[level]);
        conv_alone(&w, at + 4, frames[level] * width[level], width[level], 1, ".conv");
        conv_alone(&w, at + 5, width[level + 1], width[level], 3, "");
    }
    conv(&w, 3, width[LEVELS - 1], 3, "22", "");
}
