// As seen from the program itself, which may have been moved with its install.
#include "base/places.h"

#include <unistd.h>

#ifndef NINO_DATA_FROM_BIN
#define NINO_DATA_FROM_BIN "../share"
#endif

static char *program_folder(void)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    return g_path_get_dirname(self);
}

char *nino_place(const char *folder, const char *name)
{
    g_autofree char *dir = program_folder();
    char *installed = g_build_filename(dir, NINO_DATA_FROM_BIN, "ninodes", folder, name, NULL);
    if (g_file_test(installed, G_FILE_TEST_EXISTS))
        return installed;
    g_free(installed);
    // Not installed: below the project, the tests' programs some folders deeper.
    static const char *const ups[] = { "..", "../../../.." };
    for (gsize i = 0; i < G_N_ELEMENTS(ups); i++) {
        g_autofree char *built = g_build_filename(dir, ups[i], "data", folder, name, NULL);
        if (g_file_test(built, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&built);
    }
    return NULL;
}

char *nino_place_of_catalogues(void)
{
    g_autofree char *dir = program_folder();
    g_autofree char *beside = g_build_filename(dir, "locale", NULL);
    if (g_file_test(beside, G_FILE_TEST_IS_DIR))
        return g_steal_pointer(&beside);
    return g_build_filename(dir, NINO_DATA_FROM_BIN, "locale", NULL);
}

char *nino_place_of_command(void)
{
    g_autofree char *dir = program_folder();
    g_autofree char *beside = g_build_filename(dir, "ninodes", NULL);
    if (g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer(&beside);
    return g_find_program_in_path("ninodes");
}
