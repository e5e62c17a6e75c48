// Axes of a grid from text, and the sheet: sizes, where the pictures are, that labels are drawn.
#include <ninodes/grid.h>
#include <ninodes/picture.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/media/png.h"
#include "tests/test.h"

// The values joined by |.
static void check_values(const char *text, const char *expected)
{
    nino_axis a = { 0 };
    nino_error err = { 0 };
    nino_buf b = { 0 };
    CHECK_OK(nino_axis_parse(text, &a, &err), err);
    CHECK_STR(a.input, "3.seed");
    for (size_t i = 0; i < a.n; i++)
        nino_buf_addf(&b, "%s%s", i ? "|" : "", a.value[i]);
    CHECK_STR(b.data, expected);
    nino_buf_release(&b);
    nino_axis_release(&a);
    CHECK(!a.input && !a.n);
}

static void check_refused(const char *text, const char *why)
{
    nino_axis a = { 0 };
    nino_error err = { 0 };
    CHECK(nino_axis_parse(text, &a, &err) == NINO_ERR_ARG);
    if (!strstr(err.msg, why))
        CHECK_STR(err.msg, why);
    CHECK(!a.input && !a.value);
}

static void test_values(void)
{
    check_values("3.seed=1", "1");
    check_values("3.seed=1,2,30", "1|2|30");
    check_values("3.seed=1..5", "1|2|3|4|5");
    check_values("3.seed=1..9:2", "1|3|5|7|9");
    check_values("3.seed=1..8:3,20", "1|4|7|20");
    check_values("3.seed=5..1:2", "5|3|1");
    check_values("3.seed=-1..1", "-1|0|1");
    check_values("3.seed=0.5..1.5:0.25", "0.50|0.75|1.00|1.25|1.50");
    check_values("3.seed=-0.2..0.2:.2", "-0.2|0.0|0.2");
    check_values("3.seed=7..7", "7");
    check_values("3.seed=9223372036854775806..9223372036854775807",
                 "9223372036854775806|9223372036854775807");
    check_values("3.seed=\"a, b\",c d,\"\",\"say \"\"x\"\"\"", "a, b|c d||say \"x\"");
    check_values("3.seed=../a.png,b..c,1..,..2,1..2:x,a=b", "../a.png|b..c|1..|..2|1..2:x|a=b");
    check_values("3.seed=a \"b\" c", "a \"b\" c");
    check_refused("3.seed", "NODE.INPUT=VALUE,VALUE");
    check_refused("seed=1,2", "NODE.INPUT=VALUE,VALUE");
    check_refused(".seed=1", "NODE.INPUT=VALUE,VALUE");
    check_refused("3.=1", "NODE.INPUT=VALUE,VALUE");
    check_refused("3.seed=", "a value is empty");
    check_refused("3.seed=1,,2", "a value is empty");
    check_refused("3.seed=1,", "a value is empty");
    check_values("3.seed=1.5.5..2,1.x..2,--1..2,1..2:", "1.5.5..2|1.x..2|--1..2|1..2:");
    check_values("3.seed=99999999999999999999..2,1..2:92233720368547758070",
                 "99999999999999999999..2|1..2:92233720368547758070");
    check_refused("3.seed=0..1:0.0000000000000000001", "too many digits");
    check_refused("3.seed=100..101:0.000000000000000001", "too many digits");
    check_refused("3.seed=0..100:0.000000000000000001", "too many digits");
    check_refused("3.seed=0.000000000000000001..0.000000000000000002:100", "too many digits");
    check_refused("3.seed=\"a", "closing quote");
    check_refused("3.seed=1..5:0", "needs a step above 0");
    check_refused("3.seed=5..1:-1", "needs a step above 0");
    check_refused("3.seed=1..300", "more than 256 values");
    check_refused("3.seed=0..9223372036854775807:0.1", "has too many digits");
    check_refused("3.seed=\"abc", "lacks its closing quote");
    check_refused("3.seed=\"abc\"d", "needs a comma behind its closing quote");
}

static void test_assignment(void)
{
    nino_axis a = { 0 };
    nino_error err = { 0 };
    CHECK_OK(nino_axis_parse("K.text=x,\"a=b, c\"", &a, &err), err);
    char *text = nino_axis_assignment(&a, 1);
    CHECK_STR(text, "K.text=a=b, c");
    free(text);
    nino_axis_release(&a);
}

// A picture of one colour, dir/name.
static char *write_picture(const char *dir, const char *name, int w, int h, uint8_t r, uint8_t g)
{
    nino_error err = { 0 };
    nino_buf png = { 0 };
    uint8_t *rgb = calloc((size_t) (w * h), 3);
    char *path = malloc(200);
    CHECK(rgb && path);
    for (int i = 0; i < w * h; i++) {
        rgb[3 * i] = r;
        rgb[3 * i + 1] = g;
    }
    snprintf(path, 200, "%s/%s", dir, name);
    CHECK_OK(nino_png_encode(&png, rgb, w, h, 3, 8, NULL, 0, &err), err);
    CHECK_OK(nino_file_save(dir, name, true, png.data, png.len, &err), err);
    nino_buf_release(&png);
    free(rgb);
    return path;
}

// Pixels of the rectangle that have this red and green.
static int count(const nino_picture *p, int x0, int y0, int x1, int y1, int r, int g)
{
    int n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const uint8_t *at = p->rgba + ((size_t) y * (size_t) p->width + (size_t) x) * 4;
            n += at[0] == r && at[1] == g;
        }
    return n;
}

static nino_picture sheet_of(const char *dir, const nino_axis *columns, const nino_axis *rows,
                             const char *const *picture, const char *name)
{
    nino_error err = { 0 };
    const nino_sheet s = { columns, rows, picture };
    nino_picture p = { 0 };
    char *path = NULL, expected[200];
    CHECK_OK(nino_sheet_save(&s, dir, &path, &err), err);
    snprintf(expected, sizeof(expected), "%s/%s", dir, name);
    CHECK_STR(path, expected);
    CHECK_OK(nino_picture_load(path, &p, &err), err);
    free(path);
    return p;
}

static void test_sheet(const char *dir)
{
    nino_axis x = { 0 }, y = { 0 };
    nino_error err = { 0 };
    char *red = write_picture(dir, "red.png", 200, 100, 250, 0);
    char *green = write_picture(dir, "green.png", 200, 100, 0, 250);
    char *small = write_picture(dir, "small.png", 40, 20, 90, 90);
    CHECK_OK(nino_axis_parse("K.seed=1,2,3", &x, &err), err);
    CHECK_OK(nino_axis_parse("K.cfg=4,5", &y, &err), err);

    const char *two[] = { red, NULL, green, small, "nowhere.png", red };
    nino_picture p = sheet_of(dir, &x, &y, two, "grid_00001_.png");
    // 3 boxes of 200 with gaps of 8, 2 of 100; a line of text is 20 pixels
    const int left = p.width - 3 * 208, top = p.height - 2 * 108;
    CHECK(left > 20 && left < 100 && top == 8 + 2 * 20 + 4);
    CHECK(count(&p, left, top, left + 200, top + 100, 250, 0) == 200 * 100);
    CHECK(count(&p, left + 208, top, left + 408, top + 100, 232, 232) == 200 * 100);
    CHECK(count(&p, left + 416, top, left + 616, top + 100, 0, 250) == 200 * 100);
    CHECK(count(&p, left + 80, top + 148, left + 120, top + 168, 90, 90) == 40 * 20);
    CHECK(count(&p, 0, 0, p.width, p.height, 250, 0) == 2 * 200 * 100);
    for (int i = 0; i < 3; i++) // a label above each column, and between them nothing
        CHECK(count(&p, left + 208 * i + 90, 28, left + 208 * i + 110, top, 255, 255) < 20 * 24);
    CHECK(count(&p, left, 28, left + 80, top, 255, 255) == 80 * (top - 28));
    for (int i = 0; i < 2; i++)
        CHECK(count(&p, 8, top + 108 * i + 35, left, top + 108 * i + 65, 255, 255) <
              (left - 8) * 30);
    nino_picture_release(&p);

    const char *one[] = { red, green, NULL };
    p = sheet_of(dir, &x, NULL, one, "grid_00002_.png");
    CHECK(p.width == 8 + 3 * 208 && p.height == 8 + 2 * 20 + 4 + 108);
    nino_picture_release(&p);

    nino_axis_release(&x); // many values go on in further lines, each with its labels
    CHECK_OK(nino_axis_parse("K.seed=1..7", &x, &err), err);
    const char *many[7] = { red, red, red, red, red, red, green };
    p = sheet_of(dir, &x, NULL, many, "grid_00003_.png");
    CHECK(p.width == 8 + 2 * 208 && p.height == 8 + 20 + 4 * (20 + 4 + 108));
    CHECK(count(&p, 8, p.height - 108, 208, p.height - 8, 0, 250) == 200 * 100);
    nino_picture_release(&p);

    const char *none[7] = { "nowhere.png" };
    const nino_sheet s = { &x, NULL, none };
    char *path = NULL;
    CHECK(nino_sheet_save(&s, dir, &path, &err) == NINO_ERR_MISSING && !path);
    const char *some[] = { "nowhere.png", small, red };
    CHECK(nino_sheet_choose(some, 3) == small && !nino_sheet_choose(some, 1));
    nino_axis_release(&x);
    nino_axis_release(&y);
    free(red);
    free(green);
    free(small);
}

// Wider than a picture can be: all cells shrink, and the labels are cut.
static void test_wide(const char *dir)
{
    nino_axis x = { 0 }, y = { 0 };
    nino_error err = { 0 };
    char *red = write_picture(dir, "wide.png", 600, 300, 250, 0);
    CHECK_OK(nino_axis_parse("K.seed=1..40", &x, &err), err);
    CHECK_OK(nino_axis_parse("K.text=one,a text so long that it takes all the lines that there "
                             "are and more than that and is cut in the end",
                             &y, &err),
             err);
    const char *all[80];
    for (int i = 0; i < 80; i++)
        all[i] = red;
    nino_picture p = sheet_of(dir, &x, &y, all, "grid_00004_.png");
    CHECK(p.width <= 16384 && p.width > 13000 && p.height < 600);
    nino_picture_release(&p);
    nino_axis_release(&x);
    nino_axis_release(&y);
    free(red);
}

int main(void)
{
    char dir[] = "/tmp/ninodes-grid-XXXXXX", command[64];
    test_values();
    test_assignment();
    CHECK(mkdtemp(dir));
    test_sheet(dir);
    test_wide(dir);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK(!system(command));
    return 0;
}
