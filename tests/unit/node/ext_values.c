// Values by hand, choices and comparisons of extensions.
#include "tests/unit/node/ext.h"

static void constants(void)
{
    static const char *const ints[][2] = { { "INTConstant", "value" },
                                           { "easy int", "value" },
                                           { "SimpleMathInt+", "value" },
                                           { "Width/Height Literal (Image Saver)", "size" },
                                           { "Int Literal (Image Saver)", "int" },
                                           { "ImpactInt", "value" },
                                           { "mxSeed", "X" } };
    static const char *const floats[][2] = { { "FloatConstant", "value" },
                                             { "easy float", "value" },
                                             { "SimpleMathFloat+", "value" },
                                             { "SimpleMathPercent+", "value" },
                                             { "Cfg Literal (Image Saver)", "cfg" },
                                             { "Float Literal (Image Saver)", "float" },
                                             { "ImpactFloat", "value" } };
    static const char *const texts[][2] = {
        { "StringConstant", "string" },  { "easy string", "value" },
        { "Simple String", "string" },   { "easy positive", "positive" },
        { "easy negative", "negative" }, { "String Literal (Image Saver)", "string" },
        { "String", "String" },          { "String to Text", "string" },
        { "CR Prompt Text", "prompt" },  { "CR Text", "text" }
    };
    static const char *const bools[] = { "BOOLConstant", "easy boolean", "SimpleMathBoolean+",
                                         "ImpactBoolean" };
    char pair[64];
    for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
        snprintf(pair, sizeof(pair), "%s=640", ints[i][1]);
        GIVES(ints[i][0], pair, 0, "640");
    }
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        snprintf(pair, sizeof(pair), "%s=0.25", floats[i][1]);
        GIVES(floats[i][0], pair, 0, "0.25");
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        snprintf(pair, sizeof(pair), "%s=a cat", texts[i][1]);
        GIVES(texts[i][0], pair, 0, "a cat");
    }
    for (size_t i = 0; i < sizeof(bools) / sizeof(bools[0]); i++)
        GIVES(bools[i], "value=true", 0, "True");
    GIVES("BOOLConstant", "", 0, "True");
    GIVES("easy boolean", "", 0, "False");
    GIVES("StringConstantMultiline", "string= a\nb\n|strip_newlines=true", 0, "ab");
    GIVES("StringConstantMultiline", "string= one \n\ntwo|strip_newlines=true", 0, "one two");
    GIVES("StringConstantMultiline", "string= one \ntwo|strip_newlines=false", 0, " one \ntwo");
}

static void numbers(void)
{
    GIVES("Int", "Number=-12", 0, "-12");
    GIVES("Int", "Number=9007199254740993", 0, "9007199254740993");
    REFUSES("Int", "Number=1.5", "value", "Number");
    REFUSES("Int", "Number=x", "value", "Number");
    GIVES("Float", "Number=1e-3", 0, "0.001");
    REFUSES("Float", "Number=1 2", "value", "Number");
    GIVES("mxSlider", "Xi=7|Xf=2.5|isfloatX=0", 0, "7");
    GIVES("mxSlider", "Xi=7|Xf=2.5|isfloatX=1", 0, "2.5");
    GIVES("mxSlider2D", "Xi=7|Yi=8|Yf=2.5|isfloatY=1", 0, "7");
    GIVES("mxSlider2D", "Xi=7|Yi=8|Yf=2.5|isfloatY=1", 1, "2.5");
    GIVES("SimpleMathSlider+", "value=0.3|min=-1|max=4", 0, "0.5");
    GIVES("SimpleMathSlider+", "value=0.3|min=-1|max=4.26|rounding=1", 0, "0.6"); // 0.578
    GIVES("SimpleMathSlider+", "value=0.9|min=-1|max=4", 1, "3");
    GIVES("SimpleMathSliderLowRes+", "value=5|min=2|max=3", 0, "2.5");
}

static void seeds(void)
{
    GIVES("Seed (rgthree)", "seed=1234567890123", 0, "1234567890123");
    GIVES("easy seed", "seed=5", 0, "5");
    GIVES("Seed Everywhere", "seed=5", 0, "5");
    GIVES("Seed Generator (Image Saver)", "seed=5|increment=-2", 0, "3");
    GIVES("Seed", "seed=5", 0, "5");
    GIVES("Seed", "seed=5", 1, "5");
    GIVES("Seed", "seed=5", 2, "5.0");
    GIVES("Seed", "seed=5", 3, "5");
    REFUSES("easy seed", "seed=18446744073709551615", "range", "seed");
}

static void sampling(void)
{
    GIVES("Sampler Selector (Image Saver)", "sampler_name=dpmpp_2m", 0, "dpmpp_2m");
    GIVES("Sampler Selector (Image Saver)", "sampler_name=dpmpp_2m", 1, "dpmpp_2m");
    GIVES("Scheduler Selector (Image Saver)", "scheduler=karras", 1, "karras");
    const char *const all = "seed=3|steps=9|cfg=1.5|sampler=euler|scheduler=beta|denoise=0.5";
    static const char *const want[] = { "3", "9", "1.5", "euler", "beta", "0.5" };
    for (int i = 0; i < 6; i++)
        GIVES("Input Parameters (Image Saver)", all, i, want[i]);
    GIVES("KSampler Config (rgthree)", "steps_total=9", 0, "9");
    GIVES("KSampler Config (rgthree)", "refiner_step=5", 1, "5");
    GIVES("KSampler Config (rgthree)", "cfg=2.5", 2, "2.5");
    GIVES("KSampler Config (rgthree)", "sampler_name=heun", 3, "heun");
    GIVES("KSampler Config (rgthree)", "scheduler=simple", 4, "simple");
}

static void choices(void)
{
    GIVES("Any Switch (rgthree)", "any_02=7|any_03=8", 0, "7");
    GIVES("Any Switch (rgthree)", "any_12=9", 0, "9");
    node_new("Any Switch (rgthree)"); // an empty context is nothing
    node_give("any_01", nino_value_create_bundle(NINO_PORT_CONTEXT, 3));
    ext_set("any_02=4");
    node_go();
    CHECK_STR(ext_out(0), "4");
    GIVES("easy anythingIndexSwitch", "index=3|value3='x'", 0, "x");
    REFUSES("easy anythingIndexSwitch", "index=2|value3='x'", "missing_input", "value2");
    GIVES("LazySwitchKJ", "switch=true|on_false=1|on_true=2", 0, "2");
    GIVES("LazySwitchKJ", "switch=false|on_false=1|on_true=2", 0, "1");
    GIVES("easy ifElse", "boolean=true|on_false=1|on_true=2", 0, "2");
    GIVES("easy ifElse", "boolean=false|on_false=1|on_true=2", 0, "1");
    GIVES("SimpleCondition+", "evaluate=''|on_true=1|on_false=2", 0, "2");
    GIVES("SimpleCondition+", "evaluate='0'|on_true=1|on_false=2", 0, "1");
    GIVES("SimpleCondition+", "evaluate=0.0|on_true=1|on_false=2", 0, "2");
    static const char *const one_of[][2] = { { "CR Image Input Switch", "image" },
                                             { "CR Image Input Switch (4 way)", "image" } };
    for (size_t i = 0; i < 2; i++) {
        node_new(one_of[i][0]);
        node_give("image1", node_image(node_ramp(SHAPE(1, 2, 2, 3), 0.01)));
        node_give("image2", node_image(node_ramp(SHAPE(1, 4, 2, 3), 0.01)));
        node_set("Input", "2");
        node_go();
        CHECK(node_out_image(0)->shape.dim[1] == 4);
    }
    node_new("CR Latent Input Switch");
    node_give("latent1", node_latent(node_ramp(SHAPE(1, 2, 2, 4), 0.01)));
    node_go();
    CHECK(node.out[0] == node.in[0]);
    node_set("Input", "2");
    node_fails("missing_input", "latent2");
    CHECK(node.run.def->ops->takes(node.params, 1) && !node.run.def->ops->takes(node.params, 0));
    node_new("CR Conditioning Input Switch");
    node_fails("missing_input", "conditioning1");
    node_new("CR Model Input Switch");
    node_fails("missing_input", "model1");
    node_new("CR Clip Input Switch");
    node_fails("missing_input", "clip1");
}

static void comparisons(void)
{
    static const char *const pairs[][3] = { { "2", "10", "<" },   { "'2'", "'10'", ">" },
                                            { "2", "2.0", "==" }, { "2", "3", "!=" },
                                            { "2", "2", "<=" },   { "3", "2", ">=" } };
    char text[64];
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        snprintf(text, sizeof(text), "a=%s|b=%s", pairs[i][0], pairs[i][1]);
        node_new("SimpleComparison+");
        ext_set(text);
        node_set("comparison", pairs[i][2]);
        node_go();
        CHECK_STR(ext_out(0), "True");
    }
    REFUSES("SimpleComparison+", "a='x'|b=2|comparison=<", "value", "a");
    GIVES("SimpleComparison+", "a='x'|b=2", 0, "False");
    static const struct {
        const char *how, *want;
    } easy[] = { { "a == b", "False" }, { "a != b", "True" }, { "a < b", "True" },
                 { "a > b", "False" },  { "a <= b", "True" }, { "a >= b", "False" },
                 { "a > 0", "False" },  { "a <= 0", "True" }, { "b > 0", "True" },
                 { "b <= 0", "False" } };
    for (size_t i = 0; i < sizeof(easy) / sizeof(easy[0]); i++) {
        node_new("easy compare");
        ext_set("a=-1|b=2");
        node_set("comparison", easy[i].how);
        node_go();
        CHECK_STR(ext_out(0), easy[i].want);
    }
    GIVES("Logic Comparison AND", "boolean_a=true|boolean_b=false", 0, "False");
    GIVES("Logic Comparison OR", "boolean_a=true|boolean_b=false", 0, "True");
    GIVES("Logic Comparison XOR", "boolean_a=true|boolean_b=true", 0, "False");
}

static void as_text(void)
{
    GIVES("Any to String (Image Saver)", "value=2.0", 0, "2.0");
    GIVES("Number to Text", "number=7", 0, "7");
    GIVES("CR Integer To String", "int_=7", 0, "7");
    GIVES("SomethingToString", "input=true|prefix=<|suffix=>", 0, "<True>");
    GIVES("easy convertAnything", "*=3.75|output_type=int", 0, "3");
    GIVES("easy convertAnything", "*='3.75'|output_type=float", 0, "3.75");
    GIVES("easy convertAnything", "*=3|output_type=string", 0, "3");
    GIVES("easy convertAnything", "*=''|output_type=boolean", 0, "False");
    REFUSES("easy convertAnything", "*='x'|output_type=int", "value", "*");
    node_new("Any to String (Image Saver)");
    node_give("value", node_image(node_ramp(SHAPE(1, 2, 3, 3), 0.01)));
    node_go();
    CHECK_STR(ext_out(0), "IMAGE 1x2x3x3");
}

// What only hands on does so, and says what it does elsewhere.
static void passing(void)
{
    int n = 0;
    for (int i = 0; nino_node_defs[i]; i++) {
        const nino_node_def *d = nino_node_defs[i];
        if (d->is_virtual || !d->ops->no_effect || d->ops->run != nino_ext_pass)
            continue;
        node_new(d->key);
        nino_value *v = node_give(
            d->inputs[0].key,
            node_value(d->inputs[0].type == NINO_PORT_ANY ? NINO_PORT_INT : d->inputs[0].type));
        CHECK(!node_try());
        CHECK(!d->outputs[0].key || node.out[0] == v);
        n++;
    }
    CHECK(n >= 20);
    node_new("VHS_BatchManager");
    CHECK(!node_try() && node.out[0]);
    node_new("VHS_PruneOutputs");
    CHECK(!node_try());
}

int main(void)
{
    node_open();
    constants();
    numbers();
    seeds();
    sampling();
    choices();
    comparisons();
    as_text();
    passing();
    node_close();
    return 0;
}
