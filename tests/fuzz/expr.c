// Expressions of arithmetic nodes: what is computed is one of the kinds of values and can be used,
// the same text gives the same again, what is refused says where.
#include "core/node/expr.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

#include <math.h>

const size_t fuzz_max_len = 1024;

const char *const fuzz_words[] = { "values",     "values[0]",
                                   "a.width",    " ** ",
                                   " // ",       " % ",
                                   " << ",       " >> ",
                                   " if ",       " else ",
                                   " and ",      " or ",
                                   "not ",       " in ",
                                   " is ",       "sum(",
                                   "min(",       "max(",
                                   "round(",     "pow(",
                                   "sqrt(",      "log(",
                                   "int(",       "float(",
                                   "1e308",      "9223372036854775808",
                                   "0x7fffffff", "1_000",
                                   "\"ab\"",     "'\\",
                                   "((((((((",   "~-+",
                                   "True",       "None",
                                   "\xc3\xa9",   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "a * 2 + b // 3 - c ** 2",
        "max(values) if a < b <= 7.5 else round(b / 3, 2)",
        "-7 % 3 + 2 ** -1 * (1 << 65) >> 3 & 255 | 5 ^ ~a",
        "\"ab\" + text in \"cab\" and not values[-1] is c or a.width in values",
        "int(float(sum(1, 2, 3.5))) + pow(2, 100) - sqrt(b) + log(b, 2) + floor(b) + abs(-5)",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static void use(const nino_expr_value *v)
{
    int64_t i = 0;
    double d = 0;
    nino_expr_truth(v);
    nino_expr_to_i64(v, &i);
    nino_expr_to_double(v, &d);
    CHECK(v->kind >= NINO_EXPR_INT && v->kind <= NINO_EXPR_LIST);
    CHECK(v->kind != NINO_EXPR_INT || v->i);
    CHECK(v->kind != NINO_EXPR_TEXT || (v->s && strlen(v->s) == v->len));
    for (int k = 0; v->kind == NINO_EXPR_LIST && k < v->n_items; k++)
        use(&v->item[k]);
}

static nino_status eval(const char *text, nino_arena *a, nino_expr_value *out, nino_error *err)
{
    nino_expr_value items[] = { nino_expr_int(a, 7), nino_expr_float(2.5), nino_expr_bool(true) };
    CHECK(items[0].i); // an entry of a list is its maker's to check
    const nino_expr_var vars[] = {
        { "a", items[0] },
        { "b", items[1] },
        { "c", items[2] },
        { "a.width", nino_expr_int(a, INT64_MIN) },
        { "text", nino_expr_text("xyz") },
        { "values", { .kind = NINO_EXPR_LIST, .item = items, .n_items = 3 } },
    };
    const nino_expr_env env = { .vars = vars, .n_vars = sizeof(vars) / sizeof(vars[0]) };
    const nino_status st = nino_expr_eval(text, &env, a, out, err);
    if (!st)
        use(out); // a list may be that of this function
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error err = { 0 };
    nino_expr_value v[2] = { { 0 }, { 0 } };
    char *text = malloc(size + 1);
    nino_arena *a = nino_arena_create();
    CHECK(text && a);
    memcpy(text, data, size);
    text[size] = 0;
    const nino_status st = eval(text, a, &v[0], &err);
    if (st)
        CHECK(err.code == st && err.kind && err.msg[0] && !strchr(err.msg, '\n'));
    CHECK(eval(text, a, &v[1], &err) == st && v[0].kind == v[1].kind);
    CHECK(st || v[0].kind != NINO_EXPR_FLOAT || !memcmp(&v[0].f, &v[1].f, sizeof(v[0].f)));
    nino_arena_destroy(&a);
    free(text);
    return 0;
}
