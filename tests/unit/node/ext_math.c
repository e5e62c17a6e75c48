// Arithmetic of one operation and vectors, against Python's results.
#include "tests/unit/node/ext.h"

static void whole_numbers(void)
{
    static const struct {
        const char *op, *set, *want;
    } all[] = {
        { "Add", "op=Add|a=-29|b=6", "-23" },  { "Sub", "op=Sub|a=-29|b=6", "-35" },
        { "Mul", "op=Mul|a=-29|b=6", "-174" }, { "Div", "op=Div|a=-29|b=6", "-5" },
        { "Mod", "op=Mod|a=-29|b=6", "1" },    { "And", "op=And|a=-29|b=6", "2" },
        { "Nand", "op=Nand|a=-29|b=6", "4" },  { "Or", "op=Or|a=-29|b=6", "-25" },
        { "Nor", "op=Nor|a=-29|b=6", "4" },    { "Xor", "op=Xor|a=-29|b=6", "-27" },
        { "Xnor", "op=Xnor|a=-29|b=6", "26" }, { "Shl", "op=Shl|a=-29|b=6", "-1856" },
        { "Shr", "op=Shr|a=-29|b=6", "-1" },   { "Max", "op=Max|a=-29|b=6", "6" },
        { "Min", "op=Min|a=-29|b=6", "-29" },  { "Pow", "op=Pow|a=-29|b=6", "594823321" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        GIVES("CM_IntBinaryOperation", all[i].set, 0, all[i].want);
    GIVES("CM_IntBinaryOperation", "op=Pow|a=3|b=39", 0, "4052555153018976267");
    REFUSES("CM_IntBinaryOperation", "op=Pow|a=3|b=40", "value", "op");
    REFUSES("CM_IntBinaryOperation", "op=Div|a=3|b=0", "value", "b");
    REFUSES("CM_IntBinaryOperation", "op=Pow|a=3|b=-1", "value", "b");
    REFUSES("CM_IntBinaryOperation", "op=Shl|a=3|b=63", "value", "op");
    GIVES("CM_IntUnaryOperation", "op=Abs|a=-4", 0, "4");
    GIVES("CM_IntUnaryOperation", "op=Neg|a=-4", 0, "4");
    GIVES("CM_IntUnaryOperation", "op=Inc|a=-4", 0, "-3");
    GIVES("CM_IntUnaryOperation", "op=Dec|a=-4", 0, "-5");
    GIVES("CM_IntUnaryOperation", "op=Sqr|a=-4", 0, "16");
    GIVES("CM_IntUnaryOperation", "op=Cube|a=-4", 0, "-64");
    GIVES("CM_IntUnaryOperation", "op=Not|a=-4", 0, "3");
    GIVES("CM_IntUnaryOperation", "op=Factorial|a=20", 0, "2432902008176640000");
    REFUSES("CM_IntUnaryOperation", "op=Factorial|a=21", "value", "op");
    REFUSES("CM_IntUnaryOperation", "op=Factorial|a=-1", "value", "a");
    GIVES("CM_IntUnaryCondition", "op=IsOdd|a=-3", 0, "True");
    GIVES("CM_IntUnaryCondition", "op=IsEven|a=0", 0, "True");
    GIVES("CM_IntUnaryCondition", "op=IsNegative|a=0", 0, "False");
    GIVES("CM_IntBinaryCondition", "op=Geq|a=2|b=2", 0, "True");
    GIVES("CM_IntBinaryCondition", "op=Lt|a=2|b=2", 0, "False");
    GIVES("easy mathInt", "a=-7|b=2|operation=divide", 0, "-4");
    GIVES("easy mathInt", "a=-7|b=2|operation=modulo", 0, "1");
    GIVES("easy mathInt", "a=-7|b=2|operation=power", 0, "49");
    GIVES("easy mathFloat", "a=1|b=3|operation=divide", 0, "0.333");
    GIVES("easy mathFloat", "a=-7.5|b=2|operation=modulo", 0, "0.5");
}

static double value(void)
{
    node_go();
    return node.out[0]->u.f;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-14 * fmax(1, fabs(b)); }

static void numbers(void)
{
    static const struct {
        const char *op;
        double a, want;
    } one[] = {
        { "Neg", 0.625, -0.625 },
        { "Inc", 0.625, 1.625 },
        { "Dec", 0.625, -0.375 },
        { "Abs", 0.625, 0.625 },
        { "Sqr", 0.625, 0.390625 },
        { "Cube", 0.625, 0.244140625 },
        { "Sqrt", 0.625, 0.7905694150420949 },
        { "Exp", 0.625, 1.8682459574322223 },
        { "Ln", 0.625, -0.4700036292457356 },
        { "Log10", 0.625, -0.2041199826559248 },
        { "Log2", 0.625, -0.6780719051126377 },
        { "Sin", 0.625, 0.5850972729404622 },
        { "Cos", 0.625, 0.8109631195052179 },
        { "Tan", 0.625, 0.7214844409909045 },
        { "Asin", 0.625, 0.6751315329370317 },
        { "Acos", 0.625, 0.895664793857865 },
        { "Atan", 0.625, 0.5585993153435624 },
        { "Sinh", 0.625, 0.666492264456616 },
        { "Cosh", 0.625, 1.2017536929756063 },
        { "Tanh", 0.625, 0.5545997223493823 },
        { "Asinh", 0.625, 0.590143685781959 },
        { "Atanh", 0.625, 0.7331685343967136 },
        { "Round", 0.625, 1.0 },
        { "Floor", 0.625, 0.0 },
        { "Ceil", 0.625, 1.0 },
        { "Trunc", 0.625, 0.0 },
        { "Erf", 0.625, 0.623240882188418 },
        { "Erfc", 0.625, 0.376759117811582 },
        { "Gamma", 0.625, 1.434518848090557 },
        { "Radians", 0.625, 0.01090830782496456 },
        { "Degrees", 0.625, 35.80986219567645 },
        { "Acosh", 1.5, 0.9624236501192069 },
        { "Round", 2.5, 2 },
        { "Floor", -1.5, -2 },
    };
    static const struct {
        const char *op;
        double a, b, want;
    } two[] = {
        { "Add", -7.5, 2, -5.5 },      { "Sub", -7.5, 2, -9.5 },
        { "Mul", -7.5, 2, -15.0 },     { "Div", -7.5, 2, -3.75 },
        { "Mod", -7.5, 2, 0.5 },       { "Pow", -7.5, 2, 56.25 },
        { "FloorDiv", -7.5, 2, -4.0 }, { "Max", -7.5, 2, 2.0 },
        { "Min", -7.5, 2, -7.5 },      { "Atan2", -7.5, 2, -1.3101939350475555 },
        { "Log", 8, 2, 3.0 },
    };
    static const char *const names[][2] = { { "CM_FloatUnaryOperation", "CM_FloatBinaryOperation" },
                                            { "CM_NumberUnaryOperation",
                                              "CM_NumberBinaryOperation" } };
    char set[96];
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
            snprintf(set, sizeof(set), "op=%s|a=%.3f", one[i].op, one[i].a);
            node_new(names[k][0]);
            ext_set(set);
            CHECK(is_near(value(), one[i].want));
        }
        for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
            snprintf(set, sizeof(set), "op=%s|a=%.3f|b=%.3f", two[i].op, two[i].a, two[i].b);
            node_new(names[k][1]);
            ext_set(set);
            CHECK(is_near(value(), two[i].want));
        }
    }
    REFUSES("CM_FloatUnaryOperation", "op=Sqrt|a=-1", "value", "a");
    REFUSES("CM_FloatBinaryOperation", "op=Mod|a=1|b=0", "value", "b");
    REFUSES("CM_NumberUnaryOperation", "a='x'", "value", "a");
    GIVES("CM_FloatUnaryCondition", "op=IsOdd|a=0.5", 0, "True");
    GIVES("CM_FloatUnaryCondition", "op=IsFinite|a=0.5", 0, "True");
    GIVES("CM_NumberUnaryCondition", "op=IsPositive|a=-1", 0, "False");
    GIVES("CM_FloatBinaryCondition", "op=Gte|a=2|b=2", 0, "True");
    GIVES("CM_NumberBinaryCondition", "op=Neq|a=2|b=2.5", 0, "True");
}

static void types(void)
{
    GIVES("CM_FloatToInt", "a=-2.7", 0, "-2");
    GIVES("CM_IntToFloat", "a=3", 0, "3.0");
    GIVES("CM_BoolToInt", "a=true", 0, "1");
    GIVES("CM_IntToBool", "a=-1", 0, "True");
    GIVES("CM_IntToNumber", "a=3", 0, "3");
    GIVES("CM_FloatToNumber", "a=1.5", 0, "1.5");
    GIVES("CM_NumberToInt", "a=1.5", 0, "1");
    GIVES("CM_NumberToFloat", "a=2", 0, "2.0");
    GIVES("Number to Int", "number=9007199254740993", 0, "9007199254740993");
    GIVES("Number to Float", "number=2", 0, "2.0");
    REFUSES("Number to Int", "number='2'", "value", "number");
    GIVES("CM_BoolUnaryOperation", "a=true", 0, "False");
    GIVES("CM_BoolBinaryOperation", "op=Nor|a=false|b=false", 0, "True");
    GIVES("CM_BoolBinaryOperation", "op=Nand|a=true|b=true", 0, "False");
    GIVES("CM_BoolBinaryOperation", "op=Xnor|a=true|b=true", 0, "True");
    GIVES("CM_BoolBinaryOperation", "op=Xor|a=true|b=false", 0, "True");
}

static nino_value *vector(int n, double x, double y, double z, double w)
{
    const double v[4] = { x, y, z, w };
    nino_value *out = nino_value_create_bundle((nino_port_type) (NINO_PORT_VEC2 + n - 2), n);
    for (int i = 0; i < n; i++) {
        out->item[i] = node_value(NINO_PORT_FLOAT);
        out->item[i]->u.f = v[i];
    }
    return out;
}

static void give_two(const char *class_type, int n, const char *set)
{
    node_new(class_type);
    ext_set(set);
    node_give("a", vector(n, 3, 4, 0, 0));
    if (nino_port_find(node.run.def, "b"))
        node_give("b", vector(n, 1, -2, 0.5, 0));
    node_go();
}

static void vectors(void)
{
    static const char *const composed[] = { "[1.0, 2.0]", "[1.0, 2.0, 3.0]",
                                            "[1.0, 2.0, 3.0, 4.0]" };
    static const char *const zeros[] = { "", ", 0.5", ", 0.5, 0.0" };
    char name[64], want[96];
#define NAMED(format) (snprintf(name, sizeof(name), format, n), (const char *) name)
    for (int n = 2; n <= 4; n++) {
        GIVES(NAMED("CM_ComposeVec%d"),
              n == 2   ? "x=1|y=2"
              : n == 3 ? "x=1|y=2|z=3"
                       : "x=1|y=2|z=3|w=4",
              0, composed[n - 2]);
        node_new(NAMED("CM_BreakoutVec%d"));
        node_give("a", vector(n, 3, 4, 5, 6));
        node_go();
        CHECK(node.out[0]->u.f == 3 && node.out[n - 1]->u.f == n + 2);
        give_two(NAMED("CM_Vec%dUnaryOperation"), n, "op=Normalize");
        CHECK(is_near(node.out[0]->item[0]->u.f, 0.6) && is_near(node.out[0]->item[1]->u.f, 0.8));
        give_two(NAMED("CM_Vec%dUnaryCondition"), n, "op=IsNotNormalized");
        CHECK_STR(ext_out(0), "True");
        give_two(NAMED("CM_Vec%dUnaryCondition"), n, "op=IsZero");
        CHECK_STR(ext_out(0), "False");
        give_two(NAMED("CM_Vec%dToScalarUnaryOperation"), n, "op=Norm");
        CHECK_STR(ext_out(0), "5.0");
        give_two(NAMED("CM_Vec%dBinaryOperation"), n, "op=Add");
        snprintf(want, sizeof(want), "[4.0, 2.0%s]", zeros[n - 2]);
        CHECK_STR(ext_out(0), want);
        give_two(NAMED("CM_Vec%dBinaryCondition"), n, "op=Neq");
        CHECK_STR(ext_out(0), "True");
        give_two(NAMED("CM_Vec%dToScalarBinaryOperation"), n, "op=Dot");
        CHECK_STR(ext_out(0), "-5.0");
        give_two(NAMED("CM_Vec%dToScalarBinaryOperation"), n, "op=Distance");
        CHECK(is_near(node.out[0]->u.f, sqrt(4 + 36 + (n > 2 ? 0.25 : 0))));
        node_new(NAMED("CM_Vec%dScalarOperation"));
        ext_set("op=Div|b=2");
        node_give("a", vector(n, 3, 4, 0, 0));
        node_go();
        CHECK(node.out[0]->item[1]->u.f == 2 && node.out[0]->n_items == n);
        node_set("b", "0");
        node_fails("value", "b");
    }
    give_two("CM_Vec3BinaryOperation", 3, "op=Cross"); // (3,4,0) x (1,-2,0.5)
    CHECK_STR(ext_out(0), "[2.0, -1.5, -10.0]");
    node_new("CM_Vec2BinaryOperation");
    ext_set("op=Cross");
    node_give("a", vector(2, 1, 0, 0, 0));
    node_give("b", vector(2, 0, 1, 0, 0));
    node_fails("value", "op");
}

static void expressions(void)
{
    GIVES("MathExpression|pysssss", "expression=a / b + 0.5|a=7|b=2", 0, "4");
    GIVES("MathExpression|pysssss", "expression=-a / b|a=7|b=2", 0, "-3"); // int(), not round()
    GIVES("MathExpression|pysssss", "expression=a ^ 3|a=6", 1, "5.0");
    GIVES("MathExpression|pysssss", "expression=(a > b) + iif(a == 7, 10, 20)|a=7|b=2", 0, "11");
    GIVES("MathExpression|pysssss", "expression=randomint(5, 5)", 0, "5");
    CHECK(node.run.def->ops->is_volatile_with(node.params));
    node_new("MathExpression|pysssss");
    ext_set("expression=a.width * 10 + a.height");
    node_give("a", node_latent(node_ramp(SHAPE(1, 2, 3, 4), 0)));
    node_go();
    CHECK_STR(ext_out(0), "256");
    node_new("MathExpression|pysssss"); // a widget of another node, by its title
    ext_set("expression=Sizes.width // 2");
    node.run.prompt_json = "{\"3\": {\"class_type\": \"EmptyImage\", \"_meta\": {\"title\": "
                           "\"Sizes\"}, \"inputs\": {\"width\": 640}}}";
    node_go();
    node.run.prompt_json = NULL;
    CHECK_STR(ext_out(0), "320");
    GIVES("SimpleMath+", "value=a / b|a=7|b=2", 0, "4"); // 3.5 is rounded to the even 4
    GIVES("SimpleMath+", "value=a / b|a='5'|b=2", 0, "2");
    node_new("SimpleMath+");
    ext_set("value=a[2] * len(a)");
    node_give("a", node_image(node_ramp(SHAPE(1, 2, 3, 3), 0)));
    node_go();
    CHECK_STR(ext_out(0), "12");
    REFUSES("SimpleMath+", "value=a +|a=7", "expression", "value");
    REFUSES("SimpleMath+", "value=2 ** 70", "expression", "value");
    GIVES("easy simpleMath", "value=a - 7|a=7", 2, "False");
    GIVES("SimpleCalculatorKJ", "expression=round(exp(1) - euler) + a|a=2", 1, "2");
    GIVES("SimpleCalculatorKJ", "expression=a and not b|a=2|b=0", 2, "True");
    GIVES("SimpleMathDual+", "value_1=a|value_2=d * 2|a=1|d=3", 3, "6.0");
    GIVES("SimpleMathCondition+", "evaluate=0|on_true=a|on_false=b|a=1|b=3", 0, "3");
}

int main(void)
{
    node_open();
    whole_numbers();
    numbers();
    types();
    vectors();
    expressions();
    node_close();
    return 0;
}
