// Why a device is not there, in words: the loader, its drivers, their platforms and devices, the
// files of the GPU's kernel driver, and what to do about each.
#include "cl/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The first cause counts; lines get all of them.
typedef struct explanation {
    char *cause;
    size_t size;
    nino_buf *lines;
} explanation;

__attribute__((format(printf, 2, 3))) static void because(explanation *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!x->cause[0])
        vsnprintf(x->cause, x->size, fmt, ap);
    va_end(ap);
}

// The library that an .icd file names: its first line.
static void read_icd(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    out[0] = 0;
    if (f && fgets(out, (int) size, f))
        out[strcspn(out, "\r\n")] = 0;
    if (f)
        fclose(f);
}

// What the loader has seen of one driver. It has loaded the library before, or tried to.
static bool explain_driver(explanation *x, const char *path)
{
    char library[512];
    read_icd(path, library, sizeof(library));
    // It stays: a second copy of PoCL, whose LLVM another driver has kept, would end the process.
    void *lib = *library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    nino_buf_addf(x->lines, "driver %s: ", path);
    if (lib)
        nino_buf_addf(x->lines, "%s\n", library);
    else if (*library)
        nino_buf_addf(x->lines, "cannot be loaded: %s\n", dlerror());
    else
        nino_buf_adds(x->lines, "names no library\n");
    return lib && !dlclose(lib);
}

// As ocl-icd searches: one file, or a folder of them. How many can be loaded.
static int explain_drivers(explanation *x)
{
    const char *place = getenv("OCL_ICD_VENDORS");
    char pattern[1024];
    glob_t g = { 0 };
    int n_loaded = 0;
    place = place && *place ? place : "/etc/OpenCL/vendors";
    const size_t len = strlen(place);
    const bool is_file = len > 4 && !strcmp(place + len - 4, ".icd");
    snprintf(pattern, sizeof(pattern), is_file ? "%s" : "%s/*.icd", place);
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc; i++)
            n_loaded += explain_driver(x, g.gl_pathv[i]);
    if (!g.gl_pathc) {
        nino_buf_addf(x->lines, "no OpenCL driver: there is no %s\n", pattern);
        because(x, "no driver is installed, there is no %s", pattern);
    } else if (!n_loaded) {
        because(x, "no driver in %s can be loaded", place);
    }
    globfree(&g);
    return n_loaded;
}

bool nino_cl_is_locked(const char *path)
{
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) && errno == EACCES;
}

// The files through which drivers reach a GPU. True: one is there and not for us.
static bool explain_files(explanation *x)
{
    static const char *const patterns[] = { "/dev/kfd", "/dev/dri/renderD*" };
    bool is_locked = false;
    for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++) {
        glob_t g = { 0 };
        if (glob(patterns[k], 0, NULL, &g) == 0)
            for (size_t i = 0; i < g.gl_pathc; i++)
                if (nino_cl_is_locked(g.gl_pathv[i])) {
                    is_locked = true;
                    because(x, "you may not open %s", g.gl_pathv[i]);
                    nino_buf_addf(x->lines, "GPU: you may not open %s\n", g.gl_pathv[i]);
                }
        globfree(&g);
    }
    return is_locked;
}

static void explain_devices(explanation *x, const nino_cl_device *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].info.problem[0]) {
            because(x, "%s: %s", list[i].info.name, list[i].info.problem);
            nino_buf_addf(x->lines, "%s %s: cannot be used: %s\n", list[i].info.selector,
                          list[i].info.name, list[i].info.problem);
        }
}

static void say_what_to_do(explanation *x, bool has_any, int n_drivers, bool is_locked)
{
    if (is_locked)
        nino_buf_adds(x->lines, "to do: sudo usermod -aG render,video $USER, and log in again: the "
                                "GPU's files belong to these groups\n");
    if (!has_any)
        nino_buf_addf(
            x->lines,
            "to do: install a%s driver: ROCm's OpenCL runtime for AMD GPUs "
            "(rocm-opencl-runtime of AMD's packages), pocl-opencl-icd for this processor\n"
            "to do: or take the reference, --device ref: it needs no driver, computes on "
            "one thread and is slow\n",
            n_drivers ? "nother" : "");
}

void nino_cl_explain(char *cause, size_t size, nino_buf *lines)
{
    const nino_cl_device *list;
    const size_t n = nino_cl_devices(&list);
    bool has_gpu = false, has_any = false;
    explanation x = { cause, size, lines };
    cause[0] = 0;
    for (size_t i = 0; i < n; i++) {
        has_any = has_any || !list[i].info.problem[0];
        has_gpu = has_gpu || (list[i].info.is_gpu && !list[i].info.problem[0]);
    }
    if (has_gpu)
        return;
    const bool is_locked = explain_files(&x);
    int n_drivers = 0;
    const char *failed = nino_cl_enumeration_problem();
    if (*failed) {
        because(&x, "%.*s", (int) strcspn(failed, "\n"), failed);
        nino_buf_adds(lines, failed);
    }
    explain_devices(&x, list, n);
    if (!has_any && !nino_ocl_load()) {
        because(&x, "its loader, libOpenCL.so.1, cannot be loaded");
        nino_buf_adds(lines, "no OpenCL loader: libOpenCL.so.1 cannot be loaded\n"
                             "to do: install the loader, ocl-icd-libopencl1 on Debian\n");
    } else if (!has_any) {
        n_drivers = explain_drivers(&x);
        because(&x, "its drivers have no device here");
    }
    if (cause[0])
        say_what_to_do(&x, has_any, n_drivers, is_locked);
}
