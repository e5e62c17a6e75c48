// Settings read: which file and variable counts, every way to write a line, and what is complained
// of, by its line.
#include "core/base/settings.h"
#include "core/base/file.h"
#include "tests/test.h"

#include <ninodes/base.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/ninodes-settings-XXXXXX";
static nino_error err;

static void put(const char *dir, const char *text)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", top, dir);
    CHECK_OK(nino_file_save(path, "ninodes.conf", true, text, strlen(text), &err), err);
}

static const char *text_of(const char *key)
{
    return nino_settings_at(nino_settings_find(key))->text;
}

// A user's file: what two keys become, and the complaint behind the name of the file; NULL: none.
static void check_lines(void)
{
    static const struct {
        const char *text, *limit, *chunk, *problem;
    } t[] = {
        { "", "", "auto", NULL },
        { "mem_limit = 2G\r\n# a\n\n[memory]\nchunk_size=4", "2G", "4", NULL },
        { "MEM-LIMIT\t= 2G # a\nmemory.Chunk-size = '4' # b", "2G", "4", NULL },
        { "mem_limit = #2G\n [ memory\t] # c\nchunk_size =", "", "auto", NULL },
        { "mem_limit = 2#G\n", "2#G", "auto", NULL },
        { "mem_limit = \"2 G\" x\n", "", "auto",
          ":1: the quotes of mem_limit do not end the line" },
        { "\nmem_limit = '2G\n", "", "auto", ":2: the quotes of mem_limit do not end the line" },
        { "mem_limit\n", "", "auto", ":1: no \"=\" in \"mem_limit\"" },
        { "mem_limit = 1G\nmem-limit = 2G\n", "1G", "auto",
          ":2: mem-limit is set in line 1 already" },
        { "[memory] 1\nchunk_size = 1\n", "", "auto", ":1: no heading: \"[memory] 1\"" },
        { "[memory\nmem_limit = 2G\n", "2G", "auto", ":1: no heading: \"[memory\"" },
        { "[mem]\n", "", "auto", ":1: there is no section [mem]" },
        { "[memory]\nchunk_size = 3\n", "", "auto",
          ":2: memory.chunk_size is one of auto|1|2|4|8, not \"3\"" },
        { "helpers = 2\n", "", "auto", ":1: helpers is a number from 0 to 1, not \"2\"" },
        { "helpers = -1\n", "", "auto", ":1: helpers is a number from 0 to 1, not \"-1\"" },
        { "helpers = nan\n", "", "auto", ":1: helpers is a number from 0 to 1, not \"nan\"" },
        { "helpers = a\n", "", "auto", ":1: helpers is a number from 0 to 1, not \"a\"" },
        { "mem_limits = 2G\nmem_limit = 1G\n", "1G", "auto",
          ":1: there is no setting \"mem_limits\"; did you mean mem_limit?" },
        { "quite_another = 1\n", "", "auto", ":1: there is no setting \"quite_another\"" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        put("own/ninodes", t[i].text);
        nino_settings_read();
        const char *problem = nino_settings_problem();
        if (!problem != !t[i].problem)
            fprintf(stderr, "%s: %s\n", t[i].text, problem ? problem : "no complaint");
        CHECK(!problem == !t[i].problem);
        if (problem)
            CHECK_STR(strstr(problem, ".conf:") + 5, t[i].problem);
        CHECK_STR(text_of("mem_limit"), t[i].limit);
        CHECK_STR(text_of("memory.chunk_size"), t[i].chunk);
    }
}

// What lies behind a zero byte is not read, and that is told.
static void check_zero_byte(void)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/own/ninodes/ninodes.conf", top);
    put("own/ninodes", "mem_limit = 1G\n");
    CHECK(truncate(path, 40) == 0);
    nino_settings_read();
    CHECK_STR(text_of("mem_limit"), "1G");
    CHECK(strstr(nino_settings_problem(), ".conf:2: a zero byte; what follows it is not read"));
}

// The working folder's file counts more than the user's, that more than the system's, a variable more
// than all; the first folder that has a file of the system's decides.
static void check_order(void)
{
    static const struct {
        const char *home, *own, *dirs, *variable, *want; // NULL: not set
    } t[] = {
        { "/nowhere", "own", "one:two", NULL, "own" },
        { "home", NULL, "one:two", NULL, "home" },
        { "home", "", "one:two", NULL, "home" }, // an empty one is none
        { "/nowhere", NULL, "one:two", NULL, "one" },
        { NULL, NULL, "::two:one", NULL, "two" },
        { NULL, "relative", "relative:one", NULL, "one" },
        { NULL, NULL, "", NULL, NULL }, // /etc/xdg, which says nothing here
        { NULL, NULL, NULL, NULL, NULL },
        { "home", "own", "one", "2", "2" },
        { "home", "own", "one", "", "own" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const char *const names[] = { "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS" };
        const char *const values[] = { t[i].home, t[i].own, t[i].dirs };
        for (int k = 0; k < 3; k++) {
            char all[256] = "";
            size_t at = 0;
            unsetenv(names[k]);
            // words are folders below ours, but for those that begin with "/" or "r"
            for (const char *s = values[k]; s && *s; s += *s == ':') {
                const size_t n = strcspn(s, ":");
                const bool is_ours = n && *s != '/' && *s != 'r';
                at +=
                    (size_t) snprintf(all + at, sizeof(all) - at, "%s%s%.*s%s", is_ours ? top : "",
                                      is_ours ? "/" : "", (int) n, s, s[n] ? ":" : "");
                s += n;
            }
            if (values[k])
                CHECK(!setenv(names[k], all, 1));
        }
        unsetenv("NINODES_NOTIFY_AFTER");
        if (t[i].variable)
            CHECK(!setenv("NINODES_NOTIFY_AFTER", t[i].variable, 1));
        nino_settings_read();
        CHECK(!nino_settings_problem());
        static const char *const folders[] = { "own", "home", "one", "two" };
        const char *def = nino_setting_rows[nino_settings_find("notify_after")].def;
        const char *want = t[i].want ? t[i].want : def;
        for (int k = 0; t[i].want && k < 4; k++) {
            static const char *const seconds[] = { "11", "12", "13", "14" };
            want = strcmp(t[i].want, folders[k]) ? want : seconds[k];
        }
        CHECK_STR(text_of("notify_after"), want);
    }
}

static void check_variables(void)
{
    char *deep = malloc(5001);
    CHECK(deep);
    memset(deep, '/', 5000);
    deep[5000] = 0;
    CHECK(!setenv("XDG_CONFIG_HOME", deep, 1) && !setenv("XDG_CONFIG_DIRS", deep, 1));
    free(deep);
    CHECK(!setenv("NINODES_HELPERS", "many", 1) && !setenv("NINODES_NOTIFY_AFTER", "never", 1));
    nino_settings_read();
    CHECK_STR(nino_settings_problem(),
              "NINODES_HELPERS: helpers is a number from 0 to 1, not \"many\""); // the first
    CHECK_STR(text_of("helpers"), "1");
    CHECK(!unsetenv("NINODES_HELPERS") && !unsetenv("NINODES_NOTIFY_AFTER"));
    CHECK(!chdir(top));
    put(".", "cache_dir = /x\nmem_limit = 1G\n"); // somebody's folder
    nino_settings_read();
    CHECK(strstr(nino_settings_problem(), "ninodes.conf:1: only your own ninodes.conf may set"));
    CHECK_STR(text_of("mem_limit"), "1G");
}

int main(void)
{
    static const char *const folders[] = { "own/ninodes", "home/.config/ninodes", "one/ninodes",
                                           "two/ninodes" };
    char own[64], command[128];
    CHECK(mkdtemp(top));
    snprintf(own, sizeof(own), "%s/own", top);
    CHECK(!setenv("XDG_CONFIG_HOME", own, 1) && !setenv("XDG_CONFIG_DIRS", "/nowhere", 1));
    snprintf(command, sizeof(command),
             "cd %s && mkdir -p own/ninodes home/.config/ninodes one/ninodes two/ninodes", top);
    CHECK(!chdir("/") && !system(command));
    check_lines();
    check_zero_byte();
    for (int i = 0; i < 4; i++) {
        char text[32];
        snprintf(text, sizeof(text), "notify_after = %d\n", 11 + i);
        put(folders[i], text);
    }
    check_order();
    check_variables();
    snprintf(command, sizeof(command), "rm -rf %s", top);
    CHECK(system(command) == 0);
    return 0;
}
