// EXIF blocks byte by byte: which tags count, where they may lie, and what is said of damaged ones; and
// how many texts a picture may carry.
#include "core/media/exif.h"
#include "tests/picture.h"

enum { MODEL = 0x0110, COMMENT = 0x9286 };
static nino_error err;

// Which tags count, which kinds of them, and where each of them may lie.
static void check_tags(void)
{
    enum { BYTE = 1, ASCII = 2, SHORT = 3, LONG = 4, OTHER = 7, ORIENTATION = 0x0112 };
    static const struct {
        exif_entry e;
        int count; // 0: as long as it is
        int up;
        const char *key, *value; // NULL: there is no text
        const char *told;        // NULL: it is read
    } rows[] = {
        { { ORIENTATION, SHORT, NULL, 0, 1 }, 0, 1, NULL, NULL, NULL },
        { { ORIENTATION, SHORT, NULL, 0, 2 }, 0, 2, NULL, NULL, NULL },
        { { ORIENTATION, SHORT, NULL, 0, 8 }, 0, 8, NULL, NULL, NULL },
        { { ORIENTATION, SHORT, NULL, 0, 9 }, 0, 5, NULL, NULL, NULL },
        { { ORIENTATION, SHORT, NULL, 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { ORIENTATION, SHORT, NULL, 0, 3 }, 2, 5, NULL, NULL, NULL },
        { { ORIENTATION, LONG, NULL, 0, 3 }, 0, 5, NULL, NULL, NULL },
        { { 0x0113, SHORT, NULL, 0, 3 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "p:v", 0, 0 }, 0, 5, NULL, NULL, NULL }, // four bytes
        { { MODEL, ASCII, "p:vw", 0, 0 }, 0, 5, "p", "vw", NULL },
        { { MODEL, ASCII, "p:\0\0\0", 6, 0 }, 0, 5, "p", "", NULL },
        { { MODEL, ASCII, "p:v\0w\0\0", 7, 0 }, 0, 5, "p", "v", NULL },
        { { MODEL, BYTE, "p:vwx", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, OTHER, "p:vwx", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, SHORT, "p:vwx", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "{\"a\": 1}", 0, 0 }, 0, 5, NULL, NULL, NULL }, // of comments only
        { { MODEL, ASCII, "a1:vw", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "a@:vw", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "a[:vw", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "a{:vw", 0, 0 }, 0, 5, NULL, NULL, NULL },
        { { MODEL, ASCII, "AzZ_a:x:y", 0, 0 }, 0, 5, "azz_a", "x:y", NULL },
        { { MODEL, ASCII, "k:\xe9\xff\x80", 0, 0 }, 0, 5, "k", "\u00e9\u00ff\xc2\x80", NULL },
        { { COMMENT, OTHER, "ASCII\0\0\0{", 9, 0 }, 0, 5, "usercomment", "{", NULL },
        { { COMMENT, ASCII, "ASCII\0\0\0{}", 10, 0 }, 0, 5, "usercomment", "{}", NULL },
        { { COMMENT, BYTE, "ASCII\0\0\0a:{}", 12, 0 }, 0, 5, "a", "{}", NULL },
        { { COMMENT, SHORT, "ASCII\0\0\0{}", 10, 0 }, 0, 5, NULL, NULL, NULL },
        { { COMMENT, OTHER, "ASCII\0\0\0 {}", 11, 0 }, 0, 5, NULL, NULL, NULL },
        { { COMMENT, OTHER, "ASCII\0\0\0", 8, 0 }, 0, 5, NULL, NULL, NULL },
        { { COMMENT, OTHER, "UNICODE\0{\0\0\xd8\0\xdc}\0", 16, 0 },
          0,
          5,
          "usercomment",
          "{\U00010000}",
          NULL },
        { { COMMENT, OTHER, "UNICODE\0{\0\xff\xdb\xff\xdf}\0", 16, 0 },
          0,
          5,
          "usercomment",
          "{\U0010ffff}",
          NULL },
        { { COMMENT, OTHER, "UNICODE\0{\0\0\xdc\0\xd8}\0", 16, 0 },
          0,
          5,
          "usercomment",
          "{\ufffd\ufffd}",
          NULL },
        { { COMMENT, OTHER, "UNICODE\0{\0\0\xd8\0\xe0}\0", 16, 0 },
          0,
          5,
          "usercomment",
          "{\ufffd\ue000}",
          NULL },
        { { COMMENT, OTHER, "UNICODE\0{\0\xff\xd7\xff\xfe\0\0}\0", 18, 0 },
          0,
          5,
          "usercomment",
          "{\ud7ff}",
          NULL }, // neither marks nor zeros are of the text
        { { MODEL, ASCII, "p:vwx", 0, 0 },
          7,
          5,
          NULL,
          NULL,
          "EXIF tag 0x0110 ends behind the data" },
        { { COMMENT, OTHER, "ASCII\0\0\0{}", 10, 0 },
          11,
          5,
          NULL,
          NULL,
          "EXIF tag 0x9286 ends behind the data" },
        { { MODEL, BYTE, "p:vwx", 0, 0 },
          7,
          5,
          NULL,
          NULL,
          "EXIF tag 0x0110 ends behind the data" },
        { { MODEL, SHORT, "p:vwx", 0, 0 }, 70, 5, NULL, NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int prefix = 0; prefix < 2; prefix++) {
            nino_buf b = exif_make(&rows[i].e, 1, 0, false), with = { 0 };
            nino_texts t = { 0 };
            int up = 5;
            if (rows[i].count)
                b.data[8 + 2 + 4] = (char) rows[i].count;
            nino_buf_add(&with, "Exif\0\0", prefix ? 6 : 0);
            nino_buf_add(&with, b.data, b.len);
            err = (nino_error){ 0 };
            nino_exif_read(with.data, with.len, "x", &t, &up, &err);
            if (up != rows[i].up || t.n != !!rows[i].key ||
                strcmp(err.msg, rows[i].told ? rows[i].told : "") != 0)
                fprintf(stderr, "row %zu: up %d, %d texts, %s\n", i, up, t.n, err.msg);
            CHECK(up == rows[i].up && t.n == !!rows[i].key);
            CHECK_STR(err.msg, rows[i].told ? rows[i].told : "");
            if (rows[i].key) {
                CHECK_STR(t.list[0].key, rows[i].key);
                CHECK_STR(t.list[0].value, rows[i].value);
            }
            nino_texts_release(&t);
            nino_buf_release(&with);
            nino_buf_release(&b);
        }
}

// Directories at the end of the data and behind it, and as many tags as are read.
static void check_directories(void)
{
    static const char none[] = "II*\0\x08\0\0\0\0\0", far[] = "II*\0\x0a\0\0\0\0\0",
                      half[] = "MM\0*\0\0\0\x09\0\0", one[] = "II*\0\x08\0\0\0\1\0abcdefghijk",
                      mixed[] = "IM*\0\x08\0\0\0\0\0";
    static const struct {
        const char *p;
        size_t len;
        const char *told;
    } rows[] = {
        { none, 10, "" },
        { none, 9, "the EXIF data ends before its directory" },
        { none, 8, "the EXIF data ends before its directory" },
        { none, 7, "the EXIF data is damaged" },
        { far, 10, "the EXIF data ends before its directory" },
        { far, 11, "the EXIF data ends before its directory" },
        { half, 10, "the EXIF data ends before its directory" },
        { one, 21, "the EXIF data ends inside its directory" },
        { one, 22, "" },
        { mixed, 10, "the EXIF data is damaged" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char p[24] = { 0 };
        nino_texts t = { 0 };
        int up = 1;
        memcpy(p, rows[i].p, rows[i].len < 22 ? rows[i].len : 21);
        err = (nino_error){ 0 };
        CHECK(nino_exif_read(p, rows[i].len, "x", &t, &up, &err) ==
              (*rows[i].told ? NINO_ERR_FORMAT : NINO_OK));
        CHECK_STR(err.msg, rows[i].told);
        CHECK(!t.n && up == 1);
    }
    static exif_entry many[1001];
    for (int i = 0; i < 1001; i++)
        many[i] = (exif_entry){ 0x0112, 3, NULL, 0, (uint32_t) i % 8 + 1 };
    for (int n = 1000; n <= 1001; n++) {
        nino_buf b = exif_make(many, n, 0, n & 1);
        nino_texts t = { 0 };
        int up = 5;
        CHECK(nino_exif_read(b.data, b.len, "x", &t, &up, &err) ==
              (n > 1000 ? NINO_ERR_FORMAT : NINO_OK));
        CHECK(up == (n > 1000 ? 5 : 8)); // the last one's
        nino_buf_release(&b);
    }
    // a second directory that is not there; what the first one held stays
    const exif_entry two[] = { { MODEL, 2, "prompt:{}", 0, 0 },
                               { COMMENT, 7, "ASCII\0\0\0{}", 10, 0 } };
    nino_buf b = exif_make(two, 2, 1, false);
    nino_texts t = { 0 };
    int up = 1;
    b.data[8 + 2 + 12 + 8 + 1] = 1; // 256 bytes further
    CHECK(nino_exif_read(b.data, b.len, "x", &t, &up, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.msg, "the EXIF data ends before its directory");
    CHECK(t.n == 1 && !strcmp(t.list[0].key, "prompt"));
    nino_texts_release(&t);
    nino_buf_release(&b);
}

// How many texts, how long ones, how much of all of them; which names there may be only once.
static void check_text_limits(void)
{
    nino_texts t = { 0 };
    char *large = calloc(NINO_MAX_TEXT + 1, 1);
    CHECK(large);
    for (int i = 0; i < NINO_MAX_TEXTS; i++)
        CHECK_OK(nino_texts_add(&t, "k", "v\0w", 3, "x", &err), err);
    CHECK(t.n == NINO_MAX_TEXTS && t.bytes == 3 * NINO_MAX_TEXTS);
    CHECK(!memcmp(t.list[t.n - 1].value, "v\0w", 4) && t.list[t.n - 1].value_len == 3);
    CHECK(nino_texts_add(&t, "k", "", 0, "x", &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.msg, "more than 256 texts");
    CHECK(nino_texts_find(&t, "k") == t.list && !nino_texts_find(&t, "l"));
    nino_texts_release(&t);
    CHECK(!t.list && !t.n && !t.bytes);
    size_t all = 0;
    for (; all + NINO_MAX_TEXT <= NINO_MAX_ALL_TEXT; all += NINO_MAX_TEXT)
        CHECK_OK(nino_texts_add(&t, "k", large, NINO_MAX_TEXT, "x", &err), err);
    CHECK(nino_texts_add(&t, "k", large, NINO_MAX_ALL_TEXT - all + 1, "x", &err) ==
          NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "bomb");
    CHECK_OK(nino_texts_add(&t, "k", large, NINO_MAX_ALL_TEXT - all, "x", &err), err);
    CHECK(t.bytes == NINO_MAX_ALL_TEXT);
    nino_texts_release(&t);
    static const char *const once[] = { "prompt", "workflow" };
    for (int i = 0; i < 2; i++) {
        char told[60];
        CHECK_OK(nino_texts_add(&t, once[i], "1", 1, "x", &err), err);
        CHECK(nino_texts_add(&t, once[i], "2", 1, "x", &err) == NINO_ERR_FORMAT);
        snprintf(told, sizeof(told), "there are two texts called '%s'", once[i]);
        CHECK_STR(err.msg, told);
        CHECK_STR(err.kind, "dup");
        CHECK_STR(nino_texts_find(&t, once[i])->value, "1");
    }
    nino_texts_release(&t);
    free(large);
}

int main(void)
{
    check_tags();
    check_directories();
    check_text_limits();
    return 0;
}
