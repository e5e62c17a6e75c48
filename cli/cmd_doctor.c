// ninodes doctor: looks at all that a run needs on this machine, and says what to do next.
#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <ninodes/worker.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef enum verdict { GOOD, NOTE, BAD } verdict;

typedef struct checkup {
    const options *o;
    size_t n_notes, n_bad;
    exit_code rc; // of the first thing that is bad
} checkup;

__attribute__((format(printf, 6, 7))) static void
tell(checkup *c, const char *name, verdict v, exit_code rc, const char *hint, const char *fmt, ...)
{
    static const char *const words[] = { "ok", "note", "bad" };
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    c->n_notes += v == NOTE;
    c->n_bad += v == BAD;
    if (v == BAD && c->rc == EXIT_OK)
        c->rc = rc;
    if (c->o->json) {
        js_open(NULL, '{');
        js_text("name", name);
        js_text("state", words[v]);
        js_text("text", text);
        js_text("hint", v == GOOD ? NULL : hint);
        js_close('}');
        return;
    }
    printf("%-4s  %-9s %s\n", words[v], name, text);
    if (v != GOOD && hint)
        printf("%-4s  %-9s -> %s\n", "", "", hint);
}

// ---- devices -----------------------------------------------------------------------------------

static void check_icd(checkup *c)
{
    const char *given = getenv("OCL_ICD_VENDORS"), *dir = given ? given : "/etc/OpenCL/vendors";
    char list[400] = "";
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".icd") != 0)
            continue;
        const size_t at = strlen(list);
        snprintf(list + at, sizeof(list) - at, "%s%s", n++ ? ", " : "", e->d_name);
    }
    if (d)
        closedir(d);
    if (n || (given && !d))
        tell(c, "drivers", GOOD, EXIT_OK, NULL, "%s in %s", n ? list : "named", dir);
    else
        tell(c, "drivers", BAD, EXIT_DEVICE,
             "install an OpenCL driver: pocl-opencl-icd for CPUs, rocm-opencl-runtime or "
             "mesa-opencl-icd for AMD GPUs",
             "no OpenCL driver is registered in %s", dir);
}

// Of AMD's driver, which takes programs that were compiled before.
static void check_objects(checkup *c, const nino_device_info *d)
{
    size_t fit = 0;
    const size_t n = nino_device_objects(d, &fit);
    if (n)
        tell(c, "compiled", fit == n ? GOOD : NOTE, EXIT_OK,
             "make code-objects and make install of this version",
             "%zu of %zu compiled programs for %s fit this version", fit, n, d->name);
    else if (!strncmp(d->name, "gfx", 3))
        tell(c, "compiled", NOTE, EXIT_OK, "make code-objects before make install",
             "no compiled programs for %s: each is compiled at its first use", d->name);
}

static void check_devices(checkup *c)
{
    nino_device_info list[16];
    const size_t all = nino_devices(list, 16), n = all < 16 ? all : 16;
    size_t usable = 0;
    for (size_t i = 0; i < n; i++) {
        const nino_device_info *d = &list[i];
        char bytes[32];
        if (!strcmp(d->selector, "ref"))
            continue;
        usable += !*d->problem;
        human_bytes(bytes, sizeof(bytes), (double) d->mem_bytes);
        tell(c, "device", *d->problem ? NOTE : GOOD, EXIT_OK, "ninodes devices says more",
             "%s %s, %s, driver %s%s%s", d->selector, d->name, bytes, d->driver,
             *d->problem ? ": " : "", d->problem);
        if (!*d->problem)
            check_objects(c, d);
    }
    char why[4096] = "";
    const size_t explained = nino_devices_explain(why, sizeof(why));
    for (char *line = why, *end; explained && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        tell(c, "device", usable ? NOTE : BAD, EXIT_DEVICE, NULL, "%s", line);
    }
    if (!usable && !explained)
        tell(c, "device", BAD, EXIT_DEVICE, "--device ref computes without, slowly",
             "there is no OpenCL device that can be used");
}

static bool can_open(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

// A GPU whose files may not be opened is not there for its driver.
static void check_groups(checkup *c)
{
    char path[300];
    size_t n = 0, closed = 0;
    DIR *d = opendir("/dev/dri");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, "renderD", 7) != 0)
            continue;
        snprintf(path, sizeof(path), "/dev/dri/%s", e->d_name);
        n++;
        closed += !can_open(path);
    }
    if (d)
        closedir(d);
    const bool has_kfd = !access("/dev/kfd", F_OK);
    if (has_kfd && !can_open("/dev/kfd"))
        closed++;
    n += has_kfd;
    if (!n)
        tell(c, "access", GOOD, EXIT_OK, NULL, "no GPU's files: nothing to be let at");
    else if (closed)
        tell(c, "access", BAD, EXIT_DEVICE, "sudo usermod -aG render,video $USER, then log in anew",
             "%zu of %zu files of GPUs may not be opened", closed, n);
    else
        tell(c, "access", GOOD, EXIT_OK, NULL, "all %zu files of GPUs may be opened", n);
}

static uint64_t read_number(const char *path)
{
    unsigned long long v = 0;
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%llu", &v) != 1)
        v = 0;
    if (f)
        fclose(f);
    return v;
}

// What of the memory a GPU without its own can take.
static void check_gtt(checkup *c)
{
    const uint64_t ram = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
    for (int i = 0; i < 8; i++) {
        char path[96], vram[32], gtt[32], all[32];
        snprintf(path, sizeof(path), "/sys/class/drm/card%d/device/mem_info_gtt_total", i);
        const uint64_t g = read_number(path);
        if (!g)
            continue;
        snprintf(path, sizeof(path), "/sys/class/drm/card%d/device/mem_info_vram_total", i);
        const uint64_t v = read_number(path);
        human_bytes(vram, sizeof(vram), (double) v);
        human_bytes(gtt, sizeof(gtt), (double) g);
        human_bytes(all, sizeof(all), (double) ram);
        const bool is_shared = v < ram / 4; // an APU: most of its memory is the system's
        tell(c, "GTT", is_shared && g < ram * 6 / 10 ? NOTE : GOOD, EXIT_OK,
             "the kernel's parameters ttm.pages_limit and amdgpu.gttsize raise it",
             "card%d: %s of its own, %s of the system's %s", i, vram, gtt, all);
    }
}

// ---- room and models ---------------------------------------------------------------------------

static void check_disk(checkup *c, const char *name, const char *path, uint64_t least)
{
    struct statvfs v;
    char up[4096], free_text[32], least_text[32];
    snprintf(up, sizeof(up), "%s%s", *path == '/' ? "" : "./", path);
    for (char *slash; statvfs(up, &v) && (slash = strrchr(up, '/'));) // the nearest that is there
        slash[slash == up] = 0;
    if (statvfs(up, &v)) {
        tell(c, name, NOTE, EXIT_OK, NULL, "%s: %s", path, strerror(errno));
        return;
    }
    const double bytes = (double) v.f_bavail * (double) v.f_frsize;
    human_bytes(free_text, sizeof(free_text), bytes);
    human_bytes(least_text, sizeof(least_text), (double) least);
    nino_error e = { .code = NINO_OK };
    char file[4200];
    snprintf(file, sizeof(file), "%s/.ninodes-doctor", path);
    if (nino_place_check(file, &e))
        tell(c, name, BAD, EXIT_RUN, NULL, "%s: %s", path, e.msg);
    else
        tell(c, name, bytes < (double) least ? NOTE : GOOD, EXIT_OK,
             "make room: what does not fit is not written", "%s: %s free%s%s", path, free_text,
             bytes < (double) least ? ", less than " : "",
             bytes < (double) least ? least_text : "");
}

static struct {
    size_t n;
    uint64_t bytes;
} found;

static int count_file(const char *path, const struct stat *sb, int flag, struct FTW *ftw)
{
    static const char *const endings[] = {
        ".safetensors", ".gguf", ".ckpt", ".pt", ".pth", ".bin"
    };
    const char *dot = strrchr(path + ftw->base, '.');
    for (size_t i = 0; flag == FTW_F && dot && i < sizeof(endings) / sizeof(endings[0]); i++)
        if (!strcmp(dot, endings[i])) {
            found.n++;
            found.bytes += (uint64_t) sb->st_size;
        }
    return 0;
}

static void count_folder(checkup *c, const char *dir, size_t *total)
{
    char bytes[32];
    if (!*dir || access(dir, R_OK | X_OK)) {
        if (*dir)
            tell(c, "models", NOTE, EXIT_OK, NULL, "%s: %s", dir, strerror(errno));
        return;
    }
    found.n = 0;
    found.bytes = 0;
    nftw(dir, count_file, 32, 0);
    *total += found.n;
    human_bytes(bytes, sizeof(bytes), (double) found.bytes);
    tell(c, "models", found.n ? GOOD : NOTE, EXIT_OK, "no model lies there", "%s: %zu files, %s",
         dir, found.n, bytes);
}

static void check_models(checkup *c)
{
    size_t total = 0;
    char list[4096];
    const char *env = getenv("NINODES_MODELS");
    for (size_t i = 0; i < c->o->models.n; i++)
        count_folder(c, c->o->models.item[i], &total);
    if (!c->o->models.n) {
        snprintf(list, sizeof(list), "%s", env && *env ? env : "models");
        for (char *p = list, *next; p; p = next) {
            next = strchr(p, ':');
            if (next)
                *next++ = 0;
            count_folder(c, p, &total);
        }
    }
    if (total)
        return;
    const char *home = getenv("HOME");
    snprintf(list, sizeof(list), "%s/ComfyUI/models", home ? home : "");
    const bool has_comfy = home && !access(list, R_OK | X_OK);
    tell(c, "models", BAD, EXIT_MISSING,
         has_comfy
             ? "export NINODES_MODELS=~/ComfyUI/models, or a line models = ... in ninodes.conf"
             : "--models DIR or NINODES_MODELS says where they are; ninodes demo needs none",
         "no model was found%s", has_comfy ? ", but there is ~/ComfyUI/models" : "");
}

static void folder_of(char *out, size_t size, const char *variable, const char *under)
{
    const char *xdg = getenv(variable), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        snprintf(out, size, "%s/ninodes", xdg);
    else
        snprintf(out, size, "%s/%s/ninodes", home ? home : "", under);
}

static void check_places(checkup *c)
{
    char dir[4096];
    const char *cache = getenv("NINODES_CACHE_DIR");
    folder_of(dir, sizeof(dir), "XDG_CACHE_HOME", ".cache");
    check_disk(c, "kernels", cache && *cache ? cache : dir, (uint64_t) 512 << 20);
    folder_of(dir, sizeof(dir), "XDG_STATE_HOME", ".local/state");
    check_disk(c, "state", dir, (uint64_t) 1 << 30);
    check_disk(c, "output", c->o->output ? c->o->output : "output", (uint64_t) 1 << 30);
}

static void check_process(checkup *c)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    const int pid = nino_worker_find(NULL);
    if (!run || access(run, W_OK))
        tell(c, "sockets", NOTE, EXIT_OK,
             "log in by systemd, or set it to a folder of yours (0700)",
             "XDG_RUNTIME_DIR is %s: nobody can watch runs", run ? "not to be written" : "not set");
    else
        tell(c, "sockets", GOOD, EXIT_OK, NULL, "%s", run);
    if (pid)
        tell(c, "worker", GOOD, EXIT_OK, NULL, "process %d takes jobs (ninodes jobs)", pid);
    if (nino_settings_problem())
        tell(c, "settings", BAD, EXIT_RUN, NULL, "%s", nino_settings_problem());
}

int cmd_doctor(const options *o)
{
    checkup c = { .o = o, .rc = EXIT_OK };
    if (o->json) {
        js_envelope("doctor");
        js_text("version", nino_version());
        js_open("checks", '[');
    } else {
        printf("ninodes %s\n", nino_version());
    }
    check_icd(&c);
    check_devices(&c);
    check_groups(&c);
    check_gtt(&c);
    check_models(&c);
    check_places(&c);
    check_process(&c);
    if (o->json) {
        js_close(']');
        js_uint("notes", c.n_notes);
        js_uint("bad", c.n_bad);
        js_envelope_end();
    } else if (c.n_bad) {
        printf("\n%zu of these must be set right first.\n", c.n_bad);
    } else {
        printf("\nAll is there. Next: ninodes demo, or ninodes run WORKFLOW.\n");
    }
    return c.rc;
}
