// What model files may say about their tensors: factors of 8-bit weights and what is wrong with them,
// names of newer releases, parts that are not there, files that are none; tensors written out again.
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/file/weights.h"
#include "tests/test.h"

#include <math.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-weights-XXXXXX";

// A safetensors file with this header, ' for ", before n bytes of values.
static nino_weights *open_header(const char *quoted, const void *values, size_t n)
{
    char path[160], *header = test_quoted(quoted);
    unsigned char length[8] = { 0 };
    snprintf(path, sizeof(path), "%s/w", dir);
    for (size_t i = 0, len = strlen(header); i < 8; i++, len >>= 8)
        length[i] = (unsigned char) len;
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(length, 1, 8, f) == 8 && fputs(header, f) >= 0 &&
          fwrite(values, 1, n, f) == n && !fclose(f));
    free(header);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    return w;
}

static const nino_tensor_info *find(const nino_weights *w, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(w, name);
    CHECK(t);
    return t;
}

// ---- factors ---------------------------------------------------------------------------------

// A weight of this shape (4 bytes) and beside it a tensor; `want`: part of the refusal, NULL: none.
static void check_factor(const char *shape, const char *beside, const char *values, size_t n,
                         const char *want, nino_factors *out)
{
    char header[4096];
    nino_factors f;
    snprintf(header, sizeof(header),
             "{'x.weight':{'dtype':'F8_E4M3','shape':%s,'data_offsets':[0,4]},%s}", shape, beside);
    char data[8192] = { 0 };
    memcpy(data + 4, values, n);
    nino_weights *w = open_header(header, data, n + 4);
    err = (nino_error){ 0 };
    const nino_status st = nino_weights_scale(w, find(w, "x.weight"), &f, &err);
    if (want && (!st || !strstr(err.msg, want)))
        fprintf(stderr, "  %s %s: %s\n", shape, beside, err.msg);
    CHECK(want ? st && strstr(err.msg, want) : st == NINO_OK);
    if (out) {
        *out = f;
        out->rows = f.rows ? &(const nino_tensor_info){ .rank = 1 } : NULL; // only whether
    }
    nino_weights_unref(&w);
}

#define SCALE(shape, bytes)                                                                        \
    "'x.weight_scale':{'dtype':'F32','shape':" shape ",'data_offsets':[4," bytes "]}"
#define QUANT(type, n, end)                                                                        \
    "'x.comfy_quant':{'dtype':'" type "','shape':[" n "],'data_offsets':[4," end "]}"

static void check_factors(void)
{
    const float two[] = { 2, 3 }, three[] = { 1, 2, 3 }, bad[] = { 0, -1, NAN, INFINITY };
    nino_factors f;
    check_factor("[2,2]", SCALE("[2]", "12"), (const char *) two, 8, NULL, &f);
    CHECK(f.rows); // one a row, also where there are only two of them
    check_factor("[2,2]", SCALE("[2,1]", "12"), (const char *) two, 8, NULL, &f);
    CHECK(f.rows);
    check_factor("[2,2]", SCALE("[]", "8"), (const char *) two, 4, NULL, &f);
    CHECK(!f.rows && f.all == 2);
    check_factor("[4]", SCALE("[1]", "8"), (const char *) two, 4, NULL, &f);
    CHECK(!f.rows && f.all == 2);
    check_factor("[2,2]", SCALE("[1,2]", "12"), (const char *) two, 8, "nor one a row", NULL);
    check_factor("[2,2]", SCALE("[3]", "16"), (const char *) three, 12, "nor one a row", NULL);
    check_factor("[4]", SCALE("[2]", "12"), (const char *) two, 8, "not one positive number", NULL);
    CHECK(!strstr(err.msg, "nor"));
    for (int i = 0; i < 4; i++)
        check_factor("[2,2]", SCALE("[1]", "8"), (const char *) &bad[i], 4,
                     "not one positive number", NULL);
}

// What comfy_quant says, given that a scale is there too.
static void check_said(const char *text, const char *want)
{
    char beside[512], data[512];
    const size_t n = strlen(text);
    const float one = 1;
    snprintf(beside, sizeof(beside),
             "'x.comfy_quant':{'dtype':'U8','shape':[%zu],'data_offsets':[4,%zu]},"
             "'x.weight_scale':{'dtype':'F32','shape':[1],'data_offsets':[%zu,%zu]}",
             n, 4 + n, 4 + n, 8 + n);
    memcpy(data, text, n);
    memcpy(data + n, &one, 4);
    check_factor("[2,2]", beside, data, n + 4, want, NULL);
}

static void check_quants(void)
{
    static const char zeros[5000];
    check_said("{\"format\": \"float8_e4m3fn\"}", NULL);
    check_said("{\"format\": \"float8_e5m2\", \"convrot\": false}", NULL);
    check_said("{\"format\": \"int8_tensorwise\"}", NULL);
    check_said("{}", NULL);
    check_said("{\"format\": \"nvfp4\"}", "stored as nvfp4");
    check_said("{\"format\": 5}", "something unnamed");
    check_said("{\"convrot\": true}", "rotated");
    check_said("{\"format\"", "");
    CHECK(strstr(err.where, "x.comfy_quant"));
    check_factor("[2,2]", QUANT("F32", "1", "8"), zeros, 4, "not a short text", NULL);
    check_factor("[2,2]", QUANT("U8", "4097", "4101"), zeros, 4097, "not a short text", NULL);
}

// Names beside which there cannot be anything, and metadata that say nothing of a weight.
static void check_others(void)
{
    static const char header[] =
        "{'__metadata__':{'_quantization_metadata':'{\\'layers\\': {\\'x\\': {\\'format\\': "
        "\\'nvfp4\\'}}}'},'w':{'dtype':'F8_E4M3','shape':[1],'data_offsets':[0,1]},"
        "'a.longer.bias':{'dtype':'F8_E5M2','shape':[1],'data_offsets':[1,2]},"
        "'y.weight':{'dtype':'F8_E5M2','shape':[1],'data_offsets':[2,3]},"
        "'x.weight':{'dtype':'F8_E5M2','shape':[1],'data_offsets':[3,4]},"
        "'i.weight':{'dtype':'I8','shape':[1],'data_offsets':[4,5]},"
        "'half.weight':{'dtype':'F16','shape':[1],'data_offsets':[5,7]}}";
    nino_weights *w = open_header(header, "1234567", 7);
    static const char *const plain[] = { "w", "a.longer.bias", "y.weight", "half.weight" };
    nino_factors f;
    for (int i = 0; i < 4; i++) {
        CHECK_OK(nino_weights_scale(w, find(w, plain[i]), &f, &err), err);
        CHECK(!f.rows && f.all == 1 && !nino_factors_any(&f));
        float v = 3;
        CHECK_OK(nino_factors_apply(w, &f, 0, 1, 1, &v, &err), err);
        CHECK(v == 3);
    }
    CHECK(nino_weights_scale(w, find(w, "x.weight"), &f, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "nvfp4"));
    CHECK(nino_weights_scale(w, find(w, "i.weight"), &f, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "without a weight_scale"));
    nino_weights_unref(&w);
}

// ---- names -----------------------------------------------------------------------------------

#define T(name, at, end) "'" name "':{'dtype':'U8','shape':[1],'data_offsets':[" at "," end "]}"

static void check_names(void)
{
    static const struct {
        const char *header;
        const char *want[3];
    } cases[] = {
        { "{" T("model.language_model.embed_tokens.weight", "0",
                "1") "," T("model.visual.a", "1", "2") "," T("lm_head.weight", "2", "3") "}",
          { "model.embed_tokens.weight", "visual.a", "lm_head.weight" } },
        { "{" T("language_model.model.embed_tokens.weight", "0", "1") "," T(
              "language_model.lm_head.weight", "1", "2") "," T("vision_tower.b", "2", "3") "}",
          { "model.embed_tokens.weight", "lm_head.weight", "vision_tower.b" } },
        { "{" T("model.embed_tokens.weight", "0",
                "1") "," T("model.visual.a", "1", "2") "," T("language_model.x", "2", "3") "}",
          { "model.embed_tokens.weight", "model.visual.a", "language_model.x" } },
    };
    for (int i = 0; i < 3; i++) {
        nino_weights *w = open_header(cases[i].header, "abc", 3);
        for (int k = 0; k < 3; k++) {
            char byte = 0;
            const nino_tensor_info *t = find(w, cases[i].want[k]);
            CHECK_OK(nino_weights_read(w, t, &byte, &err), err);
            CHECK(byte == "abc"[k]);
        }
        nino_weights_unref(&w);
    }
}

// ---- parts -----------------------------------------------------------------------------------

static void check_parts(void)
{
    static const char header[] = "{'__metadata__':{'k':'v'},"
                                 "'m':{'dtype':'F16','shape':[3,2],'data_offsets':[0,12]},"
                                 "'one':{'dtype':'F32','shape':[],'data_offsets':[12,16]},"
                                 "'none':{'dtype':'F32','shape':[0,2],'data_offsets':[16,16]},"
                                 "'deep':{'dtype':'U8','shape':[1,1,1,1,1,1,1,1],"
                                 "'data_offsets':[16,17]}}";
    const uint16_t half[8] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0, 0x3f80 };
    char data[17] = { 0 };
    memcpy(data, half, 16);
    nino_weights *w = open_header(header, data, sizeof(data));
    const nino_tensor_info *m = find(w, "m");
    float v[6];
    uint16_t raw[2];
    static const int64_t wrong[][2] = { { -1, 1 }, { 0, -1 }, { 4, 0 }, { 2, 2 } };
    for (int i = 0; i < 4; i++)
        CHECK(nino_weights_read_rows_f32(w, m, wrong[i][0], wrong[i][1], v, &err) ==
              NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "no such rows") && strstr(err.where, "m"));
    CHECK(nino_weights_read_rows_f32(w, find(w, "one"), 0, 1, v, &err) == NINO_ERR_RANGE);
    CHECK(nino_weights_read_rows_f32(w, find(w, "none"), 0, 0, v, &err) == NINO_ERR_RANGE);
    CHECK(nino_weights_read_rows_f32(w, find(w, "deep"), 0, 1, v, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(!nino_weights_read_f32(w, find(w, "deep"), &err));
    CHECK(strstr(err.msg, "rank 8"));
    CHECK_OK(nino_weights_read_rows_f32(w, m, 3, 0, v, &err), err);
    CHECK_OK(nino_weights_read_rows_f32(w, m, 1, 2, v, &err), err);
    CHECK(v[0] == 3 && v[3] == 6);
    CHECK(nino_weights_read_bytes(w, m, 13, 0, raw, &err) == NINO_ERR_RANGE);
    CHECK(nino_weights_read_bytes(w, m, 10, 3, raw, &err) == NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "no such bytes"));
    CHECK_OK(nino_weights_read_bytes(w, m, 12, 0, raw, &err), err);
    CHECK_OK(nino_weights_read_bytes(w, m, 8, 4, raw, &err), err);
    CHECK(raw[0] == 0x4500 && raw[1] == 0x4600);
    CHECK(nino_weights_is_stored(w, m));
    CHECK(!nino_weights_at(w, -1) && !nino_weights_at(w, 4) && nino_weights_at(w, 3));
    CHECK(!nino_weights_meta_at(w, -1) && !nino_weights_meta_at(w, 1));
    CHECK_STR(nino_weights_meta_at(w, 0)->value, "v");
    CHECK(!nino_weights_meta(w, "other") && !nino_weights_ref(NULL));
    CHECK(nino_weights_bytes(w, "m") == 12 && nino_weights_bytes(w, "") == 17);
    nino_weights_unref(&w);
}

static void check_absent(void)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/nothing", dir);
    CHECK(!nino_weights_open(path, &err) && err.code == NINO_ERR_MISSING);
    snprintf(path, sizeof(path), "%s/w/below", dir);
    CHECK(!nino_weights_open(path, &err) && err.code == NINO_ERR_MISSING);
    CHECK(!nino_weights_open(dir, &err) && err.code == NINO_ERR_IO);
    CHECK(strstr(err.msg, "not a regular file"));
    snprintf(path, sizeof(path), "%s/%0100d", dir, 0);
    memset(path + strlen(dir) + 1, 'n', 100);
    char longer[400];
    snprintf(longer, sizeof(longer), "%s%0200d", path, 0);
    CHECK(!nino_weights_open(longer, &err) && err.code == NINO_ERR_IO); // the name is too long
    snprintf(path, sizeof(path), "%s/w", dir);
    static const char *const heads[] = { "", "GG", "GGUF", "GGUF1234" };
    for (int i = 0; i < 4; i++) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fputs(heads[i], f) >= 0 && !fclose(f));
        CHECK(!nino_weights_open(path, &err) && err.code == NINO_ERR_FORMAT);
        CHECK(!nino_weights_open(path, NULL));
    }
}

// An archive of PyTorch whose directory's only entry says that its name, what stands behind it, or a
// comment goes on beyond the directory, by less than an entry.
static void check_directory(void)
{
    static const char name[] = "m/data.pkl";
    enum { NAME = sizeof(name) - 1, PICKLE = 4, LOCAL = 30, ENTRY = 46 };
    char path[160];
    snprintf(path, sizeof(path), "%s/w", dir);
    for (int field = 28; field <= 32; field += 2) { // where the three lengths are
        char head[LOCAL] = "PK\3\4", entry[ENTRY] = "PK\1\2", end[22] = "PK\5\6";
        head[18] = head[22] = entry[20] = entry[24] = PICKLE;
        head[26] = entry[28] = NAME;
        entry[field] = (char) (entry[field] + 40);
        end[8] = end[10] = 1;
        end[12] = ENTRY + NAME;
        end[16] = LOCAL + NAME + PICKLE;
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(head, 1, LOCAL, f) == LOCAL && fputs(name, f) >= 0 &&
              fwrite("\x80\2}.", 1, PICKLE, f) == PICKLE && fwrite(entry, 1, ENTRY, f) == ENTRY &&
              fputs(name, f) >= 0 && fwrite(end, 1, sizeof(end), f) == sizeof(end) && !fclose(f));
        CHECK(!nino_weights_open(path, &err) && err.code == NINO_ERR_FORMAT);
        if (!strstr(err.msg, "directory is damaged"))
            fprintf(stderr, "  %d: %s\n", field, err.msg);
        CHECK(strstr(err.msg, "directory is damaged"));
    }
}

// ---- written out -----------------------------------------------------------------------------

static void check_written(void)
{
    char path[160];
    int cancel = 0;
    nino_file_writer *out = NULL;
    nino_weights *w =
        open_header("{'a':{'dtype':'F16','shape':[2,1],'data_offsets':[0,4]}}", "abcd", 4);
    nino_array *own = nino_array_create(NINO_U8, NINO_SHAPE(3));
    CHECK(own);
    memcpy(own->data, "xyz", 3);
    nino_st_source s[] = { { .name = "own", .array = own },
                           { .name = "a", .file = w, .info = find(w, "a") } };
    snprintf(path, sizeof(path), "%s/copy", dir);
    CHECK_OK(nino_file_writer_open(dir, "copy", false, &out, &err), err);
    CHECK_OK(nino_st_write(out, "copy", s, 2, NULL, 0, &cancel, &err), err);
    CHECK_OK(nino_file_writer_commit(&out, false, &err), err);
    nino_weights *copy = nino_weights_open(path, &err);
    CHECK_OK(copy ? NINO_OK : err.code, err);
    char bytes[4];
    CHECK(find(copy, "a")->dtype == NINO_F16 && find(copy, "a")->rank == 2);
    CHECK_OK(nino_weights_read(copy, find(copy, "a"), bytes, &err), err);
    CHECK(!memcmp(bytes, "abcd", 4));
    CHECK_OK(nino_weights_read(copy, find(copy, "own"), bytes, &err), err);
    CHECK(!memcmp(bytes, "xyz", 3));
    nino_weights_unref(&copy);
    // not of any type; asked to stop; a name twice: nothing is left behind
    CHECK_OK(nino_file_writer_open(dir, "own", false, &out, &err), err);
    nino_st_source nothing = { .name = "nothing" };
    CHECK(nino_st_write(out, "own", &nothing, 1, NULL, 0, NULL, &err) == NINO_ERR_UNSUPPORTED);
    CHECK_STR(err.where, "nothing");
    cancel = 1;
    CHECK(nino_st_write(out, "own", s, 2, NULL, 0, &cancel, &err) == NINO_ERR_CANCELLED);
    s[0].name = "a";
    CHECK(nino_st_write(out, "own", s, 2, NULL, 0, NULL, &err) == NINO_ERR_FORMAT);
    nino_file_writer_abort(&out);
    snprintf(path, sizeof(path), "%s/own", dir);
    CHECK(access(path, F_OK) != 0);
    nino_array_unref(&own);
    nino_weights_unref(&w);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(dir));
    check_factors();
    check_quants();
    check_others();
    check_names();
    check_parts();
    check_absent();
    check_directory();
    check_written();
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command) != 0;
}
