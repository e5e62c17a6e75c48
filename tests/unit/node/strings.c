// Text nodes against Python's results, and the values that are set by hand.
#include "core/base/buf.h"
#include "core/text/unicode.h"
#include "tests/node.h"

static const char *text(void)
{
    node_go();
    return node.out[0]->u.string;
}

static bool yes(void)
{
    node_go();
    return node.out[0]->u.b;
}

static void join_and_cut(void)
{
    node_new("StringConcatenate");
    node_set("string_a", "a");
    node_set("string_b", "b");
    CHECK_STR(text(), "ab");
    node_set("delimiter", ", ");
    CHECK_STR(text(), "a, b");
    node_new("StringSubstring");
    node_set("string", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"); // one to four bytes each
    node_set("start", "1");
    node_set("end", "4");
    CHECK_STR(text(), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    node_set("start", "-2");
    node_set("end", "99");
    CHECK_STR(text(), "\xf0\x9f\x98\x80z");
    node_set("end", "-3");
    CHECK_STR(text(), "");
    node_new("StringLength");
    node_set("string", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
    node_go();
    CHECK(node.out[0]->u.i == 5);
}

static void letters(void)
{
    node_new("CaseConverter");
    node_set("string", "stra\xc3\x9f"
                       "e O'NEIL \xc3\x84rger 3d");
    CHECK_STR(text(), "STRASSE O'NEIL \xc3\x84RGER 3D");
    node_set("mode", "lowercase");
    CHECK_STR(text(), "stra\xc3\x9f"
                      "e o'neil \xc3\xa4rger 3d");
    node_set("mode", "Capitalize");
    CHECK_STR(text(), "Stra\xc3\x9f"
                      "e o'neil \xc3\xa4rger 3d");
    node_set("mode", "Title Case");
    CHECK_STR(text(), "Stra\xc3\x9f"
                      "e O'Neil \xc3\x84rger 3D");
    node_set("string", "");
    CHECK_STR(text(), "");
    node_new("StringTrim");
    node_set("string", "\t\xe2\x80\x83"
                       "a b\xc2\xa0\n"); // with spaces beyond ASCII
    CHECK_STR(text(), "a b");
    node_set("mode", "Left");
    CHECK_STR(text(), "a b\xc2\xa0\n");
    node_set("mode", "Right");
    CHECK_STR(text(), "\t\xe2\x80\x83"
                      "a b");
    node_set("string", " \n ");
    node_set("mode", "Both");
    CHECK_STR(text(), "");
    node_set("mode", "Left");
    CHECK_STR(text(), "");
    node_set("mode", "Right");
    CHECK_STR(text(), "");
}

static void search(void)
{
    node_new("StringReplace");
    node_set("string", "aaa b");
    node_set("find", "aa");
    node_set("replace", "x");
    CHECK_STR(text(), "xa b");
    node_set("find", ""); // between all characters
    node_set("string", "\xc3\xa4"
                       "b");
    CHECK_STR(text(), "x\xc3\xa4xbx");
    node_new("StringContains");
    node_set("string", "Hello");
    node_set("substring", "ell");
    CHECK(yes());
    node_set("substring", "ELL");
    CHECK(!yes());
    node_set("case_sensitive", "false");
    CHECK(yes());
    node_set("substring", "");
    CHECK(yes());
    node_new("StringCompare");
    node_set("string_a", "Hello");
    node_set("string_b", "he");
    CHECK(!yes());
    node_set("case_sensitive", "false");
    CHECK(yes());
    node_set("mode", "Ends With");
    CHECK(!yes());
    node_set("string_b", "LO");
    CHECK(yes());
    node_set("mode", "Equal");
    CHECK(!yes());
    node_set("string_b", "hellO");
    CHECK(yes());
}

static void primitives(void)
{
    node_new("PrimitiveInt");
    node_set("value", "-9223372036854775807");
    node_go();
    CHECK(node.out[0]->u.i == -INT64_MAX);
    node_new("PrimitiveFloat");
    node_set("value", "-2.5e10");
    node_go();
    CHECK(node.out[0]->u.f == -2.5e10);
    node_new("PrimitiveBoolean");
    CHECK(!yes());
    node_set("value", "true");
    CHECK(yes());
    node_new("PrimitiveString");
    node_set("value", "one");
    CHECK_STR(text(), "one");
    node_new("PrimitiveStringMultiline");
    node_set("value", "one\ntwo");
    CHECK_STR(text(), "one\ntwo");
}

int main(void)
{
    node_open();
    join_and_cut();
    letters();
    search();
    primitives();
    node_close();
    return 0;
}
