// What the safetensors reader accepts lies inside the file, without holes and overlap; what it
// refuses carries a kind.
#include "core/file/safetensors.h"
#include "tests/fuzz/tensors.h"
#include "tests/test.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "\"dtype\":",
                                   "\"shape\":",
                                   "\"data_offsets\":",
                                   "\"__metadata__\":",
                                   "\"F32\"",
                                   "\"F8_E4M3\"",
                                   "\"F4\"",
                                   "[]",
                                   "[0,0]",
                                   "[0,16]",
                                   "[16,32]",
                                   "{\"a\":\"b\"}",
                                   ",",
                                   "}",
                                   "{",
                                   "\\u0000",
                                   "\"w\":",
                                   "18446744073709551615",
                                   "9223372036854775808",
                                   "4294967296",
                                   " ",
                                   NULL };

static void put_length(uint8_t *p, size_t len)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t) ((uint64_t) len >> (8 * i));
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const struct {
        const char *header;
        size_t body;
    } seeds[] = {
        { "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}", 16 },
        { "{\"__metadata__\":{\"format\":\"pt\",\"prompt\":\"{\\\"1\\\": 2}\"},"
          "\"a\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
          "\"b\":{\"dtype\":\"F8_E5M2\",\"shape\":[],\"data_offsets\":[12,13]},"
          "\"c\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[13,14]}}  ",
          14 },
        { " {\"x\":{\"extra\":[{\"y\":[null,1.5]}],\"dtype\":\"I64\",\"shape\":[0,5],"
          "\"data_offsets\":[0,0]}}",
          0 },
        { "{}", 0 },
    };
    if (i >= sizeof(seeds) / sizeof(seeds[0]))
        return 0;
    const size_t len = strlen(seeds[i].header);
    CHECK(8 + len + seeds[i].body <= cap);
    put_length(buf, len);
    memcpy(buf + 8, seeds[i].header, len);
    memset(buf + 8 + len, 1, seeds[i].body);
    return 8 + len + seeds[i].body;
}

static void check(const uint8_t *p, size_t n, uint64_t file_bytes)
{
    nino_st_header h;
    nino_error err = { 0 };
    if (nino_st_parse(p, n, file_bytes, "fuzz", &h, &err)) {
        CHECK(err.code && err.kind && err.msg[0] && !h.arena && !h.infos && !h.n_infos);
        tell_error(&err);
        return;
    }
    tell_header(&h);
    uint64_t at = 8 + nino_st_header_bytes(p, n);
    for (int i = 0; i < h.n_infos; i++) {
        const nino_tensor_info *t = &h.infos[i];
        CHECK(t->name[0] && t->rank <= NINO_FILE_MAX_RANK && t->offset == at);
        at += t->bytes;
    }
    CHECK(at == file_bytes);
    for (int i = 0; i < h.n_meta; i++)
        CHECK(h.meta[i].key && strlen(h.meta[i].value) <= h.meta[i].value_len);
    nino_st_header_release(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    check(p, n, n);
    // once more with the length that fits the text, which mutation seldom leaves right
    size_t end = n;
    while (end > 8 && p[end - 1] != '}')
        end--;
    if (end > 8) {
        uint8_t *copy = malloc(n);
        CHECK(copy);
        memcpy(copy, p, n);
        put_length(copy, end - 8);
        check(copy, n, n);
        check(copy, n, end + 16);
        free(copy);
    }
    return 0;
}
