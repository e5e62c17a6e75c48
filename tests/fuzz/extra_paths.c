// extra_model_paths.yaml: every folder that is told has a kind and a path; what is refused names
// line and column.
#include "core/file/extra_paths.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "comfyui:",
                                   "\n    base_path: ",
                                   "\n    is_default: true",
                                   "\n    checkpoints: ",
                                   "\n    vae: |\n        ",
                                   "\n        ",
                                   "- ",
                                   "[a, b]",
                                   "{a: b}",
                                   "&x ",
                                   "*x",
                                   "<<: *x",
                                   "!!str ",
                                   "---\n",
                                   "...\n",
                                   "%YAML 1.1\n",
                                   "? ",
                                   "~/m",
                                   "$HOME/m",
                                   "${HOME}",
                                   "../",
                                   "\"\\u0000\"",
                                   "# ",
                                   "\t",
                                   "\xef\xbb\xbf",
                                   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "comfyui:\n    base_path: ~/c/$HOME\n    is_default: true\n    checkpoints: models/c\n"
        "    vae: |\n        models/vae\n        /abs/vae\n    loras: [a, b]\n",
        "a: &x\n    base_path: /m\n    clip: c\nb:\n    <<: *x\n    unet: \"d\\te\"\n---\nc: 1\n",
        "{a: {base_path: x, vae: [y, {z: 1}]}, b: null, c: [1]}",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static bool tell(void *priv, const char *kind, const char *dir, bool is_default)
{
    int *n = priv;
    CHECK(kind && dir && dir[0]);
    TELL("%s %s %d\n", kind, dir, is_default);
    return ++*n < 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error err = { 0 };
    int n = 0;
    if (nino_extra_paths_read("/base", (const char *) data, size, "e.yaml", tell, &n, &err)) {
        CHECK(err.code && err.msg[0] && !strchr(err.msg, '\n'));
        tell_error(&err);
    }
    return 0;
}
