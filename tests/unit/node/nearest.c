// Suggestions for misspelt class names.
#include "tests/test.h"
#include <ninodes/node.h>

int main(void)
{
    static const char *const table[][2] = {
        { "VAEDecod", "VAEDecode" },
        { "vaedecode", "VAEDecode" },
        { "VAEDeocde", "VAEDecode" },
        { "LoadImgae", "LoadImage" },
        { "ChekpointLoaderSimple", "CheckpointLoaderSimple" },
        { "ROCMOptimizedVAEDecodeV2Phase4", "ROCMOptimizedVAEDecodeV2Phase2" },
        { "KSamplerAdvancd", "KSamplerAdvanced" }, // known, though not supported
        { "SaveImages", "SaveImage" },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        CHECK_STR(nino_node_nearest(table[i][0]), table[i][1]);
    CHECK(!nino_node_nearest(""));
    CHECK(!nino_node_nearest("SomethingElseEntirely"));
    CHECK(!nino_node_nearest("x"));
    char longest[4096];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    CHECK(!nino_node_nearest(longest));
    return 0;
}
