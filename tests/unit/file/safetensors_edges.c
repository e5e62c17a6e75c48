// Safetensors files at their edges: the order and places of tensors, names, depths and lengths at their
// limits, what is no such file; and every byte that is written.
#include "core/base/buf.h"
#include "core/file/safetensors.h"
#include "tests/test.h"
#include "tests/unit/file/safetensors.h"

static nino_error err;
static char dir[] = "/tmp/ninodes-st-edges-XXXXXX";

static void refused(const void *p, size_t head_len, uint64_t file_bytes, nino_status code,
                    const char *told)
{
    nino_st_header h;
    err = (nino_error){ 0 };
    CHECK(nino_st_parse(p, head_len, file_bytes, "x/y.safetensors", &h, &err) == code);
    if (strcmp(err.msg, told))
        fprintf(stderr, "%s, expected %s\n", err.msg, told);
    CHECK_STR(err.msg, told);
    CHECK(!h.arena && !h.infos && !h.n_infos && !h.meta && !h.n_meta);
}

#define T(name, dtype, shape, offsets)                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

// Tensors come by their place in the file; those without bytes before the one that begins there, by name.
static void order(void)
{
    static const char text[] =
        "{" T("e", "F32", "[]", "[8,12]") "," T("z", "U8", "[0,7]", "[8,8]") "," T(
            "d", "F16", "[2,1,2]",
            "[0,8]") "," T("a", "U8", "[0]", "[8,8]") "," T("c", "I64", "[3,0,2]", "[12,12]") "}";
    static const struct {
        const char *name;
        nino_dtype dtype;
        int rank;
        uint64_t at, bytes;
        int64_t dim[3], stride[3];
    } want[] = { { "d", NINO_F16, 3, 0, 8, { 2, 1, 2 }, { 2, 2, 1 } },
                 { "a", NINO_U8, 1, 8, 0, { 0 }, { 1 } },
                 { "z", NINO_U8, 2, 8, 0, { 0, 7 }, { 7, 1 } },
                 { "e", NINO_F32, 0, 8, 4, { 0 }, { 0 } },
                 { "c", NINO_I64, 3, 12, 0, { 3, 0, 2 }, { 0, 2, 1 } } };
    nino_st_header h;
    nino_buf b = file_of(text, sizeof(text) - 1, 12);
    CHECK_OK(nino_st_parse(b.data, b.len, b.len, "x", &h, &err), err);
    CHECK(h.n_infos == 5 && !h.n_meta && !h.meta);
    for (int i = 0; i < 5; i++) {
        const nino_tensor_info *t = &h.infos[i];
        CHECK_STR(t->name, want[i].name);
        CHECK(t->dtype == want[i].dtype && t->rank == want[i].rank && !t->is_strided);
        CHECK(t->offset == 8 + sizeof(text) - 1 + want[i].at && t->bytes == want[i].bytes);
        for (int k = 0; k < t->rank; k++)
            CHECK(t->dim[k] == want[i].dim[k] && t->stride[k] == want[i].stride[k]);
    }
    nino_st_header_release(&h);
    // the header is enough, where the file is as long as it must be
    CHECK_OK(nino_st_parse(b.data, b.len - 12, b.len, "x", &h, &err), err);
    CHECK(h.n_infos == 5);
    nino_st_header_release(&h);
    CHECK(!h.arena && !h.n_infos);
    char few[60];
    snprintf(few, sizeof(few), "only %zu bytes of the header given", b.len - 13);
    refused(b.data, b.len - 13, b.len, NINO_ERR_ARG, few);
    refused(b.data, 7, b.len, NINO_ERR_ARG, "only 7 bytes of the header given");
    refused(b.data, 7, 7, NINO_ERR_FORMAT, "7 bytes are too few for a safetensors file");
    refused(b.data, b.len, b.len - 1, NINO_ERR_FORMAT,
            "the file ends 1 bytes before its last tensor does");
    refused(b.data, b.len, b.len - 13, NINO_ERR_FORMAT, "the file ends inside its header");
    refused(b.data, b.len, b.len - 12, NINO_ERR_FORMAT,
            "the file ends 12 bytes before its last tensor does");
    refused(b.data, b.len, b.len + 3, NINO_ERR_FORMAT, "3 bytes follow the last tensor");
    CHECK(nino_st_header_bytes(b.data, 8) == sizeof(text) - 1 && !nino_st_header_bytes(b.data, 7));
    nino_buf_release(&b);
}

static void meta(void)
{
    static const char text[] = "{\"__metadata__\":{\"b\":\"1\\u0000\\u00e9\",\"a\":\"\"}}";
    nino_st_header h;
    nino_buf b = file_of(text, sizeof(text) - 1, 0);
    CHECK_OK(nino_st_parse(b.data, b.len, b.len, "x", &h, &err), err);
    CHECK(h.n_infos == 0 && h.n_meta == 2);
    CHECK_STR(h.meta[0].key, "b");
    CHECK(h.meta[0].value_len == 4 && !memcmp(h.meta[0].value, "1\0\xc3\xa9", 5));
    CHECK_STR(h.meta[1].key, "a");
    CHECK(h.meta[1].value_len == 0 && !*h.meta[1].value);
    nino_st_header_release(&h);
    nino_buf_release(&b);
}

// What a length that no header has is the beginning of.
static void others(void)
{
    static const char *const files[][2] = {
        { "GGUF\3\0\0\0\1\0", "not a safetensors file but a GGUF file" },
        { "PK\3\4\0\0\0\0\1\0",
          "not a safetensors file but a zip archive (a .pth or .ckpt model?)" },
        { "\x80\x02\x8a\x0al\xfc\x9c\x46",
          "not a safetensors file but an old PyTorch pickle; convert it to safetensors" },
        { "version https://git-lfs.github.com", "not a safetensors file but a git-lfs pointer, not "
                                                "the file itself: run git lfs pull" },
        { "version https://git-lf_", "the header claims more than 100000000 bytes" },
        { "<!DOCTYPE html>", "not a safetensors file but a web page: the download went wrong" },
        { "\x89PNG\r\n\x1a\n", "not a safetensors file but a PNG picture" },
        { "{\"1\": {}}", "not a safetensors file but a JSON text" },
        { "abcdefgh", "the header claims more than 100000000 bytes" },
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char head[40] = { 0 };
        const size_t n = strlen(files[i][0]);
        memcpy(head, files[i][0], n);
        head[7] |= i < 2; // their lengths end in zeros, as those of headers do
        refused(head, n < 8 ? 10 : n, 1000, NINO_ERR_FORMAT, files[i][1]);
        CHECK_STR(err.kind, "limit");
        CHECK_STR(err.where, "x/y.safetensors");
    }
    // the longest header, of which nothing is here, and one byte more
    unsigned char longest[8] = { 0x00, 0xe1, 0xf5, 0x05 }, more[8] = { 0x01, 0xe1, 0xf5, 0x05 };
    CHECK(nino_st_header_bytes(longest, 8) == 100000000 && !nino_st_header_bytes(more, 8));
    refused(longest, 8, 100000007, NINO_ERR_FORMAT, "the file ends inside its header");
    refused(longest, 8, 100000008, NINO_ERR_ARG, "only 8 bytes of the header given");
    refused(more, 8, 200000000, NINO_ERR_FORMAT, "the header claims more than 100000000 bytes");
}

// A field that is skipped holds up to 16 brackets in each other; those in texts do not count.
static void depths(void)
{
    static const char *const begin[] = { "", "\"[[[[\\\"{{{{\\\\\",", "[],[[{}]],{}," };
    for (int k = 0; k < 3; k++)
        for (int deep = 15; deep <= 17; deep++) {
            nino_buf h = { 0 };
            nino_st_header out;
            nino_buf_adds(&h, "{\"w\":{\"x\":[");
            nino_buf_adds(&h, begin[k]);
            for (int i = 1; i < deep; i++)
                nino_buf_adds(&h, i % 2 ? "{\"y\":" : "[");
            nino_buf_addc(&h, '1');
            for (int i = deep - 1; i > 0; i--)
                nino_buf_addc(&h, i % 2 ? '}' : ']');
            nino_buf_adds(&h, "],\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}");
            nino_buf b = file_of(h.data, h.len, 0);
            if (deep <= 16) {
                CHECK_OK(nino_st_parse(b.data, b.len, b.len, "x", &out, &err), err);
                nino_st_header_release(&out);
            } else {
                refused(b.data, b.len, b.len, NINO_ERR_FORMAT,
                        "an unknown field is nested too deeply");
                CHECK_STR(err.where, "y.safetensors: w");
            }
            nino_buf_release(&b);
            nino_buf_release(&h);
        }
}

static void names(void)
{
    char buf[192], name[1100], file[200];
    nino_st_header out;
    for (int n = 1023; n <= 1025; n++) {
        nino_buf h = { 0 };
        memset(name, 'n', sizeof(name));
        name[n] = 0;
        nino_buf_addf(&h, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", name);
        nino_buf b = file_of(h.data, h.len, 0);
        if (n <= 1024) {
            CHECK_OK(nino_st_parse(b.data, b.len, b.len, "x", &out, &err), err);
            CHECK_STR(out.infos[0].name, name);
            nino_st_header_release(&out);
        } else {
            refused(b.data, b.len, b.len, NINO_ERR_FORMAT,
                    "a tensor's name has 1025 bytes, at most 1024 are read");
        }
        nino_buf_release(&b);
        nino_buf_release(&h);
    }
    // the file without its folders, the tensor as far as there is room
    CHECK_STR(nino_tensor_where(buf, "/a/b/c.pth", "w\nv", 3), "c.pth: w?v");
    CHECK_STR(nino_tensor_where(buf, "c.pth", "wxyz", 2), "c.pth: wx");
    memset(file, 'f', sizeof(file));
    file[120] = 0;
    nino_tensor_where(buf, file, name, 1025);
    CHECK(strspn(buf, "f") == 90 && !strncmp(buf + 90, ": ", 2));
    CHECK(strspn(buf + 92, "n") == 95 && strlen(buf) == 90 + 2 + 95);
}

// Every byte of what is written: the header is padded, so that the values begin at a multiple of eight.
static void written(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 2));
    nino_array *b = nino_array_create(NINO_U8, NINO_SHAPE(3));
    CHECK(a && b);
    memcpy(a->data, "abcdefgh", 8);
    memcpy(b->data, "xyz", 3);
    static const nino_meta meta[] = { { "k\"", "v\n", 2 }, { "l", "", 0 } };
    const nino_st_entry e[] = { { "b\\", b }, { "a", a } };
#define B "\"b\\\\\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}"
#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[3,11]}"
    static const struct {
        int n, n_meta;
        const char *header;
    } rows[] = {
        { 0, 0, "{}" },
        { 1, 0, "{" B "}" },
        { 2, 0, "{" B "," A "}" },
        { 0, 1, "{\"__metadata__\":{\"k\\\"\":\"v\\n\"}}" },
        { 0, 2, "{\"__metadata__\":{\"k\\\"\":\"v\\n\",\"l\":\"\"}}" },
        { 2, 2, "{\"__metadata__\":{\"k\\\"\":\"v\\n\",\"l\":\"\"}," B "," A "}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[100], *data = NULL;
        size_t len = 0, n = strlen(rows[i].header);
        nino_buf want = { 0 };
        CHECK_OK(nino_st_save(dir, "a.safetensors", true, e, rows[i].n, meta, rows[i].n_meta, &err),
                 err);
        snprintf(path, sizeof(path), "%s/a.safetensors", dir);
        CHECK_OK(nino_file_read(path, 1 << 20, false, &data, &len, &err), err);
        nino_buf_addc(&want, (char) ((n + 7) / 8 * 8));
        nino_buf_add(&want, "\0\0\0\0\0\0\0", 7);
        nino_buf_adds(&want, rows[i].header);
        while (want.len % 8)
            nino_buf_addc(&want, ' ');
        nino_buf_add(&want, "xyzabcdefgh", rows[i].n == 2 ? 11 : rows[i].n ? 3 : 0);
        CHECK(len == want.len && !memcmp(data, want.data, len));
        free(data);
        nino_buf_release(&want);
    }
    nino_array_unref(&a);
    nino_array_unref(&b);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(dir));
    order();
    meta();
    others();
    depths();
    names();
    written();
    snprintf(command, sizeof(command), "rm -r %s", dir);
    CHECK(!system(command));
    return 0;
}
