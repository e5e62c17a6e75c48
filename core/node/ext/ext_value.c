// Values by hand, under the names that extensions give them: numbers, switches, texts, seeds,
// sliders; samplers and schedulers by name.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/node/ext/ext.h"
#include "core/sample/schedule/schedule.h"
#include "core/sample/solver/sampler.h"

// ---- one value -------------------------------------------------------------------------------

typedef struct ext_int {
    int64_t value;
} ext_int;
typedef struct ext_float {
    double value;
} ext_float;
typedef struct ext_bool {
    bool value;
} ext_bool;
typedef struct ext_line {
    const char *value;
} ext_line;
typedef struct ext_seed {
    uint64_t seed;
} ext_seed;

static nino_status ext_int_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, ((const ext_int *) r->params)->value, err);
}

static nino_status ext_float_run(nino_run *r, nino_error *err)
{
    return nino_out_float(r, 0, ((const ext_float *) r->params)->value, err);
}

static nino_status ext_bool_run(nino_run *r, nino_error *err)
{
    return nino_out_bool(r, 0, ((const ext_bool *) r->params)->value, err);
}

static nino_status ext_line_run(nino_run *r, nino_error *err)
{
    return nino_ext_out_copy(r, 0, ((const ext_line *) r->params)->value, err);
}

static nino_status ext_seed_run(nino_run *r, nino_error *err)
{
    return nino_ext_out_seed(r, 0, ((const ext_seed *) r->params)->seed, "seed", err);
}

#define EXT_CONSTANT(type) ext_##type##_run, .is_constant = true
#define EXT_HELP .label = "Value", .help = "The value"
#define EXT_INT_VALUE(key_, d, lo, hi, st)                                                         \
    NINO_PARAMS(ext_int, NINO_K_INT(key_, ext_int, value, d, lo, hi, st, EXT_HELP))
#define EXT_FLOAT_VALUE(key_, d, lo, hi, st)                                                       \
    NINO_PARAMS(ext_float, NINO_K_FLOAT(key_, ext_float, value, d, lo, hi, st, EXT_HELP))
#define EXT_BOOL_VALUE NINO_PARAMS(ext_bool, NINO_P_BOOL(ext_bool, value, false, EXT_HELP))
#define EXT_SEED_VALUE                                                                             \
    NINO_PARAMS(ext_seed, NINO_P_SEED(ext_seed, seed, .label = "Seed",                             \
                                      .help = "The seed; -1: every run draws another"))

NINO_NODE(kj_int, "INTConstant", "INT Constant", "KJNodes/constants", "A whole number",
          NINO_OUTPUTS(NINO_PORT(value, INT)), EXT_INT_VALUE("value", 0, -INT64_MAX, INT64_MAX, 1),
          NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(easy_int, "easy int", "Int", "EasyUse/Logic/Type", "A whole number",
          NINO_OUTPUTS({ .key = "int", .type = NINO_PORT_INT }),
          EXT_INT_VALUE("value", 0, -999999, 999999, 1), NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(essentials_int, "SimpleMathInt+", "Math Int", "essentials/utilities", "A whole number",
          NINO_OUTPUTS(NINO_PORT(INT, INT)), EXT_INT_VALUE("value", 0, -INT64_MAX, INT64_MAX, 1),
          NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(saver_size, "Width/Height Literal (Image Saver)", "Width/Height Literal",
          "ImageSaver/utils", "A width or height", NINO_OUTPUTS(NINO_PORT(size, INT)),
          EXT_INT_VALUE("size", 512, 0, 16384, 8), NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(saver_int, "Int Literal (Image Saver)", "Int Literal", "ImageSaver/utils",
          "A whole number", NINO_OUTPUTS(NINO_PORT(INT, INT)),
          EXT_INT_VALUE("int", 0, 0, 1000000, 1), NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(impact_int, "ImpactInt", "ImpactInt", "ImpactPack/Logic/_for_test", "A whole number",
          NINO_OUTPUTS(NINO_PORT(INT, INT)), EXT_INT_VALUE("value", 0, -INT64_MAX, INT64_MAX, 1),
          NINO_RUN(EXT_CONSTANT(int)));
NINO_NODE(kj_float, "FloatConstant", "Float Constant", "KJNodes/constants", "A number",
          NINO_OUTPUTS(NINO_PORT(value, FLOAT)),
          EXT_FLOAT_VALUE("value", 0, -EXT_LARGEST, EXT_LARGEST, 1e-5),
          NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(easy_float, "easy float", "Float", "EasyUse/Logic/Type", "A number",
          NINO_OUTPUTS({ .key = "float", .type = NINO_PORT_FLOAT }),
          EXT_FLOAT_VALUE("value", 0, -EXT_LARGEST, EXT_LARGEST, 0.01),
          NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(essentials_float, "SimpleMathFloat+", "Math Float", "essentials/utilities", "A number",
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          EXT_FLOAT_VALUE("value", 0, -EXT_LARGEST, EXT_LARGEST, 0.05),
          NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(essentials_percent, "SimpleMathPercent+", "Math Percent", "essentials/utilities",
          "A number from 0 to 1", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          EXT_FLOAT_VALUE("value", 0, 0, 1, 0.05), NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(saver_cfg, "Cfg Literal (Image Saver)", "Cfg Literal", "ImageSaver/utils",
          "A guidance scale", NINO_OUTPUTS(NINO_PORT(value, FLOAT)),
          EXT_FLOAT_VALUE("cfg", 7, 0, 100, 0.01), NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(saver_float, "Float Literal (Image Saver)", "Float Literal", "ImageSaver/utils",
          "A number", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          EXT_FLOAT_VALUE("float", 1, -EXT_LARGEST, EXT_LARGEST, 0.01),
          NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(impact_float, "ImpactFloat", "ImpactFloat", "ImpactPack/Logic/_for_test", "A number",
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          EXT_FLOAT_VALUE("value", 1, -3.402823466e+38, 3.402823466e+38, 0.01),
          NINO_RUN(EXT_CONSTANT(float)));
NINO_NODE(kj_bool, "BOOLConstant", "BOOL Constant", "KJNodes/constants", "A switch",
          NINO_OUTPUTS(NINO_PORT(value, BOOLEAN)),
          NINO_PARAMS(ext_bool, NINO_P_BOOL(ext_bool, value, true, EXT_HELP)),
          NINO_RUN(EXT_CONSTANT(bool)));
NINO_NODE(easy_bool, "easy boolean", "Boolean", "EasyUse/Logic/Type", "A switch",
          NINO_OUTPUTS(NINO_PORT(boolean, BOOLEAN)), EXT_BOOL_VALUE, NINO_RUN(EXT_CONSTANT(bool)));
NINO_NODE(essentials_bool, "SimpleMathBoolean+", "Math Boolean", "essentials/utilities", "A switch",
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)), EXT_BOOL_VALUE, NINO_RUN(EXT_CONSTANT(bool)));
NINO_NODE(impact_bool, "ImpactBoolean", "ImpactBoolean", "ImpactPack/Logic", "A switch",
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)), EXT_BOOL_VALUE, NINO_RUN(EXT_CONSTANT(bool)));

#define EXT_LINE_VALUE(key_)                                                                       \
    NINO_PARAMS(ext_line, NINO_K_STRING(key_, ext_line, value, "", EXT_HELP))
#define EXT_AREA_VALUE(key_, d)                                                                    \
    NINO_PARAMS(ext_line, NINO_K_STRING(key_, ext_line, value, d, EXT_HELP, .multiline = true))

NINO_NODE(kj_string, "StringConstant", "String Constant", "KJNodes/constants", "A text of one line",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), EXT_LINE_VALUE("string"),
          NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(easy_string, "easy string", "String", "EasyUse/Logic/Type", "A text of one line",
          NINO_OUTPUTS(NINO_PORT(string, STRING)), EXT_LINE_VALUE("value"),
          NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(ue_string, "Simple String", "Simple String", "everywhere/deprecated",
          "A text of one line", NINO_OUTPUTS(NINO_PORT(stringout, STRING)),
          EXT_LINE_VALUE("string"), NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(easy_positive, "easy positive", "Positive", "EasyUse/Prompt", "A prompt",
          NINO_OUTPUTS(NINO_PORT(positive, STRING)), EXT_AREA_VALUE("positive", ""),
          NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(easy_negative, "easy negative", "Negative", "EasyUse/Prompt", "A negative prompt",
          NINO_OUTPUTS(NINO_PORT(negative, STRING)), EXT_AREA_VALUE("negative", ""),
          NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(saver_string, "String Literal (Image Saver)", "String Literal", "ImageSaver/utils",
          "A text", NINO_OUTPUTS(NINO_PORT(STRING, STRING)), EXT_AREA_VALUE("string", ""),
          NINO_RUN(EXT_CONSTANT(line)));
NINO_NODE(literal_string, "String", "String", "Literals", "A text",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), EXT_AREA_VALUE("String", ""),
          NINO_RUN(EXT_CONSTANT(line)));

NINO_NODE(rgthree_seed, "Seed (rgthree)", "Seed", "rgthree", "A seed",
          NINO_OUTPUTS(NINO_PORT(SEED, INT)), EXT_SEED_VALUE, NINO_RUN(ext_seed_run));
NINO_NODE(easy_seed, "easy seed", "EasySeed", "EasyUse/Seed", "A seed",
          NINO_OUTPUTS(NINO_PORT(seed, INT)), EXT_SEED_VALUE, NINO_RUN(ext_seed_run));
NINO_NODE(ue_seed, "Seed Everywhere", "Seed Everywhere", "everywhere/deprecated",
          "A seed; the workflow's open inputs for seeds get it when the file is read",
          NINO_OUTPUTS({ .key = "int", .type = NINO_PORT_INT }), EXT_SEED_VALUE,
          NINO_RUN(ext_seed_run));
NINO_NODE(mx_seed, "mxSeed", "Seed", "utils/mxToolkit", "A seed", NINO_OUTPUTS(NINO_PORT(X, INT)),
          EXT_INT_VALUE("X", 0, 0, INT64_C(4294967296), 1), NINO_RUN(EXT_CONSTANT(int)));

// ---- Text in several outputs, numbers as text ------------------------------------------------

typedef struct two_lines {
    const char *string;
    bool strip_newlines;
} two_lines;

// Without line breaks, and without white space at both ends.
static nino_status kj_lines_run(nino_run *r, nino_error *err)
{
    static const char blank[] = " \t\r\n\v\f";
    const two_lines *p = r->params;
    nino_buf b = { 0 };
    const char *s = p->string;
    size_t len = strlen(s);
    if (p->strip_newlines) {
        const size_t from = strspn(s, blank);
        while (len > from && strchr(blank, s[len - 1]))
            len--;
        s += from;
        len -= from;
    }
    for (size_t i = 0; i < len; i++)
        if (!p->strip_newlines || s[i] != '\n')
            nino_buf_addc(&b, s[i]);
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(kj_lines, "StringConstantMultiline", "String Constant Multiline", "KJNodes/constants",
          "A text of several lines", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(two_lines,
                      NINO_P_STRING(two_lines, string, "", .label = "Text", .help = "The text",
                                    .multiline = true),
                      NINO_P_BOOL(two_lines, strip_newlines, true, .label = "One line",
                                  .help = "Joins the lines")),
          NINO_RUN(kj_lines_run));

// The number that a text is, whole if `whole`.
static nino_status literal_number(nino_run *r, bool whole, nino_error *err)
{
    const char *text = ((const ext_line *) r->params)->value;
    char *end = NULL;
    const double v = nino_strtod(text, &end);
    int64_t i = 0;
    if (end == text || end[strspn(end, " \t\r\n")] || !isfinite(v))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "Number", "'%.40s' is not a number",
                              text);
    if (!whole)
        return nino_out_float(r, 0, v, err);
    if (!nino_parse_i64(text, &i)) {
        if (!(fabs(v) < 9e18) || v != trunc(v))
            return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "Number",
                                  "'%.40s' is not a whole number", text);
        i = (int64_t) v;
    }
    return nino_out_int(r, 0, i, err);
}

static nino_status literal_int_run(nino_run *r, nino_error *err)
{
    return literal_number(r, true, err);
}

static nino_status literal_float_run(nino_run *r, nino_error *err)
{
    return literal_number(r, false, err);
}

#define EXT_NUMBER_VALUE                                                                           \
    NINO_PARAMS(ext_line, NINO_K_STRING("Number", ext_line, value, "0", EXT_HELP))
NINO_NODE(literal_int, "Int", "Int", "Literals", "The whole number that a text says",
          NINO_OUTPUTS(NINO_PORT(INT, INT)), EXT_NUMBER_VALUE, NINO_RUN(literal_int_run));
NINO_NODE(literal_float, "Float", "Float", "Literals", "The number that a text says",
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)), EXT_NUMBER_VALUE, NINO_RUN(literal_float_run));

// ---- Sliders ---------------------------------------------------------------------------------

typedef struct slider {
    int64_t Xi;
    double Xf;
    int64_t isfloatX;
} slider;

static nino_status slide(nino_run *r, int out, int64_t i, double f, bool is_float, nino_error *err)
{
    return is_float ? nino_out_float(r, out, f, err) : nino_out_int(r, out, i, err);
}

static nino_status slider_run(nino_run *r, nino_error *err)
{
    const slider *p = r->params;
    return slide(r, 0, p->Xi, p->Xf, p->isfloatX > 0, err);
}

NINO_NODE(mx_slider, "mxSlider", "Slider", "utils/mxToolkit", "A number, whole or not",
          NINO_OUTPUTS(NINO_PORT(X, ANY)),
          NINO_PARAMS(slider,
                      NINO_P_INT(slider, Xi, 20, -4294967296, 4294967296, 1, .label = "Whole",
                                 .help = "The whole number"),
                      NINO_P_FLOAT(slider, Xf, 20.0, -4294967296.0, 4294967296.0, 0.01,
                                   .label = "Number", .help = "The number with a fraction"),
                      NINO_P_INT(slider, isfloatX, 0, 0, 1, 1, .label = "Fraction",
                                 .help = "1 takes the number with a fraction")),
          NINO_RUN(slider_run));

typedef struct slider2 {
    int64_t Xi;
    double Xf;
    int64_t Yi;
    double Yf;
    int64_t isfloatX;
    int64_t isfloatY;
} slider2;

static nino_status slider2_run(nino_run *r, nino_error *err)
{
    const slider2 *p = r->params;
    const nino_status st = slide(r, 0, p->Xi, p->Xf, p->isfloatX > 0, err);
    return st ? st : slide(r, 1, p->Yi, p->Yf, p->isfloatY > 0, err);
}

NINO_NODE(mx_slider2, "mxSlider2D", "Slider 2D", "utils/mxToolkit", "Two numbers, whole or not",
          NINO_OUTPUTS(NINO_PORT(X, ANY), NINO_PORT(Y, ANY)),
          NINO_PARAMS(slider2,
                      NINO_P_INT(slider2, Xi, 512, -4294967296, 4294967296, 1, .label = "X whole",
                                 .help = "The first whole number"),
                      NINO_P_FLOAT(slider2, Xf, 512.0, -4294967296.0, 4294967296.0, 0.01,
                                   .label = "X", .help = "The first number with a fraction"),
                      NINO_P_INT(slider2, Yi, 512, -4294967296, 4294967296, 1, .label = "Y whole",
                                 .help = "The second whole number"),
                      NINO_P_FLOAT(slider2, Yf, 512.0, -4294967296.0, 4294967296.0, 0.01,
                                   .label = "Y", .help = "The second number with a fraction"),
                      NINO_P_INT(slider2, isfloatX, 0, 0, 1, 1, .label = "X fraction",
                                 .help = "1 takes the first number with a fraction"),
                      NINO_P_INT(slider2, isfloatY, 0, 0, 1, 1, .label = "Y fraction",
                                 .help = "1 takes the second number with a fraction")),
          NINO_RUN(slider2_run));

typedef struct math_slider {
    double value;
    double min;
    double max;
    int64_t rounding;
} math_slider;

typedef struct low_slider {
    int64_t value;
    double min;
    double max;
    int64_t rounding;
} low_slider;

// To so many digits behind the point, halves to even as Python's round().
static double rounded(double v, int64_t digits)
{
    const double by = pow(10, (double) digits);
    return digits > 0 ? rint(v * by) / by : v;
}

static nino_status between(nino_run *r, double at, double min, double max, int64_t rounding,
                           nino_error *err)
{
    const double v = rounded(min + at * (max - min), rounding);
    const nino_status st = nino_out_float(r, 0, v, err);
    return st ? st : nino_out_int(r, 1, (int64_t) fmin(fmax(v, -9e18), 9e18), err);
}

static nino_status math_slider_run(nino_run *r, nino_error *err)
{
    const math_slider *p = r->params;
    return between(r, p->value, p->min, p->max, p->rounding, err);
}

static nino_status low_slider_run(nino_run *r, nino_error *err)
{
    const low_slider *p = r->params;
    return between(r, (double) p->value / 10, p->min, p->max, p->rounding, err);
}

NINO_NODE(essentials_slider, "SimpleMathSlider+", "Simple Math Slider", "essentials/utilities",
          "A number between two others", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(INT, INT)),
          NINO_PARAMS(math_slider,
                      NINO_P_FLOAT(math_slider, value, 0.5, 0.0, 1.0, 0.001, .label = "Position",
                                   .help = "0 takes the least, 1 the largest"),
                      NINO_P_FLOAT(math_slider, min, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "Least", .help = "What position 0 stands for"),
                      NINO_P_FLOAT(math_slider, max, 1.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "Largest", .help = "What position 1 stands for"),
                      NINO_P_INT(math_slider, rounding, 0, 0, 10, 1, .label = "Digits",
                                 .help = "Digits behind the point that are kept, 0 for all")),
          NINO_RUN(math_slider_run));

NINO_NODE(essentials_low_slider, "SimpleMathSliderLowRes+", "Simple Math Slider low-res",
          "essentials/utilities", "A number between two others, in ten steps",
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(INT, INT)),
          NINO_PARAMS(low_slider,
                      NINO_P_INT(low_slider, value, 5, 0, 10, 1, .label = "Position",
                                 .help = "0 takes the least, 10 the largest"),
                      NINO_P_FLOAT(low_slider, min, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "Least", .help = "What position 0 stands for"),
                      NINO_P_FLOAT(low_slider, max, 1.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "Largest", .help = "What position 10 stands for"),
                      NINO_P_INT(low_slider, rounding, 0, 0, 10, 1, .label = "Digits",
                                 .help = "Digits behind the point that are kept, 0 for all")),
          NINO_RUN(low_slider_run));

// ---- Seeds with more outputs -----------------------------------------------------------------

typedef struct seed_generator {
    uint64_t seed;
    int64_t increment;
} seed_generator;

static nino_status seed_generator_run(nino_run *r, nino_error *err)
{
    const seed_generator *p = r->params;
    const uint64_t seed = p->seed + (uint64_t) p->increment;
    return nino_ext_out_seed(r, 0, seed, "seed", err);
}

NINO_NODE(saver_seed, "Seed Generator (Image Saver)", "Seed Generator (Image Saver)",
          "ImageSaver/utils", "A seed plus a number", NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(seed_generator,
                      NINO_P_SEED(seed_generator, seed, .label = "Seed", .help = "The seed"),
                      NINO_P_INT(seed_generator, increment, 0, -INT64_MAX, INT64_MAX, 1,
                                 .label = "Increment", .help = "Is added to the seed")),
          NINO_RUN(seed_generator_run));

static nino_status was_seed_run(nino_run *r, nino_error *err)
{
    const uint64_t seed = ((const ext_seed *) r->params)->seed;
    nino_status st = nino_ext_out_seed(r, 0, seed, "seed", err);
    if (!st)
        st = nino_ext_out_seed(r, 1, seed, "seed", err);
    if (!st)
        st = nino_out_float(r, 2, (double) seed, err);
    return st ? st : nino_ext_out_seed(r, 3, seed, "seed", err);
}

NINO_NODE(was_seed, "Seed", "Seed", "WAS Suite/Number", "A seed in several types",
          NINO_OUTPUTS(NINO_PORT(seed, INT), NINO_PORT(number, ANY),
                       { .key = "float", .type = NINO_PORT_FLOAT },
                       { .key = "int", .type = NINO_PORT_INT }),
          EXT_SEED_VALUE, NINO_RUN(was_seed_run));

// ---- Samplers and schedulers by name ---------------------------------------------------------

typedef struct word_choice {
    int64_t word;
} word_choice;

// Both outputs: the word, for inputs that choose and for those that take text.
static nino_status word_run(nino_run *r, nino_error *err)
{
    const int64_t word = ((const word_choice *) r->params)->word;
    const char *s = r->def->params[0].names[word];
    nino_status st = nino_ext_out_copy(r, 0, s, err);
    return st ? st : nino_ext_out_copy(r, 1, s, err);
}

#define EXT_WORD(key_, list, lbl, what)                                                            \
    NINO_PARAMS(word_choice,                                                                       \
                NINO_K_ENUM(key_, word_choice, word, list, 0, .label = lbl, .help = what))
#define EXT_SCHEDULER_OUTPUTS                                                                      \
    NINO_OUTPUTS(NINO_PORT(scheduler, ANY), NINO_PORT(scheduler_name, STRING))

NINO_NODE(saver_sampler, "Sampler Selector (Image Saver)", "Sampler Selector", "ImageSaver/utils",
          "A sampler by name",
          NINO_OUTPUTS(NINO_PORT(sampler, ANY), NINO_PORT(sampler_name, STRING)),
          EXT_WORD("sampler_name", nino_sampler_names, "Sampler", "Method of the steps"),
          NINO_RUN(word_run));
NINO_NODE(saver_scheduler, "Scheduler Selector (Image Saver)", "Scheduler Selector",
          "ImageSaver/utils", "A scheduler by name", EXT_SCHEDULER_OUTPUTS,
          EXT_WORD("scheduler", nino_scheduler_names, "Scheduler",
                   "How the noise levels are spread"),
          NINO_ALIASES({ .name = "Scheduler Selector (inspire) (Image Saver)" },
                       { .name = "Scheduler Selector (Eff.) (Image Saver)" }),
          NINO_RUN(word_run));

typedef struct saver_input_params {
    uint64_t seed;
    int64_t steps;
    double cfg;
    int64_t sampler;
    int64_t scheduler;
    double denoise;
} saver_input_params;

static nino_status saver_input_run(nino_run *r, nino_error *err)
{
    const saver_input_params *p = r->params;
    nino_status st = nino_ext_out_seed(r, 0, p->seed, "seed", err);
    if (!st)
        st = nino_out_int(r, 1, p->steps, err);
    if (!st)
        st = nino_out_float(r, 2, p->cfg, err);
    if (!st)
        st = nino_ext_out_copy(r, 3, nino_sampler_names[p->sampler], err);
    if (!st)
        st = nino_ext_out_copy(r, 4, nino_scheduler_names[p->scheduler], err);
    return st ? st : nino_out_float(r, 5, p->denoise, err);
}

NINO_NODE(saver_input, "Input Parameters (Image Saver)", "Input Parameters (Image Saver)",
          "ImageSaver/utils", "The settings of a sampling, each as an output",
          NINO_OUTPUTS(NINO_PORT(seed, INT), NINO_PORT(steps, INT), NINO_PORT(cfg, FLOAT),
                       NINO_PORT(sampler, ANY), NINO_PORT(scheduler, ANY),
                       NINO_PORT(denoise, FLOAT)),
          NINO_PARAMS(saver_input_params,
                      NINO_P_SEED(saver_input_params, seed, .label = "Seed", .help = "The seed"),
                      NINO_P_INT(saver_input_params, steps, 20, 1, 10000, 1, .label = "Steps",
                                 .help = "How many steps are taken"),
                      NINO_P_FLOAT(saver_input_params, cfg, 7.0, 0.0, 100.0, 0.1, .label = "CFG",
                                   .help = "How strongly the prompt is followed"),
                      NINO_P_ENUM(saver_input_params, sampler, nino_sampler_names, 0,
                                  .label = "Sampler", .help = "Method of the steps"),
                      NINO_P_ENUM(saver_input_params, scheduler, nino_scheduler_names, 0,
                                  .label = "Scheduler", .help = "How the noise levels are spread"),
                      NINO_P_FLOAT(saver_input_params, denoise, 1.0, 0.0, 1.0, 0.01,
                                   .label = "Denoise",
                                   .help = "How much of the picture is made anew, 1 for all")),
          NINO_RUN(saver_input_run));

typedef struct config_params {
    int64_t steps_total;
    int64_t refiner_step;
    double cfg;
    int64_t sampler_name;
    int64_t scheduler;
} config_params;

static nino_status config_run(nino_run *r, nino_error *err)
{
    const config_params *p = r->params;
    nino_status st = nino_out_int(r, 0, p->steps_total, err);
    if (!st)
        st = nino_out_int(r, 1, p->refiner_step, err);
    if (!st)
        st = nino_out_float(r, 2, p->cfg, err);
    if (!st)
        st = nino_ext_out_copy(r, 3, nino_sampler_names[p->sampler_name], err);
    return st ? st : nino_ext_out_copy(r, 4, nino_scheduler_names[p->scheduler], err);
}

NINO_NODE(rgthree_config, "KSampler Config (rgthree)", "KSampler Config (rgthree)", "rgthree",
          "The settings of a sampling, each as an output",
          NINO_OUTPUTS(NINO_PORT(STEPS, INT), NINO_PORT(REFINER_STEP, INT), NINO_PORT(CFG, FLOAT),
                       NINO_PORT(SAMPLER, ANY), NINO_PORT(SCHEDULER, ANY)),
          NINO_PARAMS(config_params,
                      NINO_P_INT(config_params, steps_total, 30, 1, 16384, 1, .label = "Steps",
                                 .help = "How many steps are taken"),
                      NINO_P_INT(config_params, refiner_step, 24, 1, 16384, 1,
                                 .label = "Refiner step",
                                 .help = "After which step a refiner goes on"),
                      NINO_P_FLOAT(config_params, cfg, 8.0, 0.0, 100.0, 0.5, .label = "CFG",
                                   .help = "How strongly the prompt is followed"),
                      NINO_P_ENUM(config_params, sampler_name, nino_sampler_names, 0,
                                  .label = "Sampler", .help = "Method of the steps"),
                      NINO_P_ENUM(config_params, scheduler, nino_scheduler_names, 0,
                                  .label = "Scheduler", .help = "How the noise levels are spread")),
          NINO_RUN(config_run));
