// ninodes run --shard and ninodes gather: what of a run falls to this process.
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#define PARTS "parts" // below the current folder

static bool shard_read(const char *text, int *index, int *n)
{
    int end = 0;
    return sscanf(text, "%d/%d%n", index, n, &end) == 2 && !text[end] && *index >= 1 &&
           *index <= *n && *n <= 4096;
}

static bool shard_refuse(const options *o, const char *text, const char *hint)
{
    if (o->json)
        js_envelope_error("run", nino_status_name(NINO_ERR_ARG), text, "--shard", hint);
    say("run: %s", text);
    return false;
}

bool shard_check(const options *o)
{
    int index = 0, n = 0;
    if (o->shard && !shard_read(o->shard, &index, &n))
        return shard_refuse(o, "--shard is I/N, part I of N, such as 1/4; N is 4096 at most", NULL);
    if (o->parts && !o->shard && !o->joins)
        return shard_refuse(o, "--parts is for --shard I/N", NULL);
    if (o->shard && (o->watch || o->advise || o->dry_run))
        return shard_refuse(o, "--watch, --advise and --dry-run are of a whole run, not of a part",
                            NULL);
    return true;
}

bool shard_options(const options *o, size_t cell, size_t n_cells, nino_job_options *jo, char *dir,
                   size_t size)
{
    int index = 0, n = 0;
    if (!o->shard && !o->joins)
        return true;
    if (o->shard && !shard_read(o->shard, &index, &n))
        return false;
    // Whole cells where there are enough for all; else every cell is shared out.
    if (o->shard && n_cells >= (size_t) n) {
        if (cell % (size_t) n != (size_t) index - 1)
            return false;
        index = n = 1;
    }
    if (n_cells)
        snprintf(dir, size, "%s/cell-%zu", o->parts ? o->parts : PARTS, cell + 1);
    else
        snprintf(dir, size, "%s", o->parts ? o->parts : PARTS);
    jo->parts_dir = dir;
    jo->shard = index;
    jo->n_shards = n;
    return true;
}

int cmd_gather(const options *o)
{
    options own = *o;
    own.joins = true;
    return cmd_run(&own);
}
