// Whatever is taken as JSON writes back byte for byte, reads the same when generated anew, and can
// be edited; whatever is refused carries a kind and a position.
#include "core/base/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = { "NaN",
                                   "Infinity",
                                   "-Infinity",
                                   "null",
                                   "true",
                                   "false",
                                   "\\u0000",
                                   "\\ud83d",
                                   "\\ude00",
                                   "\\ude00\\ude00",
                                   "\\u00e9",
                                   "\"",
                                   "\\\"",
                                   "\\\\",
                                   "{",
                                   "}",
                                   "[",
                                   "]",
                                   ",",
                                   ":",
                                   "[[[[[[[[",
                                   "{\"a\":",
                                   "1e999",
                                   "-0",
                                   "18446744073709551616",
                                   "1.5e-7",
                                   "\xef\xbb\xbf",
                                   "\xc3\xa9",
                                   "\xf0\x9f\x98\x80",
                                   "\n",
                                   " ",
                                   "\"k\":",
                                   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "{\"3\": {\"class_type\": \"KSampler\", \"inputs\": {\"seed\": 18446744073709551615, "
        "\"cfg\": 8.0, \"model\": [\"4\", 0]}, \"_meta\": {\"title\": \"K\\u00e9\"}, "
        "\"is_changed\": NaN}}\n",
        "{\n  \"nodes\": [\n    {\"id\": 1, \"pos\": [1.5, -2e3], \"flags\": {}},\n    null\n  ],\n"
        "  \"links\": [[1, 2, 0, 3, 0, \"LATENT\"]], \"version\": 0.4\n}",
        "[\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\xc3\xa9\", true, false, [], {}, -0, "
        "Infinity, -Infinity, 0.1E+5]",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}",
        " 12 ",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static void check_refused(const nino_error *err)
{
    tell_error(err);
    CHECK(err->code == NINO_ERR_FORMAT);
    CHECK(!strcmp(err->kind, "syntax") || !strcmp(err->kind, "limit") || !strcmp(err->kind, "dup"));
    const char *at = strstr(err->msg, " at ");
    unsigned line = 0, col = 0;
    for (const char *next; at && (next = strstr(at + 1, " at "));)
        at = next;
    CHECK(at && sscanf(at, " at %u:%u", &line, &col) == 2 && line > 0 && col > 0);
}

// Every value once, through every typed read.
static void read_all(const nino_json *root)
{
    for (const nino_json *v = root; v;) {
        int64_t i;
        uint64_t u;
        double d;
        bool b;
        TELL("%d %u:%u %zu-%zu %u ", v->type, v->line, v->col, v->src_begin, v->src_end, v->count);
        if (nino_json_i64(v, &i))
            TELL("i%lld ", (long long) i);
        if (nino_json_u64(v, &u))
            TELL("u%llu ", (unsigned long long) u);
        if (nino_json_bool(v, &b))
            TELL("b%d ", b);
        CHECK(nino_json_double(v, &d) == (v->type == NINO_JSON_NUMBER));
        if (v->type == NINO_JSON_NUMBER)
            TELL("d%.17g ", d);
        tell_bytes(v->key, v->key_len);
        tell_bytes(v->text, v->text ? v->len : 0);
        CHECK(!nino_json_str(v) || strlen(nino_json_str(v)) == v->len);
        CHECK(v->src_end > v->src_begin && v->line > 0 && v->col > 0);
        CHECK((v->key != NULL) == (v->parent && v->parent->type == NINO_JSON_OBJECT));
        if (v->child) {
            v = v->child;
            continue;
        }
        while (v && !v->next)
            v = v->parent;
        v = v ? v->next : NULL;
    }
}

static void check_edit(nino_json_doc *doc, const nino_json_limits *lim, const char *key)
{
    nino_json_doc *again = NULL;
    nino_buf out = { 0 }, a = { 0 }, b = { 0 };
    nino_error err;
    CHECK_OK(nino_json_set(doc, doc->root, key, " [1, {\"x\": null}] ", &err), err);
    nino_json_write(&out, doc, doc->root);
    CHECK(!out.failed);
    CHECK_OK(nino_json_parse(out.data, out.len, "edited", lim, &again, &err), err);
    CHECK(nino_json_at(nino_json_get(again->root, key), 1));
    tell_bytes(out.data, out.len);
    nino_json_write(&a, NULL, doc->root);
    nino_json_write(&b, NULL, again->root);
    CHECK(!a.failed && !b.failed);
    CHECK(a.len == b.len && !memcmp(a.data, b.data, a.len));
    nino_buf_release(&out);
    nino_buf_release(&a);
    nino_buf_release(&b);
    nino_json_doc_destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const nino_json_limits loose = { .max_depth = 64, .allow_dup_keys = true, .allow_bom = true },
                           strict = { .max_depth = 8,
                                      .max_nodes = 50,
                                      .max_string = 40,
                                      .strict_numbers = true };
    nino_json_doc *doc = NULL, *again = NULL;
    nino_buf same = { 0 }, anew = { 0 }, twice = { 0 };
    nino_error err;
    if (nino_json_parse((const char *) data, size, "fuzz", &strict, &doc, &err))
        check_refused(&err);
    const bool strict_ok = doc != NULL;
    nino_json_doc_destroy(&doc);
    if (nino_json_parse((const char *) data, size, "fuzz", &loose, &doc, &err)) {
        CHECK(!strict_ok);
        check_refused(&err);
        return 0;
    }
    read_all(doc->root);
    nino_json_write(&same, doc, doc->root);
    CHECK(same.len == size && !memcmp(same.data, data, size));
    nino_json_write(&anew, NULL, doc->root);
    CHECK(!anew.failed);
    tell_bytes(anew.data, anew.len);
    CHECK_OK(nino_json_parse(anew.data, anew.len, "anew", &loose, &again, &err), err);
    nino_json_write(&twice, NULL, again->root);
    CHECK(twice.len == anew.len && !memcmp(twice.data, anew.data, anew.len));
    if (doc->root->type == NINO_JSON_OBJECT) {
        check_edit(doc, &loose, "new \"key\"");
        check_edit(doc, &loose, "a");
    }
    nino_buf_release(&same);
    nino_buf_release(&anew);
    nino_buf_release(&twice);
    nino_json_doc_destroy(&again);
    nino_json_doc_destroy(&doc);
    return 0;
}
