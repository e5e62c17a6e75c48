// The JSON reader and writer: what is taken and refused, where errors are, round trips, edits.
#include "core/base/json.h"
#include "tests/test.h"

#include <dirent.h>
#include <math.h>

static nino_error err;

static nino_json_doc *parse(const char *s, size_t len, const nino_json_limits *lim)
{
    nino_json_doc *doc = NULL;
    const nino_status st = nino_json_parse(s, len, "t.json", lim, &doc, &err);
    CHECK((st == NINO_OK) == (doc != NULL));
    return doc;
}

static nino_json_doc *parse_ok(const char *s)
{
    nino_json_doc *doc = parse(s, strlen(s), NULL);
    if (!doc)
        fprintf(stderr, "%s: %s\n", s, err.msg);
    CHECK(doc);
    return doc;
}

static void check_written(const nino_json_doc *as, const nino_json *v, const char *expect,
                          size_t len)
{
    nino_buf b = { 0 };
    nino_json_write(&b, as, v);
    if (!(b.len == len && !memcmp(b.data, expect, len)))
        fprintf(stderr, "written: %s\nexpected: %s\n", b.data, expect);
    CHECK(b.len == len && !memcmp(b.data, expect, len));
    nino_buf_release(&b);
}

static void test_good(void)
{
    // text, and how it looks when generated anew (NULL: the same)
    static const struct {
        const char *text, *again;
    } t[] = {
        { "null", NULL },
        { "true", NULL },
        { " false\n", "false" },
        { "0", NULL },
        { "-0", NULL },
        { "-12.50e+3", NULL },
        { "1E5", NULL },
        { "18446744073709551615", NULL },
        { "1e999", NULL },
        { "NaN", NULL },
        { "[NaN,Infinity,-Infinity]", "[NaN, Infinity, -Infinity]" },
        { "\"\"", NULL },
        { "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\t\"" },
        { "\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\"\\u0000\\u001f\"", NULL },
        { "\"\x7f\xc3\xa9 and more than eight bytes \xf0\x9f\x98\x80\"", NULL },
        { "\"12345678\"", NULL },
        { "\"1234567\\n\"", NULL },
        { "[]", NULL },
        { "{}", NULL },
        { "[ [ ] , { } ]", "[[], {}]" },
        { "[[[1]], 2]", NULL },
        { "\t{\"a\" : 1 , \"b\":[true,null] }\r\n", "{\"a\": 1, \"b\": [true, null]}" },
        { "{\"\": {\"\": {}}, \"a\\u0000\": 1, \"a\": 2}", NULL },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_json_doc *doc = parse_ok(t[i].text);
        const char *again = t[i].again ? t[i].again : t[i].text;
        check_written(doc, doc->root, t[i].text, strlen(t[i].text));
        check_written(NULL, doc->root, again, strlen(again));
        nino_json_doc_destroy(&doc);
        CHECK(!doc);
    }
    nino_json_doc_destroy(NULL);
}

static void test_bad(void)
{
    static const struct {
        const char *text, *kind, *end; // end: what err.msg ends in
    } t[] = {
        { "", "syntax", "expected a value at 1:1" },
        { " \n ", "syntax", "at 2:2" },
        { "nul", "syntax", "unexpected 'n', expected a value at 1:1" },
        { "nullx", "syntax", "unexpected 'x', expected the end at 1:5" },
        { "True", "syntax", "at 1:1" },
        { "-", "syntax", "at 1:2" },
        { "+1", "syntax", "at 1:1" },
        { "01", "syntax", "leading zero at 1:1" },
        { "-01", "syntax", "leading zero at 1:2" },
        { "1.", "syntax", "expected a digit at 1:3" },
        { ".5", "syntax", "at 1:1" },
        { "1e", "syntax", "at 1:3" },
        { "1e+", "syntax", "at 1:4" },
        { "0x10", "syntax", "at 1:2" },
        { "1 2", "syntax", "at 1:3" },
        { "-NaN", "syntax", "at 1:2" },
        { "Infinit", "syntax", "at 1:1" },
        { "nan", "syntax", "at 1:1" },
        { "'a'", "syntax", "at 1:1" },
        { "\"", "syntax", "unterminated string at 1:1" },
        { "\"abc", "syntax", "unterminated string at 1:1" },
        { "\"abc\\", "syntax", "invalid escape in a string at 1:5" },
        { "\"\\x41\"", "syntax", "at 1:2" },
        { "\"\\u12\"", "syntax", "at 1:2" },
        { "\"\\u12g4\"", "syntax", "at 1:2" },
        { "\"\\ud800\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"\\ud800x\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"\\ud800\\n\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"\\ud800\\u0041\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"\\ud800\\ud800\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"a\\udc00\"", "syntax", "lone surrogate in a string at 1:3" },
        { "\"\\udc00\\udc00\"", "syntax", "lone surrogate in a string at 1:2" },
        { "\"a\nb\"", "syntax", "control character 0x0a in a string at 1:3" },
        { "\"a\tb\"", "syntax", "control character 0x09 in a string at 1:3" },
        { "[\n \"\xff\"]", "syntax", "invalid UTF-8 in a string at 2:3" },
        { "\"\xc0\xaf\"", "syntax", "at 1:2" },
        { "\"\xed\xa0\x80\"", "syntax", "at 1:2" },
        { "\"12345678\xc3\"", "syntax", "at 1:10" },
        { "[", "syntax", "unexpected end, expected a value at 1:2" },
        { "[1", "syntax", "unexpected end, expected ',' or ']' at 1:3" },
        { "[1,", "syntax", "at 1:4" },
        { "[1,]", "syntax", "unexpected ']', expected a value at 1:4" },
        { "[,1]", "syntax", "at 1:2" },
        { "[1 2]", "syntax", "at 1:4" },
        { "[1}", "syntax", "at 1:3" },
        { "]", "syntax", "at 1:1" },
        { "[]]", "syntax", "at 1:3" },
        { "{\"a\"", "syntax", "expected ':' at 1:5" },
        { "{\"a\" 1}", "syntax", "expected ':' at 1:6" },
        { "{\"a\":}", "syntax", "at 1:6" },
        { "{\"a\":1,}", "syntax", "expected a key at 1:8" },
        { "{a:1}", "syntax", "expected a key at 1:2" },
        { "{1:1}", "syntax", "at 1:2" },
        { "{\"a\":1]", "syntax", "expected ',' or '}' at 1:7" },
        { "{\"a\":1\n,\"b\":2", "syntax", "at 2:7" },
        { "{} // no comments", "syntax", "at 1:4" },
        { "[1, /* no */ 2]", "syntax", "at 1:5" },
        { "{}{}", "syntax", "at 1:3" },
        { "\xef\xbb\xbf{}", "syntax", "byte order mark at 1:1" },
        { "\xff\xfe{", "syntax", "unexpected byte 0xff, expected a value at 1:1" },
        { "[1,\x0b]", "syntax", "at 1:4" },
        { "{\"a\":1,\"a\":2}", "dup", "repeated key \"a\" at 1:8" },
        { "{\"a\":1,\n  \"\\u0061\" :2}", "dup", "repeated key \"a\" at 2:3" },
        { "[{\"x\":{\"b\":[],\"b\":{}}}]", "dup", "at 1:15" },
        { "{\"\":1,\"\":2}", "dup", "at 1:7" },
        { "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1, \"3\":1}",
          "dup", "repeated key \"3\" at 1:57" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_json_doc *doc = NULL;
        const nino_status st =
            nino_json_parse(t[i].text, strlen(t[i].text), "t.json", NULL, &doc, &err);
        if (st != NINO_ERR_FORMAT)
            fprintf(stderr, "taken: %s\n", t[i].text);
        CHECK(st == NINO_ERR_FORMAT && !doc);
        const size_t n = strlen(err.msg), k = strlen(t[i].end);
        if (strcmp(err.kind, t[i].kind) || n < k || strcmp(err.msg + n - k, t[i].end))
            fprintf(stderr, "%s: %s: %s\n", t[i].text, err.kind, err.msg);
        CHECK_STR(err.kind, t[i].kind);
        CHECK(n >= k);
        CHECK_STR(err.msg + n - k, t[i].end);
        CHECK_STR(err.where, "t.json");
    }
    // a NUL is a byte like any other, in a string and outside
    CHECK(!parse("[1]\0", 4, NULL) && strstr(err.msg, "0x00") && strstr(err.msg, "at 1:4"));
    CHECK(!parse("\"a\0b\"", 5, NULL) && strstr(err.msg, "0x00") && strstr(err.msg, "at 1:3"));
    // every prefix of a document is refused
    static const char whole[] =
        "{\"a\": [1.5e3, \"x\\u0041\\ud83d\\ude00\\n\", true, {\"b\": null}]}";
    for (size_t n = 0; n < sizeof(whole) - 1; n++)
        CHECK(!parse(whole, n, NULL));
    nino_json_doc *doc = parse_ok(whole);
    nino_json_doc_destroy(&doc);
}

static void test_reads(void)
{
    nino_json_doc *doc = parse_ok("{\"seed\": 18446744073709551615,\n \"odd\": 9007199254740993, "
                                  "\"neg\": -5, \"cfg\": 8.0, \"nan\": NaN,\n"
                                  "  \"inf\": -Infinity, \"s\": \"a\\u0000b\", \"t\": \"x\", "
                                  "\"b\": true, \"l\": [\"4\", 0], \"k\\u0000\": 1}");
    const nino_json *o = doc->root, *v;
    uint64_t u = 1;
    int64_t i = 1;
    double d = 1;
    bool b = false;
    CHECK(o->type == NINO_JSON_OBJECT && o->count == 11 && o->line == 1 && o->col == 1);
    v = nino_json_get(o, "seed");
    CHECK(nino_json_u64(v, &u) && u == UINT64_MAX && !nino_json_i64(v, &i) && i == 1);
    CHECK(nino_json_u64(nino_json_get(o, "odd"), &u) && u == 9007199254740993u);
    CHECK(nino_json_i64(nino_json_get(o, "neg"), &i) && i == -5);
    CHECK(!nino_json_u64(nino_json_get(o, "neg"), &u));
    v = nino_json_get(o, "cfg");
    CHECK_STR(v->text, "8.0");
    CHECK(!nino_json_i64(v, &i) && !nino_json_u64(v, &u) && nino_json_double(v, &d) && d == 8);
    CHECK(v->line == 2 && v->col == 45);
    CHECK(nino_json_double(nino_json_get(o, "nan"), &d) && isnan(d));
    CHECK(nino_json_double(nino_json_get(o, "inf"), &d) && isinf(d) && d < 0);
    v = nino_json_get(o, "s");
    CHECK(v->len == 3 && !memcmp(v->text, "a\0b", 4) && !nino_json_str(v));
    CHECK_STR(nino_json_str(nino_json_get(o, "t")), "x");
    CHECK(nino_json_bool(nino_json_get(o, "b"), &b) && b);
    CHECK(!nino_json_bool(nino_json_get(o, "t"), &b) &&
          !nino_json_double(nino_json_get(o, "t"), &d));
    v = nino_json_get(o, "l");
    CHECK(v->count == 2 && v->parent == o);
    CHECK_STR(nino_json_str(nino_json_at(v, 0)), "4");
    CHECK(nino_json_at(v, 1)->type == NINO_JSON_NUMBER && !nino_json_at(v, 2));
    CHECK(!nino_json_at(o, 0) && !nino_json_get(v, "4") && !nino_json_get(o, "k") &&
          !nino_json_get(NULL, "k") && !nino_json_at(NULL, 0) && !nino_json_str(NULL));
    nino_json_doc_destroy(&doc);
}

static void check_limit(const char *s, size_t len, const nino_json_limits *lim, const char *msg)
{
    CHECK(!parse(s, len, lim) && err.code == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "limit");
    CHECK(strstr(err.msg, msg));
}

static void test_limits(void)
{
    const nino_json_limits depth = { .max_depth = 3 }, bytes = { .max_bytes = 5 },
                           nodes = { .max_nodes = 4 }, string = { .max_string = 3 },
                           strict = { .strict_numbers = true }, bom = { .allow_bom = true },
                           dup = { .allow_dup_keys = true };
    nino_json_doc *doc = parse("[{\"a\":[1]}]", 11, &depth);
    CHECK(doc);
    nino_json_doc_destroy(&doc);
    check_limit("[{\"a\":[[]]}]", 12, &depth, "3 levels at 1:8");
    CHECK((doc = parse("[1,2]", 5, &bytes)));
    nino_json_doc_destroy(&doc);
    check_limit("[1,2] ", 6, &bytes, "5 bytes at 1:1");
    CHECK((doc = parse("[1,2,3]", 7, &nodes)));
    nino_json_doc_destroy(&doc);
    check_limit("[1,2,3,4]", 9, &nodes, "4 values at 1:8");
    CHECK((doc = parse("{\"abc\":\"\\u0061bc\"}", 18, &string)));
    nino_json_doc_destroy(&doc);
    check_limit("[\"abcd\"]", 8, &string, "3 bytes at 1:2");
    check_limit("{\"abcd\":1}", 10, &string, "3 bytes at 1:2");
    CHECK(!parse("[1, NaN]", 8, &strict) && !strcmp(err.kind, "syntax") && strstr(err.msg, "1:5"));
    CHECK(!parse("-Infinity", 9, &strict));
    CHECK((doc = parse("\xef\xbb\xbf[1,\n2]\n", 10, &bom)));
    CHECK(doc->root->col == 1);
    check_written(doc, doc->root, "\xef\xbb\xbf[1,\n2]\n", 10);
    nino_json_doc_destroy(&doc);
    CHECK(!parse("\xef\xbb\xbf[x", 5, &bom) && strstr(err.msg, "1:2"));
    CHECK((doc = parse("{\"a\":1,\"a\":2}", 13, &dup)));
    CHECK_STR(nino_json_get(doc->root, "a")->text, "1");
    nino_json_doc_destroy(&doc);

    const size_t n = 70000;
    char *big = malloc(n);
    CHECK(big);
    memset(big, '7', n);
    check_limit(big, n, NULL, "number of more than 4096 bytes at 1:1");
    memset(big, '[', n);
    check_limit(big, n, NULL, "256 levels at 1:257");
    free(big);
}

// A million levels are refused at 256, and work when asked for: nothing recurses.
static void test_deep(void)
{
    const size_t n = 1000000;
    const nino_json_limits lim = { .max_depth = 1000000 };
    char *s = malloc(2 * n + 1);
    CHECK(s);
    memset(s, '[', n);
    memset(s + n, ']', n);
    check_limit(s, 2 * n, NULL, "256 levels");
    nino_json_doc *doc = parse(s, 2 * n, &lim);
    CHECK(doc);
    check_written(doc, doc->root, s, 2 * n);
    check_written(NULL, doc->root, s, 2 * n);
    nino_json_doc_destroy(&doc);
    CHECK(!parse(s, 2 * n - 1, &lim));
    check_limit(s, n, NULL, "256 levels");
    for (size_t i = 0; i < n; i++)
        s[2 * i] = '1', s[2 * i + 1] = ',';
    s[0] = '[';
    CHECK(!parse(s, 2 * n, &lim));
    free(s);
}

// Repeated keys in a large object are found in linear time, the last key included.
static void test_many_keys(void)
{
    nino_buf b = { 0 };
    nino_buf_addc(&b, '{');
    for (int i = 0; i < 200000; i++)
        nino_buf_addf(&b, "%s\"key %d\": %d", i ? "," : "", i, i);
    const size_t mark = b.len;
    nino_buf_addc(&b, '}');
    nino_json_doc *doc = parse(b.data, b.len, NULL);
    CHECK(doc && doc->root->count == 200000);
    nino_json_doc_destroy(&doc);
    b.len = mark;
    nino_buf_adds(&b, ",\n \"key 77777\": 0}");
    CHECK(!parse(b.data, b.len, NULL));
    CHECK_STR(err.kind, "dup");
    CHECK(strstr(err.msg, "\"key 77777\" at 2:2"));
    nino_buf_release(&b);
}

// The document reads `expect`, and ranges and tree still agree: written from the tree it reads the
// same.
static void check_edited(nino_json_doc *doc, const char *expect)
{
    check_written(doc, doc->root, expect, strlen(expect));
    nino_json_doc *again = parse_ok(expect);
    nino_buf a = { 0 }, b = { 0 };
    nino_json_write(&a, NULL, doc->root);
    nino_json_write(&b, NULL, again->root);
    CHECK_STR(a.data, b.data);
    const nino_json *x = doc->root, *y = again->root;
    while (x) { // same ranges everywhere
        CHECK(y && x->src_begin == y->src_begin && x->src_end == y->src_end && x->type == y->type &&
              x->count == y->count);
        if (x->child) {
            x = x->child, y = y->child;
            continue;
        }
        while (x && !x->next)
            x = x->parent, y = y->parent;
        if (x)
            x = x->next, y = y->next;
    }
    nino_buf_release(&a);
    nino_buf_release(&b);
    nino_json_doc_destroy(&again);
}

// What came of changing `text`; expect NULL: nothing. Takes doc.
static void check_change(nino_json_doc *doc, nino_status st, const char *text, const char *expect)
{
    if (expect)
        CHECK_OK(st, err);
    else
        CHECK(st != NINO_OK);
    check_edited(doc, expect ? expect : text);
    nino_json_doc_destroy(&doc);
}

static void check_set(const char *text, const char *path, const char *key, const char *json,
                      const char *expect)
{
    nino_json_doc *doc = parse_ok(text);
    nino_json *obj = doc->root;
    if (path)
        obj = (nino_json *) nino_json_get(obj, path);
    const nino_status st = nino_json_set(doc, obj, key, json, &err);
    check_change(doc, st, text, expect);
}

// The array "a" of `text` with element `at` replaced (json) or removed (NULL), or one more (at <
// 0).
static void check_array(const char *text, int at, const char *json, const char *expect)
{
    nino_json_doc *doc = parse_ok(text);
    nino_json *a = (nino_json *) nino_json_get(doc->root, "a");
    nino_json *old = at < 0 ? NULL : (nino_json *) nino_json_at(a, (uint32_t) at);
    const nino_status st = !old   ? nino_json_append(doc, a, json, &err)
                           : json ? nino_json_replace(doc, old, json, &err)
                                  : nino_json_remove(doc, old, &err);
    check_change(doc, st, text, expect);
}

// What is the whole document, or was put into it without having been read from it, is not taken out.
static void test_no_element(void)
{
    nino_json_doc *doc = parse_ok("{\"a\": [1, 2]}");
    nino_json *a = (nino_json *) nino_json_get(doc->root, "a");
    CHECK(nino_json_remove(doc, doc->root, &err) == NINO_ERR_ARG);
    CHECK(strstr(err.msg, "not an element"));
    nino_json own = *a->child;
    own.src_end = 0;
    CHECK(nino_json_remove(doc, &own, &err) == NINO_ERR_ARG);
    CHECK(a->count == 2);
    nino_json_doc_destroy(&doc);
}

static void test_arrays(void)
{
    check_array("{\"a\": [1, [2], 3], \"b\": 4}", 1, "{\"x\": [5]}",
                "{\"a\": [1, {\"x\": [5]}, 3], \"b\": 4}");
    check_array("{\"a\": [1, [2], 3], \"b\": 4}", 0, NULL, "{\"a\": [[2], 3], \"b\": 4}");
    check_array("{\"a\": [1, [2], 3], \"b\": 4}", 1, NULL, "{\"a\": [1, 3], \"b\": 4}");
    check_array("{\"a\": [1, [2], 3 ], \"b\": 4}", 2, NULL, "{\"a\": [1, [2] ], \"b\": 4}");
    check_array("{\"a\": [ [2] ], \"b\": 4}", 0, NULL, "{\"a\": [  ], \"b\": 4}");
    check_array("{\"a\": [], \"b\": 4}", -1, "7", "{\"a\": [7], \"b\": 4}");
    check_array("{\"a\": [1], \"b\": 4}", -1, "7", "{\"a\": [1, 7], \"b\": 4}");
    check_array("{\"a\":[1,2],\"b\":4}", -1, "7", "{\"a\":[1,2,7],\"b\":4}");
    check_array("{\"a\":[\n  1\n],\"b\":4}", -1, "7", "{\"a\":[\n  1,\n  7\n],\"b\":4}");
    check_array("{\"a\": [1]}", -1, "7,", NULL);
    check_array("{\"a\": [1]}", 0, "", NULL);
    check_array("{\"a\": 1}", -1, "7", NULL);
}

static void test_set(void)
{
    check_set("{\"a\": 1, \"b\" : [1,2] }\n", NULL, "a", " 22 ", "{\"a\": 22, \"b\" : [1,2] }\n");
    check_set("{\"a\": 1, \"b\" : [1,2] }", NULL, "b", "{\"x\": [null]}",
              "{\"a\": 1, \"b\" : {\"x\": [null]} }");
    check_set("{\"a\":1}", NULL, "b", "\"\\u00e9\"", "{\"a\":1,\"b\":\"\\u00e9\"}");
    check_set("{\"a\": 1}", NULL, "b", "2", "{\"a\": 1, \"b\": 2}");
    check_set("{ \"a\": 1 }", NULL, "b", "2", "{ \"a\": 1, \"b\": 2 }");
    check_set("{}", NULL, "b\"", "[1]", "{\"b\\\"\": [1]}");
    check_set("{ }", NULL, "b", "1", "{\"b\": 1 }");
    check_set("{\n  \"x\": {\n    \"a\\\"\": 1,\n    \"b\" : 2\n  },\n  \"y\": [3]\n}\n", "x", "c",
              "[4]",
              "{\n  \"x\": {\n    \"a\\\"\": 1,\n    \"b\" : 2,\n    \"c\" : [4]\n  },\n  \"y\": "
              "[3]\n}\n");
    check_set("{\n\t\"x\": {\n\t\t\"a\": 1\n\t},\n\t\"y\": [3]\n}", "x", "b", "7",
              "{\n\t\"x\": {\n\t\t\"a\": 1,\n\t\t\"b\": 7\n\t},\n\t\"y\": [3]\n}");
    check_set("{\"x\": {\"a\": [[1], 2]}, \"y\": 3}", "x", "a", "0",
              "{\"x\": {\"a\": 0}, \"y\": 3}");
    check_set("{\"x\": {\"a\": 1}, \"y\": 3}", "x", "a", "[1, 2", NULL);
    check_set("{\"x\": {\"a\": 1}, \"y\": 3}", "x", "b", "", NULL);
    check_set("{\"x\": {\"a\": 1}, \"y\": 3}", "y", "b", "1", NULL);
    check_set("{\"x\": {\"a\": 1}, \"y\": 3}", "z", "b", "1", NULL);

    // many edits of one document, each seen through the same pointer
    nino_json_doc *doc = parse_ok("{\"n\": {\"seed\": 1, \"k\": \"v\"}}");
    nino_json *obj = doc->root->child;
    const nino_json *seed = obj->child;
    char text[32];
    for (int i = 0; i < 1000; i++) {
        uint64_t u = 0;
        snprintf(text, sizeof(text), "%d", i * i);
        CHECK_OK(nino_json_set(doc, obj, "seed", text, &err), err);
        CHECK(nino_json_u64(seed, &u) && u == (uint64_t) i * (uint64_t) i);
        CHECK(obj->count == 2);
    }
    check_written(doc, doc->root, "{\"n\": {\"seed\": 998001, \"k\": \"v\"}}", 33);
    check_written(doc, obj, "{\"seed\": 998001, \"k\": \"v\"}", 26);
    nino_json_doc_destroy(&doc);
}

// Every workflow comes back byte for byte, from its source and, as values, from its tree.
static int round_trip_folder(const char *assets, const char *sub)
{
    char path[1024];
    int files = 0;
    snprintf(path, sizeof(path), "%s/%s", assets, sub);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".json"))
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", assets, sub, e->d_name);
        FILE *f = fopen(path, "rb");
        CHECK(f);
        static char text[1 << 20];
        const size_t len = fread(text, 1, sizeof(text), f);
        CHECK(len > 0 && len < sizeof(text));
        fclose(f);
        nino_json_doc *doc = parse(text, len, NULL);
        CHECK_OK(doc ? NINO_OK : NINO_ERR_FORMAT, err);
        check_written(doc, doc->root, text, len);
        nino_buf a = { 0 }, b = { 0 };
        nino_json_write(&a, NULL, doc->root);
        nino_json_doc *again = parse(a.data, a.len, NULL);
        CHECK(again);
        nino_json_write(&b, NULL, again->root);
        CHECK_STR(b.data, a.data);
        nino_buf_release(&a);
        nino_buf_release(&b);
        nino_json_doc_destroy(&again);
        nino_json_doc_destroy(&doc);
        files++;
    }
    closedir(dir);
    return files;
}

int main(void)
{
    test_good();
    test_bad();
    test_reads();
    test_limits();
    test_deep();
    test_many_keys();
    test_set();
    test_arrays();
    test_no_element();
    const char *assets = test_assets();
    CHECK(round_trip_folder("data", "workflows") >= 20);
    if (assets) {
        CHECK(round_trip_folder(assets, "workflows_ui") > 20);
        CHECK(round_trip_folder(assets, "workflows_api") > 0);
    } else {
        test_skip_part("ComfyUI's own workflows");
    }
    return 0;
}
