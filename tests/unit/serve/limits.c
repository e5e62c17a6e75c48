// The HTTP interface at its limits: a disk that is full, links and pipes in its folders, names that are too long,
// pictures that no preview can be made of. Each is answered, and what was there before still is.
#include "core/media/png.h"
#include "core/serve/serve_priv.h"
#include "tests/served.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static nino_serve *s;
static nino_buf answer;

static void ask(const char *line, const char *type, const char *body, int status, const char *says)
{
    const int got = served_ask(s, line, type, body, body ? strlen(body) : 0, &answer);
    if (got != status || !strstr(answer.data, says))
        fprintf(stderr, "%s: %d %s, not %d %s\n", line, got, answer.data, status, says);
    CHECK(got == status && strstr(answer.data, says));
}

static const char *at(const char *name)
{
    static char path[4][200];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof(path[i]), "%s/%s", served_top, name);
    return path[i];
}

// ---- a full disk -------------------------------------------------------------------------------

static void full(bool is_full)
{
    struct rlimit l;
    CHECK(!getrlimit(RLIMIT_FSIZE, &l));
    l.rlim_cur = is_full ? 512 : l.rlim_max;
    CHECK(!setrlimit(RLIMIT_FSIZE, &l));
}

static void check_full(void)
{
    static const char form[] = "multipart/form-data; boundary=x";
    static char body[4096], upload[4400], setting[4200];
    memset(body, 'b', sizeof(body) - 1);
    snprintf(upload, sizeof(upload),
             "--x\r\nContent-Disposition: form-data; name=\"image\"; "
             "filename=\"f.png\"\r\n\r\n%s\r\n--x--\r\n",
             body);
    snprintf(setting, sizeof(setting), "\"%s\"", body);
    ask("POST /settings/kept", NULL, "1", 200, "");
    ask("POST /userdata/kept.txt", NULL, "before", 200, "kept.txt");
    full(true);
    ask("POST /userdata/kept.txt", NULL, body, 500, "the file cannot be written");
    ask("POST /userdata/new.txt", NULL, body, 500, "the file cannot be written");
    ask("POST /settings/big", NULL, setting, 500, "the settings cannot be written");
    ask("POST /upload/image", form, upload, 500, "cannot be stored");
    full(false);
    ask("GET /userdata/kept.txt", NULL, NULL, 200, "before");
    ask("GET /userdata/new.txt", NULL, NULL, 404, "there is no such file");
    ask("GET /settings", NULL, NULL, 200, "\"kept\": 1");
    ask("GET /settings/big", NULL, NULL, 200, "null");
    ask("GET /view?filename=f.png&type=input", NULL, NULL, 404, "there is no such file");
    ask("GET /v2/userdata", NULL, NULL, 200, "kept.txt");
    CHECK(!strstr(answer.data, "new") && !strstr(answer.data, ".part"));
    ask("POST /upload/image", form, upload, 200, "\"f.png\"");
    ask("POST /settings/big", NULL, setting, 200, "");
    ask("GET /settings/big", NULL, NULL, 200, "bbbb");
}

// ---- what is no file ---------------------------------------------------------------------------

static void check_links(void)
{
    CHECK(!mkdir(at("elsewhere"), 0700));
    served_put("elsewhere", "theirs.txt", "theirs", 6);
    CHECK(!symlink(at("elsewhere"), at("user/files/way")));
    CHECK(!symlink("nowhere", at("user/files/broken")));
    CHECK(!mkfifo(at("in/pipe"), 0600) && !mkfifo(at("user/files/pipe"), 0600));
    // nothing is written through a link, nor is what it leads to listed here
    ask("POST /userdata/way%2Fours.txt", NULL, "ours", 500, "cannot be written");
    ask("POST /userdata/kept.txt/move/way%2Fkept.txt", NULL, NULL, 500, "cannot be moved");
    CHECK(access(at("elsewhere/ours.txt"), F_OK) && access(at("elsewhere/kept.txt"), F_OK));
    ask("GET /v2/userdata", NULL, NULL, 200, "kept.txt");
    CHECK(!strstr(answer.data, "way") && !strstr(answer.data, "broken"));
    ask("GET /userdata/broken", NULL, NULL, 404, "there is no such file");
    ask("DELETE /userdata/broken", NULL, NULL, 204, "");
    ask("DELETE /userdata/way", NULL, NULL, 204, ""); // the link alone
    CHECK(!access(at("elsewhere/theirs.txt"), F_OK) && access(at("user/files/way"), F_OK));
    ask("DELETE /userdata/none", NULL, NULL, 404, "there is no such file");
    // nobody waits for who would write into a pipe
    ask("GET /view?filename=pipe&type=input", NULL, NULL, 404, "there is no such file");
    ask("GET /view?filename=pipe&type=input&preview=webp", NULL, NULL, 404,
        "there is no such file");
    ask("GET /userdata/pipe", NULL, NULL, 404, "there is no such file");
}

// ---- names -------------------------------------------------------------------------------------

static void check_names(void)
{
    char name[2300], line[2500];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    static const struct {
        const char *format;
        int len, status;
        const char *says;
    } rows[] = {
        { "GET /userdata/%.*s", 2100, 403, "no name below" },
        { "GET /userdata/%.*s", 300, 403, "no name below" },
        { "GET /userdata?dir=%.*s", 2100, 400, "dir is missing" },
        { "GET /userdata?dir=%.*s", 300, 400, "dir names no folder" },
        { "GET /v2/userdata?path=%.*s", 300, 400, "path names no folder" },
        { "GET /v2/userdata?path=%.*s", 40, 200, "[]" },
        { "POST /userdata/%.*s", 300, 403, "no name below" },
        { "POST /userdata/kept.txt/move/%.*s", 2100, 403, "no name below" },
        { "DELETE /userdata/%.*s", 300, 403, "no name below" },
        { "GET /view?filename=%.*s", 1100, 400, "filename is missing or too long" },
        { "GET /view?filename=a&subfolder=%.*s", 1100, 400, "filename is missing or too long" },
        { "GET /settings/%.*s", 300, 200, "null" },
        { "POST /settings/%.*s", 300, 400, "invalid_json" },
        { "GET /%.*s", 2100, 404, "there is nothing at" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char format[100];
        snprintf(format, sizeof(format), "%s", rows[i].format);
        char *mark = strstr(format, "%.*s");
        CHECK(mark);
        *mark = 0;
        snprintf(line, sizeof(line), "%s%.*s%s", format, rows[i].len, name, mark + 4);
        ask(line, NULL, NULL, rows[i].status, rows[i].says);
    }
    // the user's own folder may be as long as that, and no longer
    nino_error err = { 0 };
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .input_dir = at("in"),
                                  .output_dir = at("out") };
    nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = name };
    CHECK(!nino_serve_create(&p, &err) && err.code == NINO_ERR_ARG &&
          strstr(err.msg, "longer than 2048 bytes"));
}

// ---- settings ----------------------------------------------------------------------------------

static void check_settings(void)
{
    served_put("user", "settings.json", "{\"cut\": 1", 9); // by somebody else
    ask("GET /settings", NULL, NULL, 200, "{}");
    nino_error err = { 0 };
    char *text = NULL;
    size_t len = 0;
    CHECK_OK(nino_file_read(at("user/settings.json.damaged"), 100, false, &text, &len, &err), err);
    CHECK_STR(text, "{\"cut\": 1");
    free(text);
    ask("POST /settings/new", NULL, "2", 200, "");
    ask("GET /settings", NULL, NULL, 200, "{\"new\": 2}");
    served_put("user", "settings.json", "[2]", 3);
    ask("POST /settings/new", NULL, "3", 200, "");
    ask("GET /settings", NULL, NULL, 200, "{\"new\": 3}");
    CHECK_OK(nino_file_read(at("user/settings.json.damaged"), 100, false, &text, &len, &err), err);
    CHECK_STR(text, "[2]");
    free(text);
    // more than there may be; what cannot be read is not written anew
    char *big = malloc((4 << 20) + 3);
    CHECK(big);
    memset(big, '1', (4 << 20) + 2);
    big[0] = big[(4 << 20) + 1] = '"';
    big[(4 << 20) + 2] = 0;
    ask("POST /settings/big", NULL, big, 500, "the settings cannot be written");
    free(big);
    CHECK(!unlink(at("user/settings.json")) && !mkdir(at("user/settings.json"), 0700));
    ask("GET /settings", NULL, NULL, 500, "the settings cannot be read");
    ask("POST /settings/new", NULL, "4", 500, "the settings cannot be written");
    CHECK(!rmdir(at("user/settings.json")));
}

// ---- pictures ----------------------------------------------------------------------------------

static void check_pictures(void)
{
    enum { WIDTH = 20000 }; // WebP ends at 16383
    nino_buf b = { 0 };
    nino_error err = { 0 };
    uint8_t *pixels = calloc(WIDTH, 3);
    CHECK(pixels);
    CHECK_OK(nino_png_encode(&b, pixels, WIDTH, 1, 3, 8, NULL, 0, &err), err);
    served_put("in", "wide.png", b.data, b.len);
    nino_buf_release(&b);
    free(pixels);
    ask("GET /view?filename=wide.png&type=input&preview=webp", NULL, NULL, 200, "\x89PNG");
}

// Numbers as they stand in answers: what is none, or too large for 64 bits, comes from a workflow too.
static void check_numbers(void)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        { 0, "\"n\":0" },
        { -7, "\"n\":-7" },
        { 0.5, "\"n\":0.5" },
        { 1e300, "\"n\":1e300" },
        { -1e300, "\"n\":-1e300" },
        { INFINITY, "\"n\":null" },
        { -INFINITY, "\"n\":null" },
        { NAN, "\"n\":null" },
        { 1e15 - 1, "\"n\":999999999999999" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nino_buf_clear(&answer);
        serve_number(&answer, "n", rows[i].v);
        nino_buf_addc(&answer, 0);
        CHECK_STR(answer.data, rows[i].text);
    }
}

int main(void)
{
    check_numbers();
    signal(SIGXFSZ, SIG_IGN);
    s = served_create(NULL, NULL);
    check_full();
    check_links();
    check_names();
    check_settings();
    check_pictures();
    nino_buf_release(&answer);
    served_destroy(&s);
    return 0;
}
