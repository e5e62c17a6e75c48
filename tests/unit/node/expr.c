// Expressions in Python's grammar: values are those of Python 3.11, errors name the place.
#include "core/node/expr.h"

#include "core/base/arena.h"
#include "core/node/pytext.h"
#include "tests/node.h"
#include "tests/unit/base/comma.h"

// a = 7, b = 2.5, c = True, values = [a, b, c]
static const char *const rows[][2] = {
    { "1 + 2", "3" },
    { "7 / 2", "3.5" },
    { "-7 // 2", "-4" },
    { "7 // -2", "-4" },
    { "-7 % 3", "2" },
    { "7 % -3", "-2" },
    { "7.5 // 2", "3.0" },
    { "-7.5 % 2", "0.5" },
    { "2 ** 10", "1024" },
    { "0 << 2147483647", "0" },
    { "2 ** -1", "0.5" },
    { "2 ** 0.5", "1.4142135623730951" },
    { "-2 ** 2", "-4" },
    { "2 ** 3 ** 2", "512" },
    { "(1 + 2) * 3", "9" },
    { "1 if a > b else 2", "1" },
    { "a if a < b else b", "2.5" },
    { "a and b", "2.5" },
    { "0 or b", "2.5" },
    { "not a", "False" },
    { "not 0 and 5", "5" },
    { "1 < a < 10", "True" },
    { "1 < a > 10", "False" },
    { "1 == 1.0", "True" },
    { "True + True", "2" },
    { "5 in values", "False" },
    { "7 in values", "True" },
    { "8 not in values", "True" },
    { "\"a\" in \"cat\"", "True" },
    { "\"ab\" + \"cd\" == \"abcd\"", "True" },
    { "values[0] + values[-1]", "8" },
    { "max(values)", "7" },
    { "min(a, b, 3)", "2.5" },
    { "sum(values)", "10.5" },
    { "sum(1, 2, 3.5)", "6.5" },
    { "abs(-5)", "5" },
    { "abs(-2.5)", "2.5" },
    { "round(2.5)", "2" },
    { "round(3.5)", "4" },
    { "round(-2.5)", "-2" },
    { "round(2.675, 2)", "2.67" },
    { "round(1234567, -3)", "1235000" },
    { "round(1250, -2)", "1200" },
    { "round(1350, -2)", "1400" },
    { "round(1.5)", "2" },
    { "round(0.5, 0)", "0.0" },
    { "pow(2, 200) // pow(2, 190)", "1024" },
    { "2 ** 100 % 1000007", "698635" },
    { "10 ** 20 - 1", "99999999999999999999" },
    { "123456789012345678901234567890 * 987654321098765432109876543210",
      "121932631137021795226185032733622923332237463801111263526900" },
    { "123456789012345678901234567890 // -98765432109", "-1249999988620468751" },
    { "-123456789012345678901234567890 % 98765432109", "93411957969" },
    { "(2 ** 70 + 1) / (2 ** 70)", "1.0" },
    { "sqrt(2)", "1.4142135623730951" },
    { "ceil(2.1)", "3" },
    { "floor(-2.1)", "-3" },
    { "ceil(7)", "7" },
    { "log(8, 2)", "3.0" },
    { "log2(8)", "3.0" },
    { "log10(1000)", "3.0" },
    { "sin(1)", "0.8414709848078965" },
    { "int(3.9)", "3" },
    { "int(-3.9)", "-3" },
    { "int(\"42\")", "42" },
    { "float(\"1.5\")", "1.5" },
    { "float(3)", "3.0" },
    { "1e3", "1000.0" },
    { ".5 + 5.", "5.5" },
    { "1_000", "1000" },
    { "1 << 70", "1180591620717411303424" },
    { "-1 >> 3", "-1" },
    { "5 & 3", "1" },
    { "5 | 3", "7" },
    { "5 ^ 3", "6" },
    { "~5", "-6" },
    { "-6 | 3", "-5" },
    { "-6 ^ 3", "-7" },
    { "True & False", "False" },
    { "True ^ True", "False" },
    { "+a", "7" },
    { "- - 3", "3" },
    { "1 is 1", "True" },
    { "1 is not 2", "True" },
    { "1e16", "1e+16" },
    { "1e22", "1e+22" },
    { "0.1 + 0.2", "0.30000000000000004" },
    { "1e-5", "1e-05" },
    { "3 > 2 == True", "False" },
    { "c == 1", "True" },
    { "9007199254740993 == 9007199254740992.0", "False" },
    { "9007199254740993 > 9007199254740992.0", "True" },
    { "a*b - c", "16.5" },
    { "int(1e20)", "100000000000000000000" },
    { "\"abc\"[1] == \"b\"", "True" },
    { "round(123.456, -1)", "120.0" },
    { "round(-15.0, -1)", "-20.0" },
    { "round(5.0, -400)", "0.0" },
    { "round(2.5, 400)", "2.5" },
    { "round(1.5, 5)", "1.5" },
    { "round(1e300, 250)", "1e+300" },
    { "round(7, -1300)", "0" },
    { "round(7, -1)", "10" },
    { "round(150, -2)", "200" },
    { "round(250, -2)", "200" },
    { "round(-150, -2)", "-200" },
    { "round(7, 3)", "7" },
    { "round(True)", "1" },
    { "int(\" 42\\n\")", "42" },
    { "int(True)", "1" },
    { "float(\" 1.5\")", "1.5" },
    { "float(True)", "1.0" },
    { "sqrt(4)", "2.0" },
    { "cos(0)", "1.0" },
    { "tan(0)", "0.0" },
    { "sin(0)", "0.0" },
    { "log(1)", "0.0" },
    { "ceil(-2.5)", "-2" },
    { "floor(5)", "5" },
    { "ceil(True)", "1" },
    { "max(1, 2.5)", "2.5" },
    { "max(2.5, 1)", "2.5" },
    { "min(2.5, 1)", "1" },
    { "min(1, 2.5)", "1" },
    { "max('a', 'b') == 'b'", "True" },
    { "abs(True)", "1" },
    { "abs(10 ** 20)", "100000000000000000000" },
    { "abs(-10 ** 20)", "100000000000000000000" },
    { "pow(2, 0.5)", "1.4142135623730951" },
    { "pow(2.0, 3)", "8.0" },
    { "1 if '' else 2", "2" },
    { "1 if 'a' else 2", "1" },
    { "1 if 0.0 else 2", "2" },
    { "1 if values else 2", "1" },
    { "values == values", "True" },
    { "values == 1", "False" },
    { "'' in 'a'", "True" },
    { "'b' in 'a'", "False" },
    { "2 <= 2", "True" },
    { "2 >= 2.0", "True" },
    { "2 >= 3", "False" },
    { "2 < 2.0", "False" },
    { "1 != 1.0", "False" },
    { "'a' <= 'a'", "True" },
    { "'a' > 'b'", "False" },
    { "-7 // 2.0", "-4.0" },
    { "7 % -2.5", "-0.5" },
    { "2.0 ** 3", "8.0" },
    { "-2.0 ** 2", "-4.0" },
    { "(-2) ** -1", "-0.5" },
    { "(-2.0) ** 2", "4.0" },
    { "'ab' * 2 == 'abab'", "True" },
    { "1e308 * 10", "inf" },
    { "-1e308 * 10", "-inf" },
    { "not ''", "True" },
    { "0 ** 0", "1" },
    { "0.0 ** 0", "1.0" },
    { "(2 ** 70) // -3", "-393530540239137101142" },
    { "-(2 ** 70) % 3", "2" },
    { "True + 1.5", "2.5" },
    { "(2 ** 64) * 1.0", "1.8446744073709552e+19" },
    { "1 << 0", "1" },
    { "5 >> 100", "0" },
    { "-5 >> 100", "-1" },
    { "~True", "-2" },
    { "True | 2", "3" },
    { "(1e308 * 10) > 1", "True" },
    { "(1e308 * 10) - (1e308 * 10) == 0", "False" },
};

// Not a value: the character where it is wrong, 0: anywhere.
static const struct {
    const char *text, *what;
    int at;
} errors[] = {
    { "", "empty", 1 },
    { "1 +", "a value is needed", 4 },
    { "(1 + 2", "closing bracket", 7 },
    { "1 2", "an operator is needed", 3 },
    { "d + 1", "no value 'd'", 1 },
    { "1 + open(2)", "no function 'open'", 5 },
    { "1 / 0", "division by zero", 3 },
    { "1 // 0", "division by zero", 3 },
    { "1.0 % 0", "division by zero", 5 },
    { "sqrt(-1)", "no value", 1 },
    { "log(0)", "no value", 1 },
    { "values[3]", "3 entries", 7 },
    { "5000000 ** 2", "above 4000000", 9 },
    { "2 ** 5000", "4096 bits", 3 },
    { "pow(2, 4001)", "above 4000", 1 },
    { "1 << 5000", "4096 bits", 3 },
    { "-2 ** 0.5 + (-2) ** 0.5", "negative number", 18 },
    { "'a' + 1", "str and int", 5 },
    { "'a' < 1", "str and int", 5 },
    { "min()", "does not take 0", 1 },
    { "round(1, 2, 3)", "does not take 3", 1 },
    { "007", "without zeros", 0 },
    { "a if b", "'else' is needed", 7 },
    { "lambda: 1", "a value is needed", 1 },
    { "\"text", "quote", 0 },
    { "__import__('os')", "no function", 1 },
    { "a.b", "no value 'a.b'", 1 },
    { "int('x')", "no whole number", 0 },
    { "int((1e308 * 10))", "no finite number", 0 },
    { "int(values)", "list", 0 },
    { "float('x')", "no number", 0 },
    { "float(values)", "list", 0 },
    { "sqrt('a')", "str", 0 },
    { "log(2, 'a')", "str", 0 },
    { "log(2, -1)", "no value", 0 },
    { "log(2, 1)", "no value", 0 },
    { "sin((1e308 * 10))", "no value", 0 },
    { "cos((1e308 * 10))", "no value", 0 },
    { "tan((1e308 * 10))", "no value", 0 },
    { "ceil('a')", "str", 0 },
    { "ceil((1e308 * 10))", "no finite", 0 },
    { "floor(-(1e308 * 10))", "no finite", 0 },
    { "max(1, 'a')", "str", 0 },
    { "min(5)", "int", 0 },
    { "max('a')", "str", 0 },
    { "abs('a')", "str", 0 },
    { "pow('a', 2)", "str", 0 },
    { "pow(2, 'a')", "str", 0 },
    { "round('a')", "str", 0 },
    { "round(1.5, 'a')", "str", 0 },
    { "round(1, 1.5)", "float", 0 },
    { "round(1, 2 ** 70)", "", 0 },
    { "round((1e308 * 10))", "", 0 },
    { "sum('a')", "str", 0 },
    { "sum(values, 2)", "list", 0 },
    { "d(1)", "no function 'd'", 0 },
    { "max(1 / 0)", "division by zero", 0 },
    { "a[1 / 0]", "division by zero", 0 },
    { "(1 / 0)[0]", "division by zero", 0 },
    { "a[0]", "int", 0 },
    { "values['a']", "str", 0 },
    { "values[2 ** 70]", "3 entries", 0 },
    { "values[-4]", "3 entries", 0 },
    { "1 if 1 / 0 else 2", "division by zero", 0 },
    { "1 / 0 and 2", "division by zero", 0 },
    { "not 1 / 0", "division by zero", 0 },
    { "-(1 / 0)", "division by zero", 0 },
    { "1 < 1 / 0", "division by zero", 0 },
    { "1 / 0 < 1", "division by zero", 0 },
    { "1 + 1 / 0", "division by zero", 0 },
    { "-'a'", "str", 0 },
    { "~1.5", "float", 0 },
    { "'a' in 5", "", 0 },
    { "5 in 'a'", "", 0 },
    { "1.5 & 1", "", 0 },
    { "'a' | 1", "", 0 },
    { "1 << -1", "", 0 },
    { "1 >> -1", "", 0 },
    { "1 << 'a'", "", 0 },
    { "'a' % 2", "", 0 },
    { "values + 1", "", 0 },
    { "values < values", "", 0 },
    { "0 ** -1", "", 0 },
    { "0.0 ** -1", "", 0 },
    { "10.0 ** 400", "", 0 },
    { "'a' ** 2", "", 0 },
    { "'a' // 2", "", 0 },
    { "2 ** 1200 * 1.0 ** 1 + (2 ** 4000) * 1.0", "", 0 },
};

static nino_status eval(const char *text, nino_arena *a, nino_expr_value *out, nino_error *err)
{
    nino_expr_value list[] = { nino_expr_int(a, 7), nino_expr_float(2.5), nino_expr_bool(true) };
    const nino_expr_var vars[] = {
        { "a", list[0] },
        { "b", list[1] },
        { "c", list[2] },
        { "values", { .kind = NINO_EXPR_LIST, .item = list, .n_items = 3 } },
    };
    const nino_expr_env env = { .vars = vars, .n_vars = 4 };
    return nino_expr_eval(text, &env, a, out, err);
}

static void show(nino_buf *b, const nino_expr_value *v)
{
    char digits[NINO_BIG_TEXT];
    switch (v->kind) {
    case NINO_EXPR_INT:
        nino_big_print(v->i, digits);
        nino_buf_adds(b, digits);
        break;
    case NINO_EXPR_BOOL: nino_buf_adds(b, v->b ? "True" : "False"); break;
    case NINO_EXPR_FLOAT: nino_py_float(b, v->f); break;
    case NINO_EXPR_TEXT: nino_py_repr(b, v->s, v->len); break;
    case NINO_EXPR_LIST: nino_buf_adds(b, "list"); break;
    }
}

static void check_values(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nino_arena *a = nino_arena_create();
        nino_buf b = { 0 };
        nino_error err = { 0 };
        nino_expr_value v;
        if (eval(rows[i][0], a, &v, &err))
            fprintf(stderr, "%s: %s\n", rows[i][0], err.msg);
        CHECK(!err.code);
        show(&b, &v);
        if (strcmp(b.data, rows[i][1]) != 0)
            fprintf(stderr, "%s\n", rows[i][0]);
        CHECK_STR(b.data, rows[i][1]);
        nino_buf_release(&b);
        nino_arena_destroy(&a);
    }
}

static void check_errors(void)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        nino_arena *a = nino_arena_create();
        nino_error err = { 0 };
        nino_expr_value v;
        char place[32];
        snprintf(place, sizeof(place), "at character %d", errors[i].at);
        const nino_status st = eval(errors[i].text, a, &v, &err);
        if (!st || !strstr(err.msg, errors[i].what) || (errors[i].at && !strstr(err.msg, place)))
            fprintf(stderr, "%s: %s\n", errors[i].text, st ? err.msg : "no error");
        CHECK(st && strstr(err.msg, errors[i].what));
        CHECK(!errors[i].at || strstr(err.msg, place));
        CHECK_STR(err.where, "expression");
        nino_arena_destroy(&a);
    }
}

// Texts that would take long, or much memory, or a deep stack.
static void check_bounds(void)
{
    static char text[200000];
    nino_arena *a = nino_arena_create();
    nino_error err = { 0 };
    nino_expr_value v;
    memset(text, '(', 100);
    memcpy(text + 100, "1", 2);
    CHECK(eval(text, a, &v, &err) && strstr(err.msg, "too deep"));
    memset(text, '-', 100);
    CHECK(eval(text, a, &v, &err) && strstr(err.msg, "too deep"));
    for (int i = 0; i < 3000; i++)
        memcpy(text + 2 * i, "1+", 2);
    memcpy(text + 6000, "1", 2);
    CHECK(eval(text, a, &v, &err) && strstr(err.msg, "too long"));
    memset(text, '1', sizeof(text) - 1);
    CHECK(eval(text, a, &v, &err) && strstr(err.msg, "longer"));
    int n = snprintf(text, sizeof(text), "sum(1");
    for (int i = 0; i < 300; i++)
        n += snprintf(text + n, sizeof(text) - (size_t) n, ",1");
    snprintf(text + n, sizeof(text) - (size_t) n, ")");
    CHECK(eval(text, a, &v, &err) && strstr(err.msg, "arguments"));
    CHECK(eval("'aaaaaaaaaa' * 100000", a, &v, &err) && strstr(err.msg, "more than"));
    nino_arena_destroy(&a);
}

// ---- the nodes -------------------------------------------------------------------------------

static nino_value *number(double f, bool is_int)
{
    nino_value *v = node_value(is_int ? NINO_PORT_INT : NINO_PORT_FLOAT);
    if (is_int)
        v->u.i = (int64_t) f;
    else
        v->u.f = f;
    return v;
}

static void check_node(void)
{
    node_new("ComfyMathExpression");
    node_give("values.a", number(7, true));
    node_give("values.c", number(-2.5, false)); // a gap: b is not there
    node_set("expression", "a * c + values[1]");
    node_go();
    CHECK(node.out[0]->u.f == 7 * -2.5 - 2.5 && node.out[1]->u.i == -20 && node.out[2]->u.b);
    node_set("expression", "b");
    node_fails("expression", "expression");
    node_set("expression", "'text'");
    node_fails("expression", "expression");
    node_set("expression", "2 ** 70");
    node_fails("expression", "expression");
    node_set("expression", "1e308 * 10");
    node_fails("expression", "expression");
    node_set("expression", "a == 8");
    node_go();
    CHECK(node.out[0]->u.f == 0 && node.out[1]->u.i == 0 && !node.out[2]->u.b);
}

static void convert(const char *text, double f, int64_t i)
{
    node_new("ComfyNumberConvert");
    node_give("value", node_value(NINO_PORT_STRING))->u.string = strdup(text);
    node_go();
    CHECK(node.out[0]->u.f == f && node.out[1]->u.i == i);
}

static void check_convert(void)
{
    convert(" 3.7\n", 3.7, 3);
    convert("-3.7", -3.7, -3);
    convert("9007199254740993", 9007199254740992.0, INT64_C(9007199254740993));
    convert("+4", 4, 4);
    const char *bad[] = { "", "  ", "abc", "inf", "nan", "(1e308 * 10)", "1,5" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        node_new("ComfyNumberConvert");
        node_give("value", node_value(NINO_PORT_STRING))->u.string = strdup(bad[i]);
        node_fails("value", "value");
    }
    node_new("ComfyNumberConvert");
    node_give("value", node_value(NINO_PORT_BOOLEAN))->u.b = true;
    node_go();
    CHECK(node.out[0]->u.f == 1 && node.out[1]->u.i == 1);
}

// round(rw*sqrt(mp*1048576/(rw*rh))/multiple)*multiple, by Python.
static void check_resolution(void)
{
    static const struct {
        const char *ratio, *mp, *multiple;
        int64_t w, h;
    } sizes[] = {
        { "1:1 (Square)", "1", "8", 1024, 1024 },
        { "16:9 (Widescreen)", "1", "8", 1368, 768 },
        { "9:16 (Portrait Widescreen)", "2", "64", 1088, 1920 },
        { "21:9 (Ultrawide)", "0.5", "32", 1120, 480 },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        node_new("ResolutionSelector");
        node_set("aspect_ratio", sizes[i].ratio);
        node_set("megapixels", sizes[i].mp);
        node_set("multiple", sizes[i].multiple);
        node_go();
        if (node.out[0]->u.i != sizes[i].w || node.out[1]->u.i != sizes[i].h)
            fprintf(stderr, "%s: %lld x %lld\n", sizes[i].ratio, (long long) node.out[0]->u.i,
                    (long long) node.out[1]->u.i);
        CHECK(node.out[0]->u.i == sizes[i].w && node.out[1]->u.i == sizes[i].h);
    }
}

int main(void)
{
    node_open();
    check_values();
    check_errors();
    check_bounds();
    check_node();
    check_convert();
    check_resolution();
    if (set_comma_locale()) // where printf() writes what is not a number of the grammar
        check_values();
    node_close();
    return 0;
}
