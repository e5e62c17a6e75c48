// The safetensors reader against malformed headers, each with the kind it must be refused with; the
// writer against the reader; and the view of named tensors over both.
#include "core/base/buf.h"
#include "core/file/safetensors.h"
#include "tests/test.h"
#include "tests/unit/file/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

// kind: "ok", the kind of the refusal, or that, where it is and what is said, "kind: where: text".
static void expect(const void *p, size_t n, uint64_t file_bytes, const char *what, const char *kind)
{
    char told[1000];
    nino_st_header h;
    nino_error err = { 0 };
    const nino_status st = nino_st_parse(p, n, file_bytes, "x.safetensors", &h, &err);
    const char *got = st ? err.kind : "ok";
    snprintf(told, sizeof(told), strchr(kind, ':') ? "%s: %s: %s" : "%s", got, err.where, err.msg);
    if (strcmp(told, kind)) {
        fprintf(stderr, "%.200s: %s (%s: %s), expected %s\n", what, got, err.where, err.msg, kind);
        exit(1);
    }
    CHECK(!st == !strcmp(kind, "ok") && (!st || st == NINO_ERR_FORMAT));
    nino_st_header_release(&h);
}

#define T(dtype, shape, offsets)                                                                   \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define W(dtype, shape, offsets) "{\"w\":" T(dtype, shape, offsets) "}"

static const struct {
    const char *header;
    size_t body;
    const char *kind;
} cases[] = {
    { "{}", 0, "ok" },
    { " \t\n{} \n", 0, "ok" },
    { W("F32", "[2,2]", "[0,16]"), 16, "ok" },
    { W("F32", "[]", "[0,4]"), 4, "ok" },
    { W("F32", "[2,0]", "[0,0]"), 0, "ok" },
    { W("F4", "[3,2]", "[0,3]"), 3, "ok" },
    { W("F6_E2M3", "[4]", "[0,3]"), 3, "ok" },
    { "{\"b\":" T("U8", "[2]", "[2,4]") ",\"a\":" T("U8", "[2]", "[0,2]") "}", 4, "ok" },
    { "{\"__metadata__\":{\"a\":\"b\"},\"w\":" T("U8", "[1]", "[0,1]") "}", 1, "ok" },
    { "{\"w\":{\"x\":[1,{\"y\":null}],\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      "ok" },
    { "{\"w\\u00e9\":" T("U8", "[1]", "[0,1]") "}", 1, "ok" },
    { "", 0, "syntax: x.safetensors: unexpected end, expected a value at 1:1" },
    { "{", 0, "syntax: x.safetensors: unexpected end, expected a key at 1:2" },
    { "{}{}", 0, "syntax: x.safetensors: unexpected '{', expected the end at 1:3" },
    { "\xef\xbb\xbf{}", 0, "syntax: x.safetensors: byte order mark at 1:1" },
    { "{\"\xc0\xaf\":1}", 0, "syntax: x.safetensors: the header is not UTF-8" },
    { "{\"\xff\":1}", 0, "syntax: x.safetensors: the header is not UTF-8" },
    { "{'w':1}", 0, "syntax: x.safetensors: unexpected ''', expected a key at 1:2" },
    { "{\"w\":" T("U8", "[1]", "[0,1]") ",}", 1,
      "syntax: x.safetensors: unexpected '}', expected a key at 1:54" },
    { "{\"a\nb\":" T("U8", "[1]", "[0,1]") "}", 1,
      "syntax: x.safetensors: control character 0x0a in a string at 1:4" },
    { "{\"\\ud800\":" T("U8", "[1]", "[0,1]") "}", 1,
      "syntax: x.safetensors: lone surrogate in a string at 1:3" },
    { W("U8", "[01]", "[0,1]"), 1, "syntax: x.safetensors: number with a leading zero at 1:29" },
    { W("U8", "[NaN]", "[0,1]"), 1,
      "syntax: x.safetensors: NaN and Infinity are not allowed here at 1:29" },
    { "[]", 0, "schema: x.safetensors: the header is not a JSON object" },
    { "\"x\"", 0, "schema: x.safetensors: the header is not a JSON object" },
    { "null", 0, "schema: x.safetensors: the header is not a JSON object" },
    { "{\"w\":7}", 0, "schema: x.safetensors: w: the description is not an object" },
    { "{\"w\":{}}", 0, "schema: x.safetensors: w: no dtype" },
    { "{\"w\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "schema: x.safetensors: w: no dtype" },
    { "{\"w\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1,
      "schema: x.safetensors: w: no shape" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "schema: x.safetensors: w: no data_offsets" },
    { "{\"w\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      "schema: x.safetensors: w: dtype is not a word" },
    { W("U8", "\"1\"", "[0,1]"), 1, "schema: x.safetensors: w: shape is not a list" },
    { W("U8", "[-1]", "[0,1]"), 1,
      "schema: x.safetensors: w: shape holds something that is not a count" },
    { W("U8", "[1.0]", "[0,1]"), 1,
      "schema: x.safetensors: w: shape holds something that is not a count" },
    { W("U8", "[1e0]", "[0,1]"), 1,
      "schema: x.safetensors: w: shape holds something that is not a count" },
    { W("U8", "[\"1\"]", "[0,1]"), 1,
      "schema: x.safetensors: w: shape holds something that is not a count" },
    { W("U8", "[1]", "[0]"), 1, "schema: x.safetensors: w: data_offsets is not a pair" },
    { W("U8", "[1]", "[0,1,2]"), 1, "schema: x.safetensors: w: data_offsets is not a pair" },
    { W("U8", "[1]", "[-1,0]"), 1,
      "schema: x.safetensors: w: data_offsets holds something that is not a count" },
    { W("U8", "[1]", "{\"0\":1}"), 1, "schema: x.safetensors: w: data_offsets is not a pair" },
    { "{\"__metadata__\":{\"a\":1}}", 0,
      "schema: x.safetensors: __metadata__ holds a value that is not a string" },
    { "{\"__metadata__\":[\"a\"]}", 0, "schema: x.safetensors: __metadata__ is not an object" },
    { "{\"__metadata__\":" T("U8", "[1]", "[0,1]") "}", 1,
      "schema: x.safetensors: __metadata__ holds a value that is not a string" },
    { "{\"\":" T("U8", "[1]", "[0,1]") "}", 1, "name: x.safetensors: a tensor has no name" },
    { "{\"w x\":" T("U8", "[1]", "[0,1]") "}", 1, "ok" },
    { "{\"w\\u001fx\":" T("U8", "[1]", "[0,1]") "}", 1,
      "name: x.safetensors: w?x: a tensor's name contains control characters" },
    { "{\"w\\u007fx\":" T("U8", "[1]", "[0,1]") "}", 1,
      "name: x.safetensors: w?x: a tensor's name contains control characters" },
    { "{\"w\\u0000x\":" T("U8", "[1]", "[0,1]") "}", 1,
      "name: x.safetensors: w?x: a tensor's name contains control characters" },
    { "{\"__metadata__\\u0000\":" T("U8", "[1]", "[0,1]") "}", 1,
      "name: x.safetensors: __metadata__?: a tensor's name contains control characters" },
    { "{\"__metadata__\":{\"a\\u0000b\":\"c\"}}", 0,
      "name: x.safetensors: a key of __metadata__ contains U+0000" },
    { "{\"w\":" T("U8", "[1]", "[0,1]") ",\"\\u0077\":" T("U8", "[1]", "[1,2]") "}", 2,
      "dup: x.safetensors: repeated key \"w\" at 1:54" },
    { "{\"w\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      "dup: x.safetensors: repeated key \"dtype\" at 1:20" },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0,
      "dup: x.safetensors: repeated key \"__metadata__\" at 1:20" },
    { W("F99", "[1]", "[0,1]"), 1, "dtype: x.safetensors: w: unknown dtype 'F99'" },
    { W("u8", "[1]", "[0,1]"), 1, "dtype: x.safetensors: w: unknown dtype 'u8'" },
    { W("U8", "[18446744073709551616]", "[0,1]"), 1,
      "overflow: x.safetensors: w: shape holds a number beyond 64 bits" },
    { W("U8", "[4294967296,4294967296]", "[0,0]"), 0,
      "overflow: x.safetensors: w: the number of elements exceeds 64 bits" },
    { W("U8", "[9223372036854775808,0]", "[0,0]"), 0,
      "overflow: x.safetensors: w: the number of elements exceeds 64 bits" },
    { W("F32", "[2305843009213693952]", "[0,0]"), 0,
      "overflow: x.safetensors: w: the size in bits exceeds 64 bits" },
    { W("F32", "[1]", "[0,18446744073709551616]"), 0,
      "overflow: x.safetensors: w: data_offsets holds a number beyond 64 bits" },
    { W("F64", "[4]", "[0,16]"), 16,
      "shape: x.safetensors: w: shape needs 32 bytes, data_offsets span 16" },
    { W("U8", "[1000]", "[0,4]"), 4,
      "shape: x.safetensors: w: shape needs 1000 bytes, data_offsets span 4" },
    { W("F4", "[3]", "[0,2]"), 2,
      "shape: x.safetensors: w: packed elements do not fill whole bytes" },
    { W("F32", "[1]", "[18446744073709551612,18446744073709551615]"), 4,
      "shape: x.safetensors: w: shape needs 4 bytes, data_offsets span 3" },
    { W("U8", "[1]", "[1,0]"), 1, "range: x.safetensors: w: data_offsets run backwards" },
    { W("U8", "[1]", "[1,2]"), 2,
      "range: x.safetensors: 'w' starts at byte 1 of the data, expected 0" },
    { W("U8", "[1]", "[0,1]"), 2, "range: x.safetensors: 1 bytes follow the last tensor" },
    { "{}", 1, "range: x.safetensors: 1 bytes follow the last tensor" },
    { "{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[0,2]") "}", 2,
      "range: x.safetensors: 'b' starts at byte 0 of the data, expected 2" },
    { "{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[1,3]") "}", 3,
      "range: x.safetensors: 'b' starts at byte 1 of the data, expected 2" },
    { "{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[3,5]") "}", 5,
      "range: x.safetensors: 'b' starts at byte 3 of the data, expected 2" },
    { "{\"a\":" T("U8", "[0]", "[1,1]") ",\"b\":" T("U8", "[2]", "[0,2]") "}", 2,
      "range: x.safetensors: 'a' starts at byte 1 of the data, expected 2" },
    { W("U8", "[4]", "[0,4]"), 3,
      "truncated: x.safetensors: the file ends 1 bytes before its last tensor does" },
    { W("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1,
      "limit: x.safetensors: w: 9 dimensions, at most 8 are read" },
};

static void check_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = file_of(cases[i].header, strlen(cases[i].header), cases[i].body);
        expect(b.data, b.len, b.len, cases[i].header, cases[i].kind);
        nino_buf_release(&b);
    }
}

// A valid file cut anywhere, or with any bit of its header changed, never does harm; a cut one is
// never accepted.
static void check_damage(void)
{
    const char *text = "{\"__metadata__\":{\"k\":\"v\"},\"a\":" T(
        "BF16", "[2,3]", "[0,12]") ",\"b\":" T("F32", "[]", "[12,16]") "}";
    nino_buf b = file_of(text, strlen(text), 16);
    nino_st_header h;
    expect(b.data, b.len, b.len, text, "ok");
    for (size_t n = 0; n < b.len; n++) {
        char *copy = malloc(n ? n : 1); // exactly n bytes, so that a sanitizer sees one more
        memcpy(copy, b.data, n);
        expect(copy, n, n, "a cut file", "truncated");
        free(copy);
    }
    for (size_t bit = 0; bit < 8 * (b.len - 16); bit++) {
        b.data[bit / 8] ^= (char) (1 << bit % 8);
        if (!nino_st_parse(b.data, b.len, b.len, "x", &h, NULL))
            nino_st_header_release(&h);
        b.data[bit / 8] ^= (char) (1 << bit % 8);
    }
    nino_buf_release(&b);
}

static void check_lengths(void)
{
    static const struct {
        uint64_t len;
        const char *kind;
    } lengths[] = {
        { 100000001, "limit" },
        { UINT64_MAX, "limit" },
        { UINT64_MAX - 7, "limit" },
        { (uint64_t) 1 << 63, "limit" },
        { 100000000, "truncated" },
        { 3, "truncated" },
        { 0, "syntax" },
    };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        nino_buf b = { 0 };
        for (int k = 0; k < 8; k++)
            nino_buf_addc(&b, (char) (lengths[i].len >> (8 * k)));
        nino_buf_adds(&b, "{}");
        expect(b.data, b.len, b.len, "a length", lengths[i].kind);
        nino_buf_release(&b);
    }
    const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    nino_st_header h;
    nino_error err;
    CHECK(nino_st_parse(pointer, strlen(pointer), strlen(pointer), "x", &h, &err));
    CHECK(strstr(err.msg, "git-lfs") && !strcmp(err.kind, "limit"));
    const char page[] = "<!DOCTYPE html><html><body>404</body></html>";
    CHECK(nino_st_parse(page, strlen(page), strlen(page), "x", &h, &err));
    CHECK(strstr(err.msg, "web page"));
}

static void check_large(void)
{
    nino_buf h = { 0 };
    nino_buf_adds(&h, "{\"");
    for (int i = 0; i < 1025; i++)
        nino_buf_addc(&h, 'n');
    nino_buf_adds(&h, "\":" T("U8", "[0]", "[0,0]") "}");
    nino_buf b = file_of(h.data, h.len, 0);
    expect(b.data, b.len, b.len, "a long name", "limit");
    nino_buf_release(&b);
    nino_buf_release(&h);

    for (int extra = 0; extra < 2;
         extra++) { // deep where an object belongs, and in a skipped field
        nino_buf_adds(&h, extra ? "{\"w\":{\"x\":" : "{\"w\":");
        for (int i = 0; i < 100000; i++)
            nino_buf_addc(&h, '[');
        for (int i = 0; i < 100000; i++)
            nino_buf_addc(&h, ']');
        nino_buf_adds(&h, extra ? ",\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}" : "}");
        b = file_of(h.data, h.len, 0);
        expect(b.data, b.len, b.len, "a deep header", extra ? "limit" : "schema");
        nino_buf_release(&b);
        nino_buf_release(&h);
    }

    for (int n = 262144; n <= 262145; n++) {
        for (int i = 0; i < n; i++)
            nino_buf_addf(&h, "%c\"%d\":" T("U8", "[0]", "[0,0]"), i ? ',' : '{', i);
        nino_buf_addc(&h, '}');
        b = file_of(h.data, h.len, 0);
        expect(b.data, b.len, b.len, "many tensors", n == 262144 ? "ok" : "limit");
        nino_buf_release(&b);
        nino_buf_release(&h);
    }
}

// ---- files

static char dir[] = "/tmp/ninodes-st-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void write_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    CHECK(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

static void check_save(void)
{
    nino_error err = { 0 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(2, 3));
    nino_array *empty = nino_array_create(NINO_U8, NINO_SHAPE(0)), *half;
    for (int i = 0; i < 6; i++)
        nino_array_f32(a)[i] = (float) i - 2.5f;
    half = nino_array_convert(a, NINO_F16);
    const nino_st_entry entries[] = { { "h\xc3\xa9\"\\", half }, { "a", a }, { "none", empty } };
    const nino_meta meta[] = { { "prompt", "{\"1\": \"\n\"}", 10 }, { "empty", "", 0 } };
    CHECK_OK(nino_st_save(dir, "one.safetensors", true, entries, 3, meta, 2, &err), err);

    nino_weights *w = nino_weights_open(path_of("one.safetensors"), &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK_STR(nino_weights_format(w), "safetensors");
    CHECK(nino_weights_count(w) == 3 && nino_weights_meta_count(w) == 2);
    CHECK_STR(nino_weights_meta(w, "prompt"), "{\"1\": \"\n\"}");
    CHECK_STR(nino_weights_meta(w, "empty"), "");
    CHECK(!nino_weights_meta(w, "absent") && !nino_weights_at(w, 3) && !nino_weights_meta_at(w, 2));
    const nino_tensor_info *t = nino_weights_find(w, "h\xc3\xa9\"\\");
    CHECK(t && t->dtype == NINO_F16 && t->rank == 2 && t->dim[0] == 2 && t->dim[1] == 3);
    CHECK(t->stride[0] == 3 && t->stride[1] == 1 && !t->is_strided && t->bytes == 12);
    uint16_t raw[6];
    CHECK_OK(nino_weights_read(w, t, raw, &err), err);
    CHECK(!memcmp(raw, half->data, sizeof(raw)));
    nino_array *back = nino_weights_read_f32(w, t, &err);
    CHECK(back && nino_shape_equal(&back->shape, &a->shape));
    CHECK(!memcmp(back->data, a->data, a->bytes));
    nino_array_unref(&back);
    float row[3];
    CHECK_OK(nino_weights_read_rows_f32(w, t, 1, 1, row, &err), err);
    CHECK(!memcmp(row, nino_array_f32(a) + 3, sizeof(row)));
    CHECK_OK(nino_weights_read_rows_f32(w, t, 2, 0, row, &err), err);
    CHECK(nino_weights_read_rows_f32(w, t, 1, 2, row, &err) == NINO_ERR_RANGE);
    CHECK(nino_weights_read_rows_f32(w, t, -1, 1, row, &err) == NINO_ERR_RANGE);
    CHECK(strstr(err.where, "one.safetensors: h"));
    CHECK(nino_weights_find(w, "none") && !nino_weights_find(w, "b") && !nino_weights_find(w, ""));
    back = nino_weights_read_f32(w, nino_weights_find(w, "none"), &err);
    CHECK(back && back->bytes == 0);
    nino_array_unref(&back);

    nino_weights *again = nino_weights_open(path_of("one.safetensors"), &err);
    const nino_hash x = nino_weights_identity(w), y = nino_weights_identity(again);
    CHECK(!memcmp(&x, &y, sizeof(x)));
    nino_weights_unref(&again);
    CHECK(nino_st_save(dir, "one.safetensors", true, entries, 2, NULL, 0, &err) == NINO_OK);
    again = nino_weights_open(path_of("one.safetensors"), &err);
    const nino_hash z = nino_weights_identity(again);
    CHECK(memcmp(&x, &z, sizeof(x)));
    nino_weights_unref(&again);
    // the replaced file stays readable through the open view
    CHECK_OK(nino_weights_read(w, t, raw, &err), err);
    CHECK(!memcmp(raw, half->data, sizeof(raw)));
    nino_weights *shared = nino_weights_ref(w);
    nino_weights_unref(&w);
    CHECK(!w && nino_weights_count(shared) == 3);
    nino_weights_unref(&shared);

    const nino_st_entry twice[] = { { "a", a }, { "a", a } };
    CHECK(nino_st_save(dir, "two.safetensors", true, twice, 2, NULL, 0, &err));
    CHECK_STR(err.kind, "dup");
    CHECK(access(path_of("two.safetensors"), F_OK) != 0);
    nino_array_unref(&a);
    nino_array_unref(&half);
    nino_array_unref(&empty);
}

// Elements that start at an odd byte, and more of them than fit into one block of the reader.
static void check_convert(void)
{
    enum { N = 700001 };
    const char *text = "{\"x\":" T("U8", "[1]", "[0,1]") ",\"y\":" T(
        "BF16", "[700001]", "[1,1400003]") ",\"z\":" T("C64", "[1]", "[1400003,1400011]") "}";
    nino_buf b = file_of(text, strlen(text), 1400011);
    nino_error err = { 0 };
    write_file("odd.safetensors", b.data, b.len);
    nino_weights *w = nino_weights_open(path_of("odd.safetensors"), &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    nino_array *a = nino_weights_read_f32(w, nino_weights_find(w, "y"), &err);
    CHECK(a && a->shape.dim[0] == N);
    const unsigned char *p = (unsigned char *) b.data + 8 + strlen(text) + 1;
    for (int i = 0; i < N; i++) {
        const float want = nino_bf16_to_f32((uint16_t) (p[2 * i] | p[2 * i + 1] << 8));
        CHECK(!memcmp(&nino_array_f32(a)[i], &want, sizeof(want)));
    }
    nino_array_unref(&a);
    CHECK(!nino_weights_read_f32(w, nino_weights_find(w, "z"), &err));
    CHECK(err.code == NINO_ERR_UNSUPPORTED);
    CHECK_STR(err.where, "odd.safetensors: z");
    CHECK(truncate(path_of("odd.safetensors"), 1000) == 0);
    CHECK(!nino_weights_read_f32(w, nino_weights_find(w, "y"), &err));
    CHECK_STR(err.kind, "truncated");
    nino_weights_unref(&w);
    nino_buf_release(&b);
}

static void refuse(const char *name, nino_status code, const char *word)
{
    nino_error err = { 0 };
    CHECK(!nino_weights_open(path_of(name), &err));
    if (err.code != code || !strstr(err.msg, word)) {
        fprintf(stderr, "%s: %d %s\n", name, err.code, err.msg);
        exit(1);
    }
}

static void check_open(void)
{
    refuse("absent.safetensors", NINO_ERR_MISSING, "No such file");
    CHECK(mkdir(path_of("folder"), 0700) == 0 && mkfifo(path_of("fifo"), 0600) == 0);
    refuse("folder", NINO_ERR_IO, "not a regular file");
    refuse("fifo", NINO_ERR_IO, "not a regular file");
    write_file("empty", "", 0);
    refuse("empty", NINO_ERR_FORMAT, "too few");
    write_file("gguf", "GGUF\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    refuse("gguf", NINO_ERR_FORMAT, "GGUF version 1");
    write_file("old.ckpt",
               "\x80\x02\x8a\nl\xfc\x9c"
               "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
               22);
    refuse("old.ckpt", NINO_ERR_FORMAT, "pickle"); // of PyTorch before 1.6, and no more of it
    write_file("page.safetensors", "<!DOCTYPE html><html></html>", 28);
    refuse("page.safetensors", NINO_ERR_FORMAT, "web page");
    write_file("pointer.safetensors", "version https://git-lfs.github.com/spec/v1\n", 43);
    refuse("pointer.safetensors", NINO_ERR_FORMAT, "git-lfs");
}

// Real files: everything opens, and the fp8 decoding tables of torch equal ours.
static void check_data(const char *data)
{
    static const char *const names[] = {
        "models/checkpoints/sd15_tiny.safetensors",
        "models/vae/ae_tiny.safetensors",
        "models/vae_approx/taesd_decoder.safetensors",
        "models/vae_approx/taef1_encoder.safetensors",
        "models/loras/lora_disney_inpainting.safetensors",
        "models/diffusion_models/flux_tiny_fp8_e4m3fn_scaled.safetensors",
        "taesd_ref/taesd_shiba.safetensors",
    };
    char path[512];
    nino_error err = { 0 };
    // the first two are in both
    const size_t n = test_data_is_own(data) ? 2 : sizeof(names) / sizeof(names[0]);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", data, names[i]);
        nino_weights *w = nino_weights_open(path, &err);
        CHECK_OK(w ? NINO_OK : err.code, err);
        CHECK(nino_weights_count(w) > 0);
        for (int k = 0; k < nino_weights_count(w); k++) {
            const nino_tensor_info *t = nino_weights_at(w, k);
            CHECK(nino_weights_find(w, t->name) == t);
        }
        nino_array *a = nino_weights_read_f32(w, nino_weights_at(w, 0), &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        nino_array_unref(&a);
        nino_weights_unref(&w);
    }
    if (test_data_is_own(data))
        return;
    snprintf(path, sizeof(path), "%s/vectors/fp8_decode.safetensors", data);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    static const char *const tables[][2] = { { "e4m3fn", "codes_e4m3fn" },
                                             { "e5m2", "codes_e5m2" } };
    for (int k = 0; k < 2; k++) {
        nino_array *want = nino_weights_read_f32(w, nino_weights_find(w, tables[k][0]), &err);
        nino_array *got = nino_weights_read_f32(w, nino_weights_find(w, tables[k][1]), &err);
        CHECK(want && got && want->shape.dim[0] == 256 && got->shape.dim[0] == 256);
        for (int i = 0; i < 256; i++) {
            const float x = nino_array_f32(want)[i], y = nino_array_f32(got)[i];
            CHECK(x == y || (x != x && y != y));
        }
        nino_array_unref(&want);
        nino_array_unref(&got);
    }
    nino_weights_unref(&w);
}

int main(void)
{
    check_cases();
    check_damage();
    check_lengths();
    check_large();
    CHECK(mkdtemp(dir));
    check_save();
    check_convert();
    check_open();
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK(system(command) == 0);
    for (const char *data = NULL; (data = test_data_next(data));)
        check_data(data);
    if (!test_assets())
        test_skip_part("published files, and torch's values of every fp8 code");
    return 0;
}
