// What the plan of a job uses at most, in a history: the last job's, kept in every form that is read, and not the next job's.
#include "tests/test.h"
#include <ninodes/history.h>

#include <unistd.h>

static const char *no_name(void *priv, uint32_t id)
{
    (void) priv, (void) id;
    return "";
}

static void add(nino_history *h, nino_event ev) { nino_history_add(h, &ev, 1, no_name, NULL); }

static nino_event memory(uint64_t t, nino_mem_op op, uint64_t bytes)
{
    return (nino_event){
        .t_ns = t, .kind = NINO_EV_MEM, .sub = (uint8_t) op, .u.mem = { .bytes = bytes }
    };
}

static nino_event job(uint64_t t, nino_event_kind kind, uint32_t id)
{
    return (nino_event){ .kind = (uint8_t) kind, .t_ns = t, .id = id, .track = 1 };
}

enum { PLANNED = 3 << 20 };

// The file has it at the same distance from the begin.
static void check_saved(const nino_history *h, const char *ending)
{
    nino_error e;
    uint64_t since;
    char path[64];
    snprintf(path, sizeof(path), "/tmp/nino-planned-XXXXXX%s", ending);
    const int fd = mkstemps(path, (int) strlen(ending));
    nino_history *again = nino_history_create(0);
    CHECK(fd >= 0 && !close(fd) && again);
    CHECK_OK(nino_history_save(h, path, &e), e);
    CHECK_OK(nino_history_load(again, path, &e), e);
    CHECK(nino_history_planned(again, &since) == PLANNED);
    CHECK(since - nino_history_begin(again) == 1000);
    CHECK(!unlink(path));
    nino_history_destroy(&again);
}

int main(void)
{
    nino_history *h = nino_history_create(0);
    uint64_t since = 7;
    CHECK(h && nino_history_planned(h, &since) == 0 && since == 7);
    add(h, job(5000, NINO_EV_JOB, 1));
    add(h, memory(6000, NINO_MEM_PLANNED, PLANNED));
    add(h, memory(7000, NINO_MEM_ALLOC, 8192));
    CHECK(nino_history_planned(h, &since) == PLANNED && since == 6000);
    CHECK(nino_history_planned(h, NULL) == PLANNED);
    check_saved(h, ".ninotrace");
    check_saved(h, ".json");
    check_saved(h, ".json.gz");
    add(h, job(8000, NINO_EV_END, 1));
    add(h, job(9000, NINO_EV_JOB, 2));
    CHECK(nino_history_planned(h, NULL) == 0);
    nino_history_destroy(&h);
    return 0;
}
