// Settings set and written: which line of ninodes.conf changes and that all others stay, what is told
// from then on, and what is refused.
#include "core/base/file.h"
#include "tests/test.h"

#include <ninodes/config.h>
#include <sys/stat.h>

static char top[] = "/tmp/ninodes-config-XXXXXX";
static nino_error err;

static void put(const char *text)
{
    char dir[64];
    snprintf(dir, sizeof(dir), "%s/ninodes", top);
    CHECK_OK(nino_file_save(dir, "ninodes.conf", true, text, strlen(text), &err), err);
}

static const char *there(void)
{
    static char *text;
    char path[80];
    size_t len;
    free(text);
    text = NULL;
    snprintf(path, sizeof(path), "%s/ninodes/ninodes.conf", top);
    return nino_file_read(path, 1 << 20, false, &text, &len, NULL) ? "" : text;
}

// What becomes of a file, NULL: there is none, when a key is written; value NULL: taken away.
static void check_lines(void)
{
    static const struct {
        const char *before, *key, *value, *after;
    } rows[] = {
        { NULL, "mem_limit", "4G", "mem_limit = 4G\n" },
        { NULL, "memory.chunk_size", "2", "[memory]\nchunk_size = 2\n" },
        { "", "memory.chunk_size", NULL, "" },
        { "# a\n", "mem-limit", "1G", "# a\nmem_limit = 1G\n" },
        { "a", "mem_limit", "1G", "a\nmem_limit = 1G\n" },
        { "mem_limit = 2G # b\nc\n", "mem_limit", "1G", "mem_limit = 1G\nc\n" },
        { " \tMEM_LIMIT\t =2G\n", "mem_limit", "1G", "mem_limit = 1G\n" },
        { "mem_limits = 2G\n", "mem_limit", "1G", "mem_limits = 2G\nmem_limit = 1G\n" },
        { "mem_limit\n", "mem_limit", "1G", "mem_limit\nmem_limit = 1G\n" },
        { "mem_limit = 2G\nmem_limit = 3G\n", "mem_limit", "1G", "mem_limit = 1G\n" },
        { "x\nmem_limit = 2G\ny", "mem_limit", NULL, "x\ny\n" },
        { "[memory]\nmem_limit = 2G\n", "mem_limit", "1G",
          "mem_limit = 1G\n[memory]\nmem_limit = 2G\n" },
        { "cache_dir = /a\n", "cache_dir", "/b c", "cache_dir = \"/b c\"\n" },
        { "", "cache_dir", "/b#c", "cache_dir = \"/b#c\"\n" },
        { "", "cache_dir", "/b'c", "cache_dir = \"/b'c\"\n" },
        { "chunk_size = 1\n[memory]\na\n[other]\nb\n", "memory.chunk_size", "4",
          "chunk_size = 1\n[memory]\na\nchunk_size = 4\n[other]\nb\n" },
        { "  [Memory]\nchunk_size=1\n", "memory.chunk_size", "4", "  [Memory]\nchunk_size = 4\n" },
        { "[memory2]\nchunk_size=1\n", "memory.chunk_size", "4",
          "[memory2]\nchunk_size=1\n[memory]\nchunk_size = 4\n" },
        { "[mem]\n[memory", "memory.chunk_size", "4",
          "[mem]\n[memory\n[memory]\nchunk_size = 4\n" },
        { "[memory]\nchunk_size=1\n[memory]\nchunk_size=2\n", "memory.chunk_size", NULL,
          "[memory]\n[memory]\n" },
        // what is read in other words is the same key
        { "mem-limit = 2G\n", "mem_limit", "1G", "mem_limit = 1G\n" },
        { "memory.chunk_size = 1\n[memory]\n", "memory.chunk_size", "4",
          "memory.chunk_size = 4\n[memory]\n" },
        { "[ memory\t] # mine\r\nchunk-size = 1\r\n", "memory.chunk_size", "4",
          "[ memory\t] # mine\r\nchunk_size = 4\n" },
        { "[memory] x\nchunk_size = 1\n", "memory.chunk_size", "4",
          "[memory] x\nchunk_size = 1\n[memory]\nchunk_size = 4\n" },
        { "[]\nmem_limit = 1G\n", "mem_limit", "2G", "mem_limit = 2G\n[]\n" },
        { "# mem_limit = 1G\n", "mem_limit", "2G", "# mem_limit = 1G\nmem_limit = 2G\n" },
        { "Memory.Chunk-Size=1\n", "memory.chunk_size", NULL, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[80];
        snprintf(path, sizeof(path), "%s/ninodes/ninodes.conf", top);
        unlink(path);
        if (rows[i].before)
            put(rows[i].before);
        CHECK_OK(nino_config_write(rows[i].key, rows[i].value, &err), err);
        CHECK_STR(there(), rows[i].after);
    }
}

static void told(const char *key, const char *text, nino_config_source source)
{
    nino_config_value v;
    CHECK(nino_config_get(key, &v));
    CHECK_STR(v.text, text);
    CHECK(v.source == source);
}

static void check_told(void)
{
    put("# one\n# two\n");
    told("memory.chunk_size", "auto", NINO_CONFIG_DEFAULT);
    CHECK_OK(nino_config_write("memory.chunk_size", "8", &err), err);
    told("Memory.Chunk-Size", "8", NINO_CONFIG_FILE);
    nino_config_value v;
    CHECK(nino_config_get("memory.chunk_size", &v) && v.line == 4);
    CHECK(!strncmp(v.where, top, strlen(top)));
    CHECK_OK(nino_config_write("memory.chunk_size", NULL, &err), err);
    told("memory.chunk_size", "auto", NINO_CONFIG_DEFAULT);
    // what counts more stays
    told("precision.mode", "fp16", NINO_CONFIG_VARIABLE);
    CHECK_OK(nino_config_write("precision.mode", "fp32", &err), err);
    told("precision.mode", "fp16", NINO_CONFIG_VARIABLE);
    told("mem_limit", "3G", NINO_CONFIG_SET);
    CHECK_OK(nino_config_write("mem_limit", NULL, &err), err);
    told("mem_limit", "3G", NINO_CONFIG_SET);
    CHECK(!nino_config_get("mem_limits", &v));
}

static void refused(nino_status st, nino_status want, const char *says)
{
    if (st != want || !strstr(err.msg, says))
        fprintf(stderr, "%d %s\n", st, err.msg);
    CHECK(st == want && err.code == want && strstr(err.msg, says));
}

static void check_refused(void)
{
    char path[80], big[420], large[70000];
    snprintf(path, sizeof(path), "%s/ninodes/ninodes.conf", top);
    put("kept\n");
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    refused(nino_config_write("mem_limits", "1G", &err), NINO_ERR_UNKNOWN,
            "there is no such setting; did you mean mem_limit?");
    refused(nino_config_write("chunk_size", "1", &err), NINO_ERR_UNKNOWN, "memory.chunk_size?");
    refused(nino_config_write("quite_another", "1", &err), NINO_ERR_UNKNOWN,
            "there is no such setting");
    refused(nino_config_write("memory.chunk_size", "3", &err), NINO_ERR_RANGE,
            "memory.chunk_size is one of auto|1|2|4|8");
    // what lies behind a zero byte would be lost
    CHECK(truncate(path, 6) == 0);
    refused(nino_config_write("mem_limit", "1G", &err), NINO_ERR_FORMAT, "has a zero byte");
    put("kept\n");
    refused(nino_config_write("cache_dir", "a\nb", &err), NINO_ERR_RANGE, "cannot hold this text");
    refused(nino_config_write("cache_dir", "a\"b", &err), NINO_ERR_RANGE, "cannot hold this text");
    refused(nino_config_write("cache_dir", big, &err), NINO_ERR_RANGE, "cannot hold this text");
    refused(nino_config_set("mem_limit", "1G", "--mem-limit", &err), NINO_ERR_ARG,
            "settings have been used already");
    CHECK(nino_config_set("mem_limits", "1G", "--mem-limit", NULL) == NINO_ERR_UNKNOWN);
    CHECK_STR(there(), "kept\n");
    // one that cannot be read stays as it is
    memset(large, '#', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    put(large);
    CHECK(nino_config_write("mem_limit", "1G", &err) != NINO_OK && err.msg[0]);
    CHECK_STR(there(), large);
    unlink(path);
    CHECK(!mkdir(path, 0700));
    CHECK(nino_config_write("mem_limit", "1G", &err) != NINO_OK && err.msg[0]);
    CHECK(!rmdir(path));
    CHECK(!setenv("XDG_CONFIG_HOME", "relative", 1));
    refused(nino_config_write("mem_limit", "1G", &err), NINO_ERR_IO, "there is no home folder");
    CHECK(!unsetenv("XDG_CONFIG_HOME") && !unsetenv("HOME"));
    refused(nino_config_write("mem_limit", "1G", &err), NINO_ERR_IO, "there is no home folder");
    CHECK(!setenv("HOME", top, 1));
    CHECK_OK(nino_config_write("mem_limit", "1G", &err), err);
    snprintf(path, sizeof(path), "%s/.config/ninodes/ninodes.conf", top);
    CHECK(!access(path, F_OK));
}

static void check_nearest(void)
{
    static const char *const words[] = { "mem_limit", "cache_dir", "memory.chunk_size", "a" };
    static const char *const rows[][2] = {
        { "mem_limit", "mem_limit" },
        { "memlimit", "mem_limit" },
        { "cach_dri", "cache_dir" },
        { "ca", "cache_dir" },
        { "c", "a" },
        { "chunk_size", "memory.chunk_size" },
        { "x.chunk_siz", "memory.chunk_size" },
        { "other", NULL },
        { "a_word_that_is_longer_than_all_that_are_compared_here", NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *got = nino_nearest(rows[i][0], words, 4);
        CHECK(got == rows[i][1] || (got && rows[i][1] && !strcmp(got, rows[i][1])));
    }
}

int main(void)
{
    CHECK(mkdtemp(top) && !setenv("XDG_CONFIG_HOME", top, 1));
    CHECK(!setenv("XDG_CONFIG_DIRS", "/nowhere:relative", 1) && !chdir(top));
    CHECK(!setenv("NINODES_PRECISION", "fp16", 1));
    CHECK_OK(nino_config_set("mem_limit", "3G", "--mem-limit", &err), err);
    check_lines();
    check_told();
    check_refused();
    check_nearest();
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    CHECK(system(command) == 0);
    return 0;
}
