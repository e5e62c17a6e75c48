// ninodes.conf, the user's and the working folder's: what is set is one of the known names, a
// working folder sets no more than it may, a complaint is one line that names file and line.
#include "core/base/settings.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"

#include <ninodes/base.h>
#include <sys/stat.h>

const size_t fuzz_max_len = 1024;

const char *const fuzz_words[] = { "device", "models", "mem_limit", "helpers",    "debug",
                                   "state",  "=",      " = ",       "#",          "\n",
                                   "\r\n",   "\t",     "cpu",       "8G",         "NINODES_",
                                   "\"",     "\xff",   "[memory]",  "chunk_size", "auto",
                                   ".",      "]",      "[",         NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "# mine\ndevice = cpu\nmem_limit = 8G\n",
        "models = /m:/n\n\nhelpers=0\nno_such = 1\nnot a setting",
        "DEVICE=ref\r\n = \r\ndevice =\r\n",
        "[memory]\nchunk_size = 4\n[rocm] # mine\nmemory_fraction = \"0.5\"\nprecision.mode = x\n",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_set;
    const size_t half = size / 2;
    if (!is_set) {
        char dir[160];
        snprintf(dir, sizeof(dir), "%s/ninodes", fuzz_folder());
        CHECK(!mkdir(dir, 0700) && !chdir(fuzz_folder()));
        CHECK(!setenv("XDG_CONFIG_HOME", fuzz_folder(), 1));
        CHECK(!setenv("XDG_CONFIG_DIRS", fuzz_folder(), 1));
        is_set = true;
    }
    fuzz_file("ninodes.conf", data, half);
    fuzz_file("ninodes/ninodes.conf", data + half, size - half);
    nino_settings_read();
    const char *problem = nino_settings_problem();
    CHECK(!problem || !strchr(problem, '\n'));
    CHECK(!problem || strstr(problem, "ninodes.conf:"));
    CHECK(nino_settings_find("no_such") < 0);
    return 0;
}
