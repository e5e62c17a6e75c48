// Values as text: str(), repr(), str.format(), json.dumps() and re as Python 3.11 has them.
#include "core/node/pytext.h"

#include "tests/node.h"

static const struct {
    double v;
    const char *text;
} floats[] = {
    { 0.0, "0.0" },
    { -0.0, "-0.0" },
    { 1.0, "1.0" },
    { 0.1, "0.1" },
    { 1000000000000000.0, "1000000000000000.0" },
    { 1e+16, "1e+16" },
    { 1.2345678901234568e+17, "1.2345678901234568e+17" },
    { 1e+22, "1e+22" },
    { 0.0001, "0.0001" },
    { 1e-05, "1e-05" },
    { 1.5e-07, "1.5e-07" },
    { -2.5, "-2.5" },
    { 3.141592653589793, "3.141592653589793" },
    { 5e-324, "5e-324" },
    { 1.7976931348623157e+308, "1.7976931348623157e+308" },
    { 100000.0, "100000.0" },
    { 0.001, "0.001" },
};

// The value of a (i int, f float, b bool, s text), the text, the result; b is 12.
static const char *const formats[][3] = {
    { "i7", "{a}", "7" },
    { "i-7", "{a:5d}|{a:<5}|{a:^5}|{a:05}", "   -7|-7   | -7  |-0007" },
    { "i1234567", "{a:,} {a:_} {a:+,d}", "1,234,567 1_234_567 +1,234,567" },
    { "i255", "{a:x} {a:X} {a:#x} {a:b} {a:o} {a:#010b}", "ff FF 0xff 11111111 377 0b11111111" },
    { "i65", "{a:c}|{a:4c}", "A|   A" },
    { "i3", "{a:.2f} {a:e} {a:%}", "3.00 3.000000e+00 300.000000%" },
    { "f2.5", "{a}", "2.5" },
    { "f2.0", "{a} {a!r} {a:g}", "2.0 2.0 2" },
    { "f3.14159", "{a:.2f}|{a:8.3f}|{a:<8.1f}|{a:+.0f}|{a:08.2f}",
      "3.14|   3.142|3.1     |+3|00003.14" },
    { "f1234.5678", "{a:,.2f} {a:.3} {a:.3g} {a:e} {a:E}",
      "1,234.57 1.23e+03 1.23e+03 1.234568e+03 1.234568E+03" },
    { "f100.0", "{a:.3} {a:.4} {a:#.0f}", "1e+02 100.0 100." },
    { "f0.25", "{a:.0%} {a:.1%}", "25% 25.0%" },
    { "finf", "{a} {a:.2f} {a:8}", "inf inf      inf" },
    { "b1", "{a} {a:d} {a:5}", "True 1     1" },
    { "stext", "{a}|{a:6}|{a:>6}|{a:^6}|{a:*^8}|{a:.2}|{a!r}",
      "text|text  |  text| text |**text**|te|'text'" },
    { "sit's", "{a!r} {a!s:>8}", "\"it's\"     it's" },
    { "sä日", "{a:>4}|{a:.1}", "  ä日|ä" },
    { "i9", "{{{a}}} {b:{a}}|", "{9}        12|" },
    { "f0.5", "{a:>{b}}", "         0.5" },
};

// Class, pattern, text, flags, mode or replacement, group or count, result; NULL: an error.
static const struct {
    const char *class_type, *pattern, *text, *flags, *mode;
    int number;
    const char *result;
} patterns[] = {
    { "RegexMatch", "cat", "a cat", "", NULL, 0, "True" },
    { "RegexMatch", "CAT", "a cat", "i", NULL, 0, "True" },
    { "RegexMatch", "^b", "a\nb", "m", NULL, 0, "True" },
    { "RegexMatch", "^b", "a\nb", "", NULL, 0, "False" },
    { "RegexMatch", "a.b", "a\nb", "s", NULL, 0, "True" },
    { "RegexMatch", "a.b", "a\nb", "", NULL, 0, "False" },
    { "RegexMatch", "\\d+", "٣", "", NULL, 0, "True" },
    { "RegexMatch", "a\\Z", "a\n", "", NULL, 0, "False" },
    { "RegexMatch", "a$", "a\n", "", NULL, 0, "True" },
    { "RegexMatch", "(", "x", "", NULL, 0, "False" },
    { "RegexMatch", "\\h", "h", "", NULL, 0, "False" },
    { "RegexMatch", "(?R)", "x", "", NULL, 0, "False" },
    { "RegexMatch", "(?P<q>x)(?P=q)", "xx", "", NULL, 0, "True" },
    { "RegexMatch", "x{,2}y", "y", "", NULL, 0, "True" },
    { "RegexMatch", "\\u00e4", "ä", "", NULL, 0, "True" },
    { "RegexMatch", "a(?i)", "A", "", NULL, 0, "False" },
    { "RegexExtract", "\\d+", "a1b22c333", "", "First Match", 1, "1" },
    { "RegexExtract", "\\d+", "a1b22c333", "", "All Matches", 1, "1\n22\n333" },
    { "RegexExtract", "([a-z])(\\d)", "a1 b2", "", "All Matches", 1, "a\nb" },
    { "RegexExtract", "(\\d)x?", "1x 2", "", "All Matches", 2, "1\n2" },
    { "RegexExtract", "([a-z])(\\d)", "a1 b2", "", "First Group", 2, "1" },
    { "RegexExtract", "([a-z])(\\d)", "a1 b2", "", "First Group", 3, "" },
    { "RegexExtract", "([a-z])(\\d)", "a1 b2", "", "All Groups", 2, "1\n2" },
    { "RegexExtract", "[a-z]\\d", "a1 b2", "", "All Groups", 0, "" },
    { "RegexExtract", "([a-z])\\d", "a1 b2", "", "First Group", 0, "a1" },
    { "RegexExtract", "x*", "axb", "", "All Matches", 1, "\nx\n\n" },
    { "RegexExtract", "(", "x", "", "All Matches", 1, "" },
    { "RegexExtract", "(a)|b", "b a", "", "All Groups", 1, "\na" },
    { "RegexExtract", "Ä+", "ääa", "i", "First Match", 1, "ää" },
    { "RegexReplace", "a", "banana", "", "o", 0, "bonono" },
    { "RegexReplace", "a", "banana", "", "o", 2, "bonona" },
    { "RegexReplace", "x*", "abxd", "", "-", 0, "-a-b--d-" },
    { "RegexReplace", "(\\w+) (\\w+)", "one two", "", "\\2 \\1", 0, "two one" },
    { "RegexReplace", "(?P<w>\\w+)", "hi", "", "<\\g<w>\\g<0>>", 0, "<hihi>" },
    { "RegexReplace", "(a)|(b)", "ab", "", "[\\1\\2]", 0, "[a][b]" },
    { "RegexReplace", "\\s+", "a  b\n c", "", "\\n", 0, "a\nb\nc" },
    { "RegexReplace", "A", "aA", "i", ".", 0, ".." },
    { "RegexReplace", ".", "äb", "", "\\\\", 0, "\\\\" },
    { "RegexReplace", "b", "abc", "", "\\-", 0, "a\\-c" },
    { "RegexReplace", "^", "a\nb\n", "m", ">", 0, ">a\n>b\n>" },
    { "RegexReplace", "(", "x", "", "", 0, NULL },
    { "RegexReplace", "a", "b", "", "\\1", 0, NULL },
    { "RegexReplace", "a", "b", "", "\\q", 0, NULL },
    { "RegexReplace", "a", "b", "", "\\g<n>", 0, NULL },
    { "RegexReplace", "a(?i)", "b", "", "", 0, NULL },
};

static nino_value value_of(const char *s)
{
    nino_value v = { .type = NINO_PORT_STRING };
    switch (*s) {
    case 'i':
        v.type = NINO_PORT_INT;
        v.u.i = strtoll(s + 1, NULL, 10);
        break;
    case 'f':
        v.type = NINO_PORT_FLOAT;
        v.u.f = strtod(s + 1, NULL);
        break;
    case 'b':
        v.type = NINO_PORT_BOOLEAN;
        v.u.b = s[1] == '1';
        break;
    default: v.u.string = (char *) s + 1;
    }
    return v;
}

static void check_formats(void)
{
    const nino_value twelve = { .type = NINO_PORT_INT, .u.i = 12 };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const nino_value v = value_of(formats[i][0]);
        const nino_py_arg args[] = { { "a", &v }, { "b", &twelve } };
        nino_buf b = { 0 };
        nino_error err = { 0 };
        CHECK_OK(nino_py_format(&b, formats[i][1], args, 2, &err), err);
        CHECK_STR(b.data, formats[i][2]);
        nino_buf_release(&b);
    }
    static const char *const bad[] = {
        "{",     "}",         "{a",     "{c}",   "{a:q}", "{a:.}",
        "{a!x}", "{a:99999}", "{a:,x}", "{b:s}", "{}",    "{a:{c}}"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const nino_py_arg args[] = { { "a", &twelve }, { "b", &twelve } };
        nino_buf b = { 0 };
        nino_error err = { 0 };
        CHECK(nino_py_format(&b, bad[i], args, 2, &err));
        CHECK(strstr(err.msg, "at character") && !strcmp(err.where, "f_string"));
        nino_buf_release(&b);
    }
}

static void check_patterns(void)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        const char *kind = patterns[i].class_type + 5;
        char number[16];
        snprintf(number, sizeof(number), "%d", patterns[i].number);
        node_new(patterns[i].class_type);
        node_set("string", patterns[i].text);
        node_set("regex_pattern", patterns[i].pattern);
        node_set("case_insensitive", strchr(patterns[i].flags, 'i') ? "true" : "false");
        node_set("multiline", strchr(patterns[i].flags, 'm') ? "true" : "false");
        node_set("dotall", strchr(patterns[i].flags, 's') ? "true" : "false");
        if (*kind == 'E') {
            node_set("mode", patterns[i].mode);
            node_set("group_index", number);
        } else if (*kind == 'R') {
            node_set("replace", patterns[i].mode);
            node_set("count", number);
        }
        if (!patterns[i].result) {
            node_fails("value", "");
            continue;
        }
        node_go();
        const char *got =
            *kind == 'M' ? node.out[0]->u.b ? "True" : "False" : node.out[0]->u.string;
        if (strcmp(got, patterns[i].result) != 0)
            fprintf(stderr, "%s %s\n", patterns[i].class_type, patterns[i].pattern);
        CHECK_STR(got, patterns[i].result);
    }
    // a search that would not end
    node_new("RegexMatch");
    node_set("regex_pattern", "(a+)+$");
    node_set("string", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    node_fails("limit", "regex_pattern");
}

// ---- JSON ------------------------------------------------------------------------------------

static void extract(const char *json, const char *key, const char *want)
{
    node_new("JsonExtractString");
    node_set("json_string", json);
    node_set("key", key);
    node_go();
    CHECK_STR(node.out[0]->u.string, want);
}

static void check_json(void)
{
    extract("{\"a\": \"text\", \"b\": 1.50, \"c\": null}", "a", "text");
    extract("{\"a\": \"text\", \"b\": 1.50, \"c\": null}", "b", "1.5");
    extract("{\"a\": \"text\", \"b\": 1.50, \"c\": null}", "c", "");
    extract("{\"a\": 1}", "x", "");
    extract("not json", "a", "");
    extract("[1]", "a", "");
    extract("{\"a\": true}", "a", "True");
    extract("{\"a\": {\"a\": 1, \"b\": [null, false, \"it's\", 1e5]}}", "a",
            "{'a': 1, 'b': [None, False, \"it's\", 100000.0]}");
    extract("{\"a\": [\"x\\n\", \"\\u00e4\", \"\\u0001\", {}]}", "a", "['x\\n', 'ä', '\\x01', {}]");
    extract("{\"a\": 1, \"a\": 2}", "a", "2");
}

static void dump(const char *class_type, const char *port, nino_port_type type, const char *json,
                 const char *indent, const char *want)
{
    node_new(class_type);
    node_give(port, node_value(type))->u.string = strdup(json);
    node_set("indent", indent);
    node_go();
    CHECK_STR(node.out[0]->u.string, want);
}

static void check_dumps(void)
{
    dump("ConvertDictionaryToString", "dictionary", NINO_PORT_DICT,
         "{\"a\":[1,2.50,{}],\"b\":{\"c\":null}}", "2",
         "{\n  \"a\": [\n    1,\n    2.5,\n    {}\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}");
    dump("ConvertDictionaryToString", "dictionary", NINO_PORT_DICT, "{\"a\":[1,\"ä\"],\"b\":true}",
         "0", "{\"a\": [1, \"ä\"], \"b\": true}");
    dump("ConvertArrayToString", "array", NINO_PORT_ARRAY, "[]", "2", "[]");
    node_new("PreviewAny");
    node_give("source", node_value(NINO_PORT_DICT))->u.string = strdup("{\"ä\":[1]}");
    node.run.is_plan = true; // nobody to show it to
    node_go();
    node.run.is_plan = false;
}

static void check_string_format(void)
{
    node_new("StringFormat");
    node_set("f_string", "{a} and {c:.1f}");
    node_give("values.a", node_value(NINO_PORT_STRING))->u.string = strdup("x");
    node_give("values.c", node_value(NINO_PORT_FLOAT))->u.f = 2.25;
    node_go();
    CHECK_STR(node.out[0]->u.string, "x and 2.2");
    node_set("f_string", "{b}");
    node_fails("format", "f_string");
}

int main(void)
{
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        nino_buf b = { 0 };
        nino_py_float(&b, floats[i].v);
        CHECK_STR(b.data, floats[i].text);
        nino_buf_release(&b);
    }
    node_open();
    check_formats();
    check_patterns();
    check_json();
    check_dumps();
    check_string_format();
    node_close();
    return 0;
}
