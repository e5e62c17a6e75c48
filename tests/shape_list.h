// Lists of the tensors of real models: lines "name  [dims]   N=0..23", N a number in the name.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

typedef void shape_fn(void *priv, const char *name, int rank, const int64_t *dim);

// "0..23" or "1,4,7"; NULL: every number.
static inline bool shape_in_range(const char *range, int n)
{
    int a, b;
    if (!range)
        return true;
    if (sscanf(range, "%d..%d", &a, &b) == 2)
        return n >= a && n <= b;
    for (const char *p = range; *p; p++)
        if (*p >= '0' && *p <= '9') {
            if (atoi(p) == n)
                return true;
            while (p[1] >= '0' && p[1] <= '9')
                p++;
        }
    return false;
}

static inline void shape_line(const char *line, shape_fn *fn, void *priv)
{
    char name[160], dims[80], full[192];
    int64_t dim[8];
    int rank = 0;
    if (line[0] == '#' || sscanf(line, "%159s [%79[^]]]", name, dims) != 2)
        return;
    for (char *p = dims; *p && rank < 8; p += strspn(p, ", "))
        dim[rank++] = strtoll(p, &p, 10);
    const char *range = strstr(line, " N="), *at = strstr(name, ".N.");
    for (int n = 0; n < (at ? 64 : 1); n++) {
        if (at && !shape_in_range(range ? range + 3 : NULL, n))
            continue;
        if (at)
            snprintf(full, sizeof(full), "%.*s.%d.%s", (int) (at - name), name, n, at + 3);
        else
            snprintf(full, sizeof(full), "%s", name);
        fn(priv, full, rank, dim);
    }
}

// False: there is no such list.
static inline bool shape_list_each(const char *path, shape_fn *fn, void *priv)
{
    char line[512];
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    while (fgets(line, sizeof(line), f))
        shape_line(line, fn, priv);
    fclose(f);
    return true;
}
