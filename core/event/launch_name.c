// How a kernel was launched, as text: what kernel events name once for all launches alike, so that
// the work size costs them no room.
#include <ninodes/monitor.h>

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
    if (*p || !isfinite(l.requested))
        return false;
    *out = l;
    return true;
}
