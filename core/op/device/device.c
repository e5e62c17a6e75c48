// Devices by selector: OpenCL ones through the provider of cl/, and the reference backend.
#include "core/op/device/device.h"

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/vars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEVICES 32

static size_t list_cl(nino_device_info *out, size_t max)
{
    return nino_cl_provider ? nino_cl_provider->list(out, max) : 0;
}

static void describe_ref(nino_device_info *d)
{
    *d = (nino_device_info){ .selector = "ref",
                             .name = "reference (plain C, one thread)",
                             .vendor = "ninodes",
                             .profile = "ref",
                             .schedule = "ref",
                             .compute_units = 1,
                             .has_fp64 = 1 };
    snprintf(d->driver, sizeof(d->driver), "%s", nino_version());
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        d->mem_bytes = d->max_buffer = (uint64_t) pages * (uint64_t) size;
}

size_t nino_devices(nino_device_info *out, size_t max)
{
    const size_t n = list_cl(out, max);
    if (n < max)
        describe_ref(&out[n]);
    return n + 1;
}

// "2GiB", "512MiB", "1.5G", "1000000"; 0 when it is not such a text.
static uint64_t parse_bytes(const char *text)
{
    static const char *const units[] = { "", "K", "M", "G", "T" };
    char *end = NULL;
    double v = nino_strtod(text, &end);
    if (end == text || !(v > 0))
        return 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++, v *= 1024) {
        const size_t len = strlen(units[i]);
        if (!strncasecmp(end, units[i], len) &&
            (!end[len] || (len && (!strcasecmp(end + len, "iB") || !strcasecmp(end + len, "B")))))
            return v < 9e18 ? (uint64_t) v : 0;
    }
    return 0;
}

// Whether it may be chosen unasked: one that lacks what kernels need is passed over, one whose
// profile is wrong is not, so that whoever wrote it gets to know.
static bool is_eligible(const nino_device_info *d) { return !d->problem[0] || !d->profile[0]; }

// Index of the OpenCL device a selector names, or -1. rest: what follows "cl".
static int find_cl(const char *rest, const nino_device_info *d, size_t n)
{
    uint64_t index;
    if (*rest == ':' && nino_parse_u64(rest + 1, &index))
        return index < n ? (int) index : -1;
    for (size_t i = 0; i < n; i++)
        if (*rest == ':' && rest[1] && strcasestr(d[i].name, rest + 1))
            return (int) i;
    if (*rest)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (d[i].is_gpu && is_eligible(&d[i]))
            return (int) i;
    for (size_t i = 0; i < n; i++)
        if (is_eligible(&d[i]))
            return (int) i;
    return n ? 0 : -1;
}

static void *fail_unknown(const char *selector, const nino_device_info *d, size_t n,
                          nino_error *err)
{
    char known[256] = "ref";
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(known);
        snprintf(known + len, sizeof(known) - len, ", cl:%zu (%.60s)", i, d[i].name);
    }
    nino_fail(err, NINO_ERR_UNKNOWN, selector, "no such device; there are %s", known);
    return NULL;
}

size_t nino_device_objects(const nino_device_info *d, size_t *n_fit)
{
    uint64_t i;
    *n_fit = 0;
    return nino_cl_provider && !strncmp(d->selector, "cl:", 3) &&
                   nino_parse_u64(d->selector + 3, &i)
               ? nino_cl_provider->objects((size_t) i, n_fit)
               : 0;
}

static nino_backend *open_ref(uint64_t mem_limit, const nino_log *log, nino_error *err)
{
    nino_device_info info;
    const double share = nino_strtod(nino_vars_get()->memory_fraction, NULL);
    describe_ref(&info);
    if (!mem_limit && share < 1) // without it there is no limit
        mem_limit = (uint64_t) ((double) info.mem_bytes * share);
    nino_backend *be = nino_ref_open(mem_limit, log, err);
    if (be)
        be->info = info;
    return be;
}

static nino_backend *open_cl(size_t i, const nino_device_info *info, const nino_ctx_params *p,
                             const nino_log *log, nino_error *err)
{
    nino_backend *be = nino_cl_provider->open(i, p, log, err);
    if (be)
        be->info = *info;
    return be;
}

// The reference never stands in unasked: it would compute for hours what a device does in a minute.
static void *fail_none(nino_error *err)
{
    char cause[256];
    nino_buf lines = { 0 };
    nino_cl_provider->explain(cause, sizeof(cause), &lines);
    nino_buf_release(&lines);
    nino_fail_kind(err, NINO_ERR_DEVICE, "none", "", "no OpenCL device can be used: %s", cause);
    return NULL;
}

// Nobody has asked for the processor.
static void warn_of_missed(const nino_log *log)
{
    char cause[256];
    nino_buf lines = { 0 };
    nino_cl_provider->explain(cause, sizeof(cause), &lines);
    nino_buf_release(&lines);
    if (*cause)
        nino_logf(log, NINO_LOG_WARN, "no GPU is used: %s; ninodes devices says more", cause);
}

size_t nino_devices_explain(char *out, size_t size)
{
    char cause[256];
    nino_buf lines = { 0 };
    if (nino_cl_provider)
        nino_cl_provider->explain(cause, sizeof(cause), &lines);
    const size_t n = lines.len;
    if (size)
        snprintf(out, size, "%s", lines.data ? lines.data : "");
    nino_buf_release(&lines);
    return n;
}

bool nino_kernel_folder(int i, char *out, size_t size)
{
    return nino_cl_provider && nino_cl_provider->kernel_folder(i, out, size);
}

// All of the list, also what other helpers took.
static void read_all(nino_programs *all)
{
    nino_helper_task t;
    for (off_t at = 0; pread(STDIN_FILENO, &t, sizeof(t), at) == (ssize_t) sizeof(t);
         at += (off_t) sizeof(t))
        nino_programs_add(all, t.program.file, t.program.options);
}

// Programs that somebody waits for first, the next that no other helper has taken; then, with what time
// nobody else wants, the binaries of all, also when who asked for them is gone. One helper keeps them.
static void helper_work(nino_backend *be, nino_programs *all)
{
    nino_helper_task t;
    nino_error err;
    while (read(STDIN_FILENO, &t, sizeof(t)) == (ssize_t) sizeof(t)) {
        const bool is_urgent = !(t.index & NINO_HELPER_IDLE);
        // Whoever waits for one that does not compile finds out why by itself.
        if (is_urgent && (be->impl->compile(be, &t.program, &err), true) &&
            write(STDOUT_FILENO, &t.index, sizeof(t.index)) != (ssize_t) sizeof(t.index))
            return;
    }
    if (nice(19) < 0) // then at the same priority
        errno = 0;
    close(STDOUT_FILENO); // nobody waits for the rest
    read_all(all);
    bool ok = true;
    for (size_t i = 0; ok && i < all->n; i++)
        for (int k = 0; ok && k < 2; k++) // builds what is not there; then keeps it
            ok = !be->impl->compile(be, &all->list[i], &err);
}

bool nino_helper_main(int argc, char **argv, int *status)
{
    nino_error err = { .code = NINO_OK };
    nino_programs all = { .n = 0 };
    if (argc != 4 || strcmp(argv[1], NINO_HELPER_ARG) != 0)
        return false;
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .cache_dir = *argv[3] ? argv[3] : NULL };
    nino_backend *be = nino_device_open(argv[2], &p, NULL, &err);
    *status = !be || !be->impl->compile;
    if (!*status)
        helper_work(be, &all);
    nino_programs_release(&all);
    nino_backend_close(&be);
    return true;
}

nino_status nino_device_source(const char *schedule, const char *file, const char *options,
                               char **out, char **all_options, nino_error *err)
{
    if (!nino_cl_provider)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, file, "this library has no OpenCL kernels");
    return nino_cl_provider->source(schedule, file, options, out, all_options, err);
}

nino_backend *nino_device_program_lister(const nino_profile *p, const nino_device_info *like,
                                         nino_programs *out)
{
    return nino_cl_provider ? nino_cl_provider->list_programs(p, like, out) : NULL;
}

static nino_backend *open_selected(const char *selector, const nino_ctx_params *p,
                                   const nino_log *log, nino_error *err)
{
    if (!strcmp(selector, "ref") || (!*selector && !nino_cl_provider))
        return open_ref(p->mem_limit, log, err);
    nino_backend *be = NULL;
    nino_device_info *d = calloc(MAX_DEVICES, sizeof(*d));
    if (!d) {
        nino_fail(err, NINO_ERR_NOMEM, selector, "no memory to list devices");
        return NULL;
    }
    size_t n = list_cl(d, MAX_DEVICES);
    n = n < MAX_DEVICES ? n : MAX_DEVICES;
    const bool is_cl = !strncmp(selector, "cl", 2) && (!selector[2] || selector[2] == ':');
    const int i = is_cl || !*selector ? find_cl(*selector ? selector + 2 : "", d, n) : -1;
    if (i >= 0 && (*selector || is_eligible(&d[i]))) {
        be = open_cl((size_t) i, &d[i], p, log, err);
        if (be && !*selector && !d[i].is_gpu)
            warn_of_missed(log);
    } else if (!*selector) {
        fail_none(err);
    } else {
        fail_unknown(selector, d, n, err);
    }
    free(d);
    return be;
}

nino_backend *nino_device_open(const char *selector, const nino_ctx_params *params,
                               const nino_log *log, nino_error *err)
{
    const nino_vars *vars = nino_vars_get();
    nino_ctx_params p = params ? *params : (nino_ctx_params){ 0 };
    if (!p.mem_limit && *vars->mem_limit && !(p.mem_limit = parse_bytes(vars->mem_limit))) {
        nino_fail(err, NINO_ERR_RANGE, "NINODES_MEM_LIMIT", "\"%s\" is not a size such as 2GiB",
                  vars->mem_limit);
        return NULL;
    }
    nino_backend *be = open_selected(selector && *selector ? selector : vars->device, &p, log, err);
    if (be)
        be->mem_limit = p.mem_limit;
    return be;
}
