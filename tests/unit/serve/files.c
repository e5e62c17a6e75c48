// Pictures through the HTTP interface: views with and without alpha, masks laid over originals, uploads by
// every field that a form can have, names as long as they may be.
#include "core/media/image.h"
#include "core/media/png.h"
#include "tests/served.h"

static nino_serve *s;
static nino_buf form, answer;
static nino_error err;

static void picture(nino_buf *out, int width, int height, int channels, const nino_meta *texts,
                    int n)
{
    const size_t len = (size_t) width * (size_t) height * (size_t) channels;
    uint8_t *pixels = malloc(len);
    CHECK(pixels);
    for (size_t i = 0; i < len; i++)
        pixels[i] = (uint8_t) (i * 11);
    CHECK_OK(nino_png_encode(out, pixels, width, height, channels, 8, texts, n, &err), err);
    free(pixels);
}

static void put_picture(const char *name, int width, int height, int channels,
                        const nino_meta *texts, int n)
{
    nino_buf b = { 0 };
    picture(&b, width, height, channels, texts, n);
    served_put("in", name, b.data, b.len);
    nino_buf_release(&b);
}

// ---- forms ---------------------------------------------------------------------------------------

static void field(const char *head, const void *data, size_t n)
{
    nino_buf_addf(&form, "--x\r\nContent-Disposition: form-data; %s\r\n\r\n", head);
    nino_buf_add(&form, data, n);
    nino_buf_adds(&form, "\r\n");
}

static void text_field(const char *name, const char *text)
{
    char head[100];
    snprintf(head, sizeof(head), "name=\"%s\"", name);
    field(head, text, strlen(text));
}

// Sends the form and empties it.
static void send(const char *path, int status, const char *says)
{
    char line[100];
    snprintf(line, sizeof(line), "POST %s", path);
    nino_buf_adds(&form, "--x--\r\n");
    const int got =
        served_ask(s, line, "multipart/form-data; boundary=x", form.data, form.len, &answer);
    if (got != status || !strstr(answer.data, says))
        fprintf(stderr, "%d %s, not %d %s\n", got, answer.data, status, says);
    CHECK(got == status && strstr(answer.data, says));
    nino_buf_clear(&form);
}

#define IMAGE(name) "name=\"image\"; filename=\"" name "\""

static void uploads(void)
{
    static const char bad[] = "the form has no file named image, or is malformed";
    static char longest[600];
    memset(longest, 'a', sizeof(longest) - 1);
    field(IMAGE("n.png"), "one", 3);
    text_field("overwrite", "1");
    send("/upload/image", 200, "\"name\":\"n.png\"");
    field(IMAGE("n.png"), "two", 3);
    text_field("overwrite", "1");
    send("/upload/image", 200, "\"name\":\"n.png\"");
    CHECK(served_ask(s, "GET /view?filename=n.png&type=input", NULL, NULL, 0, &answer) == 200);
    CHECK_STR(answer.data, "two");
    field(IMAGE("n.png"), "six", 3); // as long, but other
    send("/upload/image", 200, "\"name\":\"n (1).png\"");
    field(IMAGE("n.png"), "longer", 6);
    send("/upload/image", 200, "\"name\":\"n (2).png\"");
    field(IMAGE("n.png"), "one", 3);
    text_field("overwrite", "a longer word than that");
    send("/upload/image", 200, "\"name\":\"n (3).png\"");
    text_field("type", "a longer word than that");
    field(IMAGE("n.png"), "one", 3);
    send("/upload/image", 400, "cannot be stored");
    field(IMAGE("n.png"), "one", 3);
    field("name=\"subfolder\"", longest, 599);
    send("/upload/image", 400, bad);
    field(IMAGE("n.png"), "one", 3);
    field("name=\"other\"", longest, 599);
    send("/upload/image", 200, "\"name\":\"n (3).png\"");
    text_field("subfolder", "n.png"); // a file
    field(IMAGE("m.png"), "one", 3);
    send("/upload/image", 500, "cannot be stored");
    text_field("subfolder", "deep///");
    field(IMAGE("m.png"), "one", 3);
    send("/upload/image", 200, "\"subfolder\":\"deep///\"");
    CHECK(served_ask(s, "GET /view?filename=m.png&subfolder=deep&type=input", NULL, NULL, 0,
                     &answer) == 200);
    char name[400];
    snprintf(name, sizeof(name), "name=\"image\"; filename=\"%.300s\"", longest);
    field(name, "one", 3); // a name that does not fit is none
    send("/upload/image", 400, bad);
    // a file's name that looks like a parameter, before that one and behind a quote that is none
    field("filename=\"a; name=b\"; name=\"image\"", "one", 3);
    send("/upload/image", 200, "\"name\":\"a; name=b\"");
    field("filename=\"c\\\"; name=d\"; name=\"image\"", "one", 3);
    send("/upload/image", 200, "\"name\":\"c\\\"; name=d\"");
    field("filename=\"e\\x\"; name=\"image\"", "one", 3);
    send("/upload/image", 400, "cannot be stored"); // a mark before what needs none is kept
    field("name=image; filename=plain.txt", "one", 3);
    send("/upload/image", 200, "\"name\":\"plain.txt\"");
    field(IMAGE("no-dot"), "one", 3);
    send("/upload/image", 200, "\"name\":\"no-dot\"");
    field(IMAGE("no-dot"), "two", 3);
    send("/upload/image", 200, "\"name\":\"no-dot (1)\"");
    for (int i = 0; i < 70; i++) // more parts than anybody sends: those behind are not looked at
        text_field("other", "x");
    field(IMAGE("late.png"), "one", 3);
    send("/upload/image", 400, bad);
    nino_buf_addf(&form, "--x\r\n%.*s\r\n\r\nlate\r\n", 599, longest);
    send("/upload/image", 400, bad); // a head without a name
    static char head[5000];
    memset(head, 'h', sizeof(head) - 1);
    field(head, "x", 1);
    send("/upload/image", 400, bad);
}

static void send_mask(const char *reference, int status, const char *says, int width, int height,
                      int channels)
{
    nino_buf png = { 0 };
    picture(&png, width, height, channels, NULL, 0);
    field(IMAGE("masked.png"), png.data, png.len);
    char *json = test_quoted(reference);
    text_field("original_ref", json);
    text_field("original_ref", "{}"); // the first one counts
    send("/upload/mask", status, says);
    free(json);
    nino_buf_release(&png);
}

static void masks(void)
{
    nino_meta texts[9];
    for (int i = 0; i < 9; i++)
        texts[i] = (nino_meta){ "key", "value", 5 };
    put_picture("a.png", 4, 2, 3, texts, 9);
    static const char size[] = "the mask is no picture of the original's size";
    send_mask("{'filename':'a.png','type':'input','subfolder':''}", 200, "\"name\":\"masked.png\"",
              4, 2, 4);
    CHECK(served_ask(s, "GET /view?filename=masked.png&type=input", NULL, NULL, 0, &answer) == 200);
    nino_image i;
    CHECK_OK(nino_image_read(answer.data, answer.len, "masked.png", true, &i, &err), err);
    CHECK(i.channels == 4 && i.texts.n == 8 && !strcmp(i.texts.list[0].key, "key"));
    const float *f = nino_array_f32(i.pixels);
    for (int p = 0; p < 8; p++) // the original's colours, the mask's alpha
        CHECK((int) (f[4 * p] * 255 + 0.5f) == (uint8_t) (3 * p * 11) &&
              (int) (f[4 * p + 3] * 255 + 0.5f) == (uint8_t) ((4 * p + 3) * 11));
    nino_image_release(&i);
    send_mask("{'filename':'a.png','type':'input'}", 400, size, 4, 3, 4);
    send_mask("{'filename':'a.png','type':'input'}", 400, size, 5, 2, 4);
    send_mask("{'filename':'a.png','type':'input','subfolder':'none'}", 400, "names no picture", 4,
              2, 4);
    send_mask("{'filename':'../a.png','type':'input'}", 400, "names no picture", 4, 2, 4);
    send_mask("{'filename':'a.png'}", 400, "names no picture", 4, 2, 4); // of the outputs
    send_mask("5", 400, "names no picture", 4, 2, 4);
    char *longest = malloc(700);
    CHECK(longest);
    snprintf(longest, 700, "{'filename':'%0600d','type':'input'}", 1);
    send_mask(longest, 400, "names no picture", 4, 2, 4);
    snprintf(longest, 700, "{'filename':'a.png','type':'input','subfolder':'%0600d'}", 1);
    send_mask(longest, 200, "masked", 4, 2, 4); // as if it said none
    free(longest);
}

// ---- views ---------------------------------------------------------------------------------------

static void view(const char *what, int width, int height, int channels)
{
    char line[300];
    nino_image i;
    snprintf(line, sizeof(line), "GET /view?type=input&filename=%s", what);
    CHECK(served_ask(s, line, NULL, NULL, 0, &answer) == 200);
    CHECK_OK(nino_image_read(answer.data, answer.len, what, true, &i, &err), err);
    CHECK(i.width == width && i.height == height && i.channels == channels);
    nino_image_release(&i);
}

static void views(void)
{
    put_picture("opaque.png", 4, 2, 3, NULL, 0);
    put_picture("clear.png", 4, 2, 4, NULL, 0);
    put_picture("tall.png", 1, 700, 3, NULL, 0); // nothing is left of half of its width
    put_picture("large.png", 600, 1040, 3, NULL, 0);
    view("opaque.png&channel=a", 4, 2, 4);
    view("opaque.png&channel=rgb", 4, 2, 3);
    view("clear.png&channel=a", 4, 2, 4);
    view("clear.png&channel=rgb", 4, 2, 3);
    view("opaque.png&channel=rgba", 4, 2, 3);
    view("clear.png&preview=webp", 4, 2, 4);
    // what cannot be decoded is given as it is
    nino_buf half = { 0 };
    picture(&half, 40, 20, 3, NULL, 0);
    served_put("in", "half.png", half.data, half.len / 2);
    CHECK(served_ask(s, "GET /view?type=input&filename=half.png&preview=webp", NULL, NULL, 0,
                     &answer) == 200);
    CHECK(answer.len == half.len / 2 && !memcmp(answer.data, half.data, answer.len));
    nino_buf_release(&half);
    served_put("in", "empty.png", "", 0);
    CHECK(served_ask(s, "GET /view?type=input&filename=empty.png&preview=webp", NULL, NULL, 0,
                     &answer) == 200 &&
          !answer.len);
    view("tall.png&preview=webp;70", 1, 700, 3);
    view("large.png&preview=jpeg;80", 150, 260, 3);
    CHECK(served_ask(s, "GET /view?type=input&filename=q%22x.txt", NULL, NULL, 0, &answer) == 404);
    served_put("in", "q\"x.txt", "1", 1);
    CHECK(served_ask(s, "GET /view?type=input&filename=q%22x.txt", NULL, NULL, 0, &answer) == 200);
    static char far[2200];
    snprintf(far, sizeof(far), "GET /view?type=input&filename=%0250d&subfolder=%0900d", 1, 1);
    CHECK(served_ask(s, far, NULL, NULL, 0, &answer) >= 400); // no path is so long
    char name[230], line[300];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    served_put("in", name, "3", 1);
    snprintf(line, sizeof(line), "GET /view?type=input&filename=%s", name);
    CHECK(served_ask(s, line, NULL, NULL, 0, &answer) == 200 && !strcmp(answer.data, "3"));
}

// ---- what a user keeps ---------------------------------------------------------------------------

static void user_files(void)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        { "GET /userdata?dir=subgraphs", 200, "[]" }, // there is none yet
        { "GET /userdata?dir=other", 404, "there is no such folder" },
        { "POST /userdata/a%2Fb.json", 200, "b.json" },
        { "GET /userdata?dir=a&split=true", 200, "[[\"b.json\",\"b.json\"]]" },
        { "GET /userdata?dir=a&split=true&full_info=true", 200,
          "[{\"path\":\"b.json\",\"size\":2," },
        { "GET /userdata/user.css", 200, "" }, // the page's own, where the user has none
        { "POST /userdata/user.css", 200, "user.css" },
        { "GET /userdata/user.css", 200, "{}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const bool writes = *rows[i].line == 'P';
        const int status =
            served_ask(s, rows[i].line, NULL, writes ? "{}" : NULL, writes ? 2 : 0, &answer);
        if (status != rows[i].status || !strstr(answer.data, rows[i].says))
            fprintf(stderr, "%s: %d %s\n", rows[i].line, status, answer.data);
        CHECK(status == rows[i].status && strstr(answer.data, rows[i].says));
    }
}

int main(void)
{
    s = served_create(NULL, NULL);
    uploads();
    masks();
    views();
    user_files();
    nino_buf_release(&form);
    nino_buf_release(&answer);
    served_destroy(&s);
    return 0;
}
