// The folder of the library's data, found from its own file, so that a build can be installed under
// any prefix. The way from the one to the other is of the Makefile.
#include "core/base/install.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NINO_DATA_FROM_LIB
#define NINO_DATA_FROM_LIB "../share"
#endif

static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static char install_dir[4096];

static void install_find(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    char self[4096] = "";
    // The name of the program itself is "", or what it was called by.
    if (!dladdr1((void *) (uintptr_t) nino_data_dir, &info, (void **) &map, RTLD_DL_LINKMAP))
        return;
    if (map && map->l_name && *map->l_name) {
        char *real = realpath(map->l_name, NULL);
        snprintf(self, sizeof(self), "%s", real ? real : "");
        free(real);
    } else {
        const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[n > 0 ? n : 0] = 0;
    }
    char *slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = 0;
    const int n =
        snprintf(install_dir, sizeof(install_dir), "%s/" NINO_DATA_FROM_LIB "/ninodes", self);
    if (n < 0 || (size_t) n >= sizeof(install_dir))
        install_dir[0] = 0;
}

const char *nino_data_dir(void)
{
    pthread_once(&install_once, install_find);
    return install_dir;
}
