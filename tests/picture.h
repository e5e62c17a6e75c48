// Making small pictures for tests: EXIF blocks, JPEG and WebP files around them.
#pragma once
#include "core/base/buf.h"
#include "tests/test.h"

#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>
#include <webp/encode.h>

// ---- EXIF ------------------------------------------------------------------------------------

typedef struct exif_maker {
    nino_buf b;
    bool is_big;
} exif_maker;

static inline void exif_u16(exif_maker *x, uint32_t v)
{
    nino_buf_addc(&x->b, (char) (x->is_big ? v >> 8 : v));
    nino_buf_addc(&x->b, (char) (x->is_big ? v : v >> 8));
}

static inline void exif_u32(exif_maker *x, uint32_t v)
{
    exif_u16(x, x->is_big ? v >> 16 : v & 0xffff);
    exif_u16(x, x->is_big ? v & 0xffff : v >> 16);
}

typedef struct exif_entry {
    uint16_t tag, type; // 2: text, 3: number
    const char *text;
    size_t len; // 0: strlen + 1
    uint32_t number;
} exif_entry;

// A TIFF header, and one directory of the entries; `sub` of them stand in an Exif directory.
static inline nino_buf exif_make(const exif_entry *e, int n, int sub, bool is_big)
{
    exif_maker x = { .is_big = is_big };
    const int top = n - sub + (sub > 0);
    const uint32_t second = 8 + 2 + 12 * (uint32_t) top + 4;
    uint32_t at = second + (sub ? 2 + 12 * (uint32_t) sub + 4 : 0);
    nino_buf_add(&x.b, is_big ? "MM\0*" : "II*\0", 4);
    exif_u32(&x, 8);
    for (int part = 0; part < 2; part++) {
        const int from = part ? n - sub : 0, to = part ? n : n - sub;
        if (part && !sub)
            break;
        exif_u16(&x, (uint32_t) (part ? sub : top));
        for (int i = from; i < to; i++) {
            const uint32_t len = (uint32_t) (e[i].len    ? e[i].len
                                             : e[i].text ? strlen(e[i].text) + 1
                                                         : 1);
            exif_u16(&x, e[i].tag);
            exif_u16(&x, e[i].type);
            exif_u32(&x, len);
            if (e[i].text) {
                exif_u32(&x, at);
                at += len;
            } else {
                exif_u16(&x, e[i].number);
                exif_u16(&x, 0);
            }
        }
        if (!part && sub) {
            exif_u16(&x, 0x8769);
            exif_u16(&x, 4);
            exif_u32(&x, 1);
            exif_u32(&x, second);
        }
        exif_u32(&x, 0);
    }
    for (int i = 0; i < n; i++)
        if (e[i].text)
            nino_buf_add(&x.b, e[i].text, e[i].len ? e[i].len : strlen(e[i].text) + 1);
    return x.b;
}

// ---- JPEG ------------------------------------------------------------------------------------

// pixels: [h][w][components], 1 grey, 3 RGB, 4 CMYK as Adobe stores it.
static inline nino_buf jpeg_make(const uint8_t *pixels, int w, int h, int components,
                                 bool progressive, const nino_buf *exif)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr e;
    unsigned char *out = NULL;
    unsigned long len = 0;
    nino_buf b = { 0 };
    c.err = jpeg_std_error(&e);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &len);
    c.image_width = (JDIMENSION) w;
    c.image_height = (JDIMENSION) h;
    c.input_components = components;
    c.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 100, TRUE);
    for (int i = 0; i < components; i++)
        c.comp_info[i].h_samp_factor = c.comp_info[i].v_samp_factor = 1;
    if (progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    if (exif) {
        nino_buf_add(&b, "Exif\0\0", 6);
        nino_buf_add(&b, exif->data, exif->len);
        jpeg_write_marker(&c, 0xe1, (const JOCTET *) b.data, (unsigned) b.len);
        nino_buf_release(&b);
    }
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = (JSAMPROW) pixels + c.next_scanline * (size_t) (w * components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    nino_buf_add(&b, out, len);
    free(out);
    return b;
}

// ---- WebP ------------------------------------------------------------------------------------

static inline void webp_u24(nino_buf *b, uint32_t v)
{
    nino_buf_addc(b, (char) v);
    nino_buf_addc(b, (char) (v >> 8));
    nino_buf_addc(b, (char) (v >> 16));
}

static inline void webp_u32(nino_buf *b, uint32_t v)
{
    webp_u24(b, v);
    nino_buf_addc(b, (char) (v >> 24));
}

static inline void webp_chunk(nino_buf *b, const char *type, const void *data, size_t n)
{
    nino_buf_add(b, type, 4);
    webp_u32(b, (uint32_t) n);
    nino_buf_add(b, data, n);
    if (n & 1)
        nino_buf_addc(b, 0);
}

// Lossless. pixels: [frames][h][w][4]; exif may be NULL.
static inline nino_buf webp_make(const uint8_t *pixels, int w, int h, int frames, bool has_alpha,
                                 const nino_buf *exif)
{
    nino_buf body = { 0 }, out = { 0 }, head = { 0 };
    webp_u32(&head, (has_alpha ? 0x10u : 0) | (exif ? 8u : 0) | (frames > 1 ? 2u : 0));
    webp_u24(&head, (uint32_t) w - 1);
    webp_u24(&head, (uint32_t) h - 1);
    nino_buf_add(&body, "WEBP", 4);
    webp_chunk(&body, "VP8X", head.data, head.len);
    if (frames > 1)
        webp_chunk(&body, "ANIM", "\0\0\0\0\0\0", 6);
    for (int f = 0; f < frames; f++) {
        uint8_t *one = NULL;
        const uint8_t *src = pixels + (size_t) f * (size_t) (w * h * 4);
        const size_t n = WebPEncodeLosslessRGBA(src, w, h, w * 4, &one);
        CHECK(n > 20);
        nino_buf frame = { 0 };
        if (frames > 1) { // x, y, width, height, milliseconds, flags: no blending
            webp_u24(&frame, 0);
            webp_u24(&frame, 0);
            webp_u24(&frame, (uint32_t) w - 1);
            webp_u24(&frame, (uint32_t) h - 1);
            webp_u24(&frame, 100);
            nino_buf_addc(&frame, 2);
        }
        nino_buf_add(frames > 1 ? &frame : &body, one + 12, n - 12);
        if (frames > 1)
            webp_chunk(&body, "ANMF", frame.data, frame.len);
        nino_buf_release(&frame);
        WebPFree(one);
    }
    if (exif)
        webp_chunk(&body, "EXIF", exif->data, exif->len);
    webp_chunk(&out, "RIFF", body.data, body.len);
    nino_buf_release(&body);
    nino_buf_release(&head);
    return out;
}
