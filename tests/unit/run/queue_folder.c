// The folder that keeps a queue, in whatever state it is found: who has it, what is missing, damaged,
// there twice or cannot be read now; nothing is lost, and what happened is said in a line.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/worker/queue_store.h"
#include "tests/test.h"

static char top[] = "/tmp/ninodes-queue-XXXXXX";
static nino_error err;
static nino_jobs jobs;
static nino_stored stored;

#define WORKFLOW "{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{}}}"

static const char *at(const char *name)
{
    static char path[4][200];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
    return path[i];
}

static void put(const char *name, const char *text)
{
    CHECK_OK(nino_file_save(at("q"), name, true, text, strlen(text), &err), err);
}

static void put_queue(const char *list)
{
    char text[8192], *json;
    snprintf(text, sizeof(text),
             "{'schema':'queue/1','version':1,'worker':true,'jobs':[%s],'next':9}", list);
    json = test_quoted(text);
    put("queue.json", json);
    free(json);
}

#define JOB(id, state)                                                                             \
    "{'id':" #id ",'state':'" state "','name':'n" #id "','nodes':1,'outputs':[],'texts':[],"       \
    "'options':{}}"

static void clear(void)
{
    char command[300];
    snprintf(command, sizeof(command), "rm -rf %s/q", top);
    CHECK(!system(command) && !mkdir(at("q"), 0700));
    nino_jobs_release(&jobs);
    jobs = (nino_jobs){ .next_id = 1 };
}

static nino_status load(void)
{
    nino_store *s = nino_store_open(at("q"), &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    nino_jobs_release(&jobs);
    jobs = (nino_jobs){ .next_id = 1 };
    err = (nino_error){ 0 };
    const nino_status st = nino_store_load(s, &jobs, &stored, &err);
    CHECK(!strchr(stored.notice, '\n'));
    nino_store_close(&s);
    return st;
}

// "1w 2d": the numbers in order, with the first letter of the state.
static const char *order(void)
{
    static char text[2000];
    size_t n = 0, len = 0;
    nino_queue_job *list = nino_jobs_list(&jobs, &n);
    CHECK(list);
    text[0] = 0;
    for (size_t i = 0; i < n && len < sizeof(text) - 40; i++)
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%llu%c", i ? " " : "",
                                 (unsigned long long) list[i].id,
                                 *nino_queue_state_name(list[i].state));
    free(list);
    return text;
}

// ---- whose it is ---------------------------------------------------------------------------------

static void owners(void)
{
    clear();
    CHECK(nino_store_owner(at("q")) == 0 && nino_store_owner(at("none")) == 0);
    nino_store *s = nino_store_open(at("q"), &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_STR(nino_store_dir(s), at("q"));
    CHECK(nino_store_owner(at("q")) == getpid());
    CHECK(!nino_store_open(at("q"), &err) && !strcmp(err.kind, "busy"));
    nino_store_close(&s);
    nino_store_close(&s);
    CHECK(nino_store_owner(at("q")) == 0); // the file stays, unlocked
    const int fd = open(at("q/worker.lock"), O_RDWR | O_TRUNC);
    CHECK(fd >= 0 && !flock(fd, LOCK_EX) && nino_store_owner(at("q")) == 0); // who says nothing
    CHECK(write(fd, "-5", 2) == 2 && nino_store_owner(at("q")) == 0);
    close(fd);
    CHECK(!unlink(at("q/worker.lock")) && !symlink("elsewhere", at("q/worker.lock")));
    CHECK(!nino_store_open(at("q"), &err) && err.code == NINO_ERR_IO &&
          nino_store_owner(at("q")) == 0);
    CHECK(access(at("q/elsewhere"), F_OK));
    CHECK(!unlink(at("q/worker.lock")));
    put("file", "");
    CHECK(!nino_store_open(at("q/file/below"), &err) && err.code && err.msg[0]);
}

static void without_a_place(void)
{
    CHECK(!unsetenv("HOME") && !unsetenv("XDG_STATE_HOME"));
    CHECK(!nino_store_open(NULL, &err) && err.code == NINO_ERR_MISSING);
    CHECK(!strcmp(err.where, "HOME") && strstr(err.msg, "no place to keep the queue"));
    CHECK(nino_store_owner(NULL) == 0);
    // nothing is kept
    const nino_queue q = { .is_worker = 1 };
    CHECK_STR(nino_store_dir(NULL), "");
    CHECK(!nino_store_save_workflow(NULL, NULL, &err) && !nino_store_save(NULL, &jobs, &q, &err));
    CHECK(!nino_store_load(NULL, &jobs, &stored, &err) && !stored.notice[0]);
    nino_store_drop_workflow(NULL, 1);
    CHECK(!setenv("XDG_STATE_HOME", top, 1));
    nino_store *s = nino_store_open(NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_STR(nino_store_dir(s), at("ninodes"));
    nino_store_close(&s);
}

// ---- what is in it -------------------------------------------------------------------------------

static void as_it_was_left(void)
{
    clear();
    CHECK_OK(load(), err);
    CHECK(!*order() && !stored.is_rebuilt && !stored.notice[0]);
    put("job-1.json", WORKFLOW);
    put("job-2.json", WORKFLOW);
    put("job-7.json", WORKFLOW); // of no job: goes
    put("job-x.json", "kept");   // none of ours
    put_queue(JOB(2, "running") "," JOB(1, "waiting") "," JOB(6, "done") "," JOB(5, "failed"));
    CHECK_OK(load(), err);
    CHECK_STR(order(), "2w 1w 6d 5f");
    CHECK(strstr(stored.notice, "the worker died while job 2 (n2) ran") && jobs.next_id == 9);
    CHECK(access(at("q/job-7.json"), F_OK) && !access(at("q/job-x.json"), F_OK));
    CHECK(!unlink(at("q/job-1.json")));
    CHECK_OK(load(), err);
    CHECK_STR(order(), "2w 6d 5f");
    CHECK(strstr(stored.notice, "job 1 (n1) is lost"));
    char many[6000] = "";
    for (int i = 20; i < 60; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many),
                 "%s{'id':%d,'state':'waiting','name':'a rather long name','nodes':1,'outputs':[],"
                 "'texts':[],'options':{}}",
                 i > 20 ? "," : "", i);
    put_queue(many); // more to say than there is room
    CHECK_OK(load(), err);
    CHECK(strstr(stored.notice, "job 20") && strlen(stored.notice) < sizeof(stored.notice));
}

static void rebuilt(void)
{
    static const char *const others[] = { "job-.json",
                                          "job-0.json",
                                          "job-99999999999999999.json",
                                          "job-5.jsox",
                                          "joy-5.json",
                                          "job-18446744073709551616.json",
                                          "job-1.json.damaged",
                                          "job-0000000000000000000000000000001.json" };
    clear();
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        put(others[i], "kept");
    CHECK_OK(load(), err);
    CHECK(!*order() && !stored.is_rebuilt);
    for (int i = 40; i; i--) {
        char name[40];
        snprintf(name, sizeof(name), "job-%d.json", i);
        put(name, i == 3 ? "no workflow" : WORKFLOW);
    }
    CHECK_OK(load(), err);
    CHECK(!strncmp(order(), "1w 2w 4w 5w", 11) && jobs.next_id == 41 && stored.is_rebuilt);
    CHECK(strstr(stored.notice, "queue.json was missing: 39 jobs wait again"));
    CHECK(strstr(stored.notice, "1 damaged workflow is set aside") &&
          !access(at("q/job-3.json.damaged"), F_OK));
    put("job-3.json", "damaged again");
    put("job-6.json", "[");
    CHECK_OK(load(), err);
    CHECK(!access(at("q/job-3.json.damaged-2"), F_OK) &&
          strstr(stored.notice, "2 damaged workflows"));
}

static void damaged(void)
{
    static const char *const queues[] = { "{", "5", "{\"schema\":\"other\"}", "" };
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        clear();
        put("job-4.json", WORKFLOW);
        put("queue.json", queues[i]);
        CHECK_OK(load(), err);
        CHECK_STR(order(), "4w");
        CHECK(strstr(stored.notice, "is queue.json.damaged now: 1 job waits again"));
        CHECK(!access(at("q/queue.json.damaged"), F_OK) && access(at("q/queue.json"), F_OK));
    }
    clear();
    put("job-1.json", WORKFLOW);
    put_queue(JOB(1, "waiting") "," JOB(1, "waiting"));
    CHECK_OK(load(), err);
    CHECK(stored.is_rebuilt && strstr(stored.notice, "there twice") && !strcmp(order(), "1w"));
    clear();
    put_queue(JOB(9007199254740994, "done"));
    CHECK_OK(load(), err);
    CHECK(stored.is_rebuilt && !*order());
    clear();
    CHECK(!mkdir(at("q/job-1.json"), 0700)); // a folder in the place of a workflow is set aside
    put_queue(JOB(1, "waiting"));
    CHECK_OK(load(), err);
    CHECK(strstr(stored.notice, "job 1 (n1) is lost") && !access(at("q/job-1.json.damaged"), F_OK));
    CHECK(!rmdir(at("q/job-1.json.damaged")));
}

// No name is left for what is damaged: it stays where it is.
static void too_many(void)
{
    clear();
    put("queue.json", "{");
    for (int i = 1; i < 1000; i++) {
        char name[60];
        snprintf(name, sizeof(name), i == 1 ? "q/queue.json.damaged" : "q/queue.json.damaged-%d",
                 i);
        const int fd = open(at(name), O_CREAT | O_WRONLY, 0600);
        CHECK(fd >= 0 && !close(fd));
    }
    CHECK(load() == NINO_ERR_IO && strstr(err.msg, "too many of the kind"));
    CHECK(!access(at("q/queue.json"), F_OK));
}

// ---- what cannot be read now ---------------------------------------------------------------------

static void unreadable(void)
{
    clear();
    put("job-1.json", WORKFLOW);
    put_queue(JOB(1, "waiting") "," JOB(2, "done"));
    const bool is_root = !geteuid();
    CHECK(!chmod(at("q/job-1.json"), 0));
    CHECK(!is_root || (!chown(top, 65534, 65534) && !chown(at("q"), 65534, 65534) &&
                       !chown(at("q/queue.json"), 65534, 65534) && !seteuid(65534)));
    CHECK(!is_root || access(at("q/worker.lock"), F_OK));
    for (int err_wanted = 1; err_wanted >= 0; err_wanted--) {
        nino_store *s = nino_store_open(at("q"), &err);
        CHECK_OK(s ? NINO_OK : err.code, err);
        nino_jobs_release(&jobs);
        CHECK(nino_store_load(s, &jobs, &stored, err_wanted ? &err : NULL) == NINO_ERR_IO);
        CHECK(strstr(err.msg, "ermission") && strstr(err.where, "job-1.json"));
        nino_store_close(&s);
        CHECK(!access(at("q/queue.json"), F_OK) && !access(at("q/job-1.json"), F_OK));
    }
    // what a job that has ended was made of is not needed
    CHECK(!is_root || !seteuid(0));
    put_queue(JOB(1, "done"));
    CHECK(!is_root || (!chown(at("q/queue.json"), 65534, 65534) && !seteuid(65534)));
    CHECK_OK(load(), err);
    CHECK_STR(order(), "1d");
    CHECK(!jobs.finished->workflow_bytes);
    CHECK(!unlink(at("q/queue.json"))); // nor is the queue made anew without it
    nino_store *other = nino_store_open(at("q"), &err);
    CHECK(nino_store_load(other, &jobs, &stored, NULL) == NINO_ERR_IO);
    nino_store_close(&other);
    CHECK(load() == NINO_ERR_IO && strstr(err.where, "job-1.json"));
    CHECK(!access(at("q/job-1.json"), F_OK));
    CHECK(!is_root || (!seteuid(0) && !chown(at("q"), 0, 0)));
    struct rlimit had, few;
    nino_store *s = nino_store_open(at("q"), &err);
    const int next = dup(0);
    CHECK(s && next >= 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &had));
    few = had;
    few.rlim_cur = (rlim_t) next; // no descriptor left
    CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    const nino_status st = nino_store_load(s, &jobs, &stored, &err);
    CHECK(!setrlimit(RLIMIT_NOFILE, &had) && st == NINO_ERR_IO && strstr(err.msg, "open files"));
    char command[300];
    snprintf(command, sizeof(command), "rm -r %s/q", top);
    CHECK(!system(command));
    CHECK(nino_store_load(s, &jobs, &stored, &err) && strstr(err.msg, "cannot be listed"));
    nino_store_close(&s);
}

// A job keeps what it is given; what it is not given it does not have.
static void one_job(void)
{
    static const nino_job_options none = { NINO_JOB_OPTIONS_INIT };
    static const nino_job_text texts[] = { { .text = "said" } };
    const nino_queue_job q = { .id = 1, .options = &none, .texts = texts, .n_texts = 1 };
    nino_wjob *j = nino_wjob_create(&q, "{}", 2);
    CHECK(j && j->q.n_texts == 1 && !j->q.texts[0].node && !j->q.texts[0].title);
    CHECK_STR(j->q.name, "");
    CHECK_STR(j->q.texts[0].text, "said");
    CHECK_STR(j->workflow, "{}");
    nino_wjob_destroy(&j);
    nino_wjob_destroy(&j);
}

int main(void)
{
    char command[100];
    CHECK(mkdtemp(top));
    one_job();
    owners();
    without_a_place();
    as_it_was_left();
    rebuilt();
    damaged();
    too_many();
    unreadable();
    nino_jobs_release(&jobs);
    snprintf(command, sizeof(command), "rm -r %s", top);
    CHECK(!system(command));
    return 0;
}
