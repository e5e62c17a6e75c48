// Every allocation of opening and reading the folder of a queue fails once: a clean "nomem", and no job is lost: all
// are there when the folder is read again.
#include <sys/stat.h>

#include "core/worker/queue_store.h"
#include "tests/oom.h"

static char top[] = "/tmp/ninodes-queue-XXXXXX", dir[100];
static nino_error err;
static bool is_damaged, is_missing; // the list of jobs

#define WORKFLOW "{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{}}}"
#define JOB(id, state)                                                                             \
    "{'id':" #id ",'state':'" state "','name':'n" #id "','nodes':1,'outputs':['/o/a.png'],"        \
    "'texts':[{'node':'1','title':'t','text':'x'}],'options':{'models':['/m']}}"

static void put(const char *name, const char *quoted)
{
    char path[200], *text = test_quoted(quoted);
    snprintf(path, sizeof(path), "%.99s/%.40s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
    free(text);
}

static void prepare(void)
{
    char path[200];
    snprintf(path, sizeof(path), "%.99s/queue.json", dir);
    CHECK(!unlink(path) || errno == ENOENT);
    snprintf(path, sizeof(path), "%.99s/queue.json.damaged", dir);
    CHECK(!unlink(path) || errno == ENOENT);
    for (int i = 1; i < 19; i++) { // for a damaged queue more than a first list has room for
        if (!is_damaged && i != 1 && i != 2 && i != 6)
            continue;
        char name[40];
        snprintf(name, sizeof(name), "job-%d.json", i);
        snprintf(path, sizeof(path), "%.99s/%s", dir, name);
        if (access(path, F_OK)) // writing over what is there waits for the disk
            put(name, WORKFLOW);
    }
    if (is_damaged)
        put("queue.json", "{");
    else if (!is_missing)
        put("queue.json",
            "{'schema':'queue/1','version':1,'worker':true,'jobs':[" JOB(2, "running") "," JOB(
                1, "waiting") "," JOB(6, "done") "],'next':30}");
}

// Reads the folder; how many jobs there are, or -1 and why not in err.
static int load(nino_stored *stored)
{
    nino_jobs jobs = { .next_id = 1 };
    size_t n = 0;
    nino_store *s = nino_store_open(dir, &err);
    nino_status st = s ? nino_store_load(s, &jobs, stored, &err) : err.code;
    if (!st) {
        const long at = oom.at;
        oom.at = 0;
        nino_queue_job *list = nino_jobs_list(&jobs, &n);
        CHECK(list);
        for (size_t i = 0; i < n && !stored->is_rebuilt; i++)
            CHECK(list[i].n_outputs == 1 && list[i].n_texts == 1 &&
                  !strcmp(list[i].texts[0].title, "t") &&
                  !strcmp(list[i].options->models[0], "/m"));
        free(list);
        oom.at = at;
    }
    nino_jobs_release(&jobs);
    nino_store_close(&s);
    return st ? -1 : (int) n;
}

static void scenario(int may_fail)
{
    static const char *const left[] = { "/job-1.json", "/job-2.json", "/job-6.json" };
    nino_stored stored;
    const long at = oom_pause();
    prepare();
    oom_resume(at);
    const int want = is_damaged ? 18 : 3, n = load(&stored);
    const bool fired = oom.fired;
    oom.at = 0;
    if (n < 0)
        CHECK(may_fail && fired && err.code == NINO_ERR_NOMEM);
    else
        CHECK(n == want);
    for (int i = 0; i < 3; i++) {
        char path[150];
        snprintf(path, sizeof(path), "%.99s%s", dir, left[i]);
        CHECK(!access(path, F_OK));
    }
    CHECK(load(&stored) == want);
}

// Who has the folder; without memory to ask, nobody is known to.
static void owner(int may_fail)
{
    const long at = oom_pause();
    nino_store *s = nino_store_open(dir, &err);
    CHECK(s);
    oom_resume(at);
    const int pid = nino_store_owner(dir);
    CHECK(pid == getpid() || (may_fail && oom.fired && !pid));
    nino_store_close(&s);
}

int main(void)
{
    char command[100];
    CHECK(mkdtemp(top));
    snprintf(dir, sizeof(dir), "%s/q", top);
    CHECK(!mkdir(dir, 0700));
    prepare();
    printf("  %ld allocations of an owner\n", oom_each(owner));
    printf("  %ld of a queue\n", oom_each(scenario));
    is_missing = true;
    printf("  %ld of one that is missing\n", oom_each(scenario));
    is_damaged = true; // last: with workflows of more jobs
    printf("  %ld of a damaged one\n", oom_each(scenario));
    snprintf(command, sizeof(command), "rm -r %s", top);
    return system(command) != 0;
}
