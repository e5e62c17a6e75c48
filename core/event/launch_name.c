// How a kernel was launched, as text: what kernel events name once for all launches alike, so that
// the work size costs them no room.
#include "core/event/publish.h"
#include <ninodes/kernel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_told(const uint64_t size[3]) { return size[0] || size[1] || size[2]; }

const char *nino_work_text(char buf[NINO_WORK_TEXT], const uint64_t size[3])
{
    *buf = 0;
    if (is_told(size))
        snprintf(buf, NINO_WORK_TEXT, "%llux%llux%llu", (unsigned long long) size[0],
                 (unsigned long long) size[1], (unsigned long long) size[2]);
    return buf;
}

const char *nino_launch_write(char buf[NINO_LAUNCH_TEXT], const nino_launch *l)
{
    char global[NINO_WORK_TEXT], local[NINO_WORK_TEXT], bytes[32] = "";
    if (l->requested > 0 && l->requested < 1e18)
        snprintf(bytes, sizeof(bytes), "%.0f", l->requested);
    snprintf(buf, NINO_LAUNCH_TEXT, "%s/%s/%s", nino_work_text(global, l->global),
             nino_work_text(local, l->local), bytes);
    return buf;
}

// "64x1x1" up to the slash behind it; NULL: it is no size.
static const char *read_size(const char *p, uint64_t size[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*p < '0' || *p > '9')
            return NULL;
        size[i] = strtoull(p, &end, 10);
        if (*end != (i < 2 ? 'x' : '/'))
            return NULL;
        p = end + 1;
    }
    return p;
}

bool nino_launch_read(nino_launch *out, const char *text)
{
    nino_launch l = { .requested = 0 };
    *out = l;
    const char *p = read_size(text, l.global);
    if (p && *p == '/')
        p++;
    else if (p)
        p = read_size(p, l.local);
    if (!p || !is_told(l.global))
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        l.requested = l.requested * 10 + (*p - '0');
    if ((*p && *p != NINO_LAUNCH_MARK) || !isfinite(l.requested))
        return false;
    *out = l;
    return true;
}

// ---- program and call --------------------------------------------------------------------------

const char *nino_launch_write_told(char buf[NINO_LAUNCH_TOLD_TEXT], const nino_launch *l,
                                   const char *program, const char *call)
{
    static const char marks[] = { NINO_LAUNCH_MARK, '/', 0 }; // in a damaged trace
    nino_launch_write(buf, l);
    const size_t n = strlen(buf);
    program = strpbrk(program, marks) ? "" : program;
    call = strpbrk(call, marks) ? "" : call;
    if (*program || *call)
        snprintf(buf + n, NINO_LAUNCH_TOLD_TEXT - n, "%c%s%c%s", NINO_LAUNCH_MARK, program,
                 NINO_LAUNCH_MARK, call);
    return buf;
}

bool nino_kernel_told_read(nino_kernel_told *out, const char *launch)
{
    const char *program = strchr(launch, NINO_LAUNCH_MARK);
    const char *call = program ? strchr(program + 1, NINO_LAUNCH_MARK) : NULL;
    nino_kernel_told t = { .program = "" };
    *out = t;
    if (!call || call - program > NINO_KERNEL_PROGRAM || strlen(call) > NINO_KERNEL_CALL)
        return false;
    snprintf(t.program, sizeof(t.program), "%.*s", (int) (call - program - 1), program + 1);
    snprintf(t.call, sizeof(t.call), "%s", call + 1);
    *out = t;
    return *t.program || *t.call;
}
