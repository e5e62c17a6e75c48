// What a worker finds when it starts: queue.json, and the workflow of a job. Whatever they hold, the
// queue is there again; what was set aside is found the next time, and what is stored then is read.
#include "core/monitor/link/queue_view.h"
#include "core/worker/queue_store.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "\"schema\":\"queue/1\"",
                                   "\"jobs\":[",
                                   "\"id\":",
                                   "\"state\":\"waiting\"",
                                   "\"state\":\"running\"",
                                   "\"state\":\"done\"",
                                   "\"state\":\"failed\"",
                                   "\"next\":",
                                   "\"paused\":true",
                                   "\"lost\":",
                                   "\"name\":",
                                   "\"options\":{}",
                                   "9007199254740993",
                                   "-1",
                                   "null",
                                   "{\"1\":{\"class_type\":\"SaveImage\"}}",
                                   "\n",
                                   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "{\"schema\":\"queue/1\",\"version\":9,\"worker\":true,\"paused\":true,\"ending\":false,"
        "\"notice\":\"\",\"device\":\"cpu\",\"jobs\":[{\"id\":1,\"state\":\"running\",\"name\":"
        "\"w\",\"nodes\":4,\"queued\":1.5,\"outputs\":[],\"texts\":[],\"options\":{}},{\"id\":2,"
        "\"state\":\"waiting\",\"name\":\"v\",\"nodes\":1,\"outputs\":[],\"texts\":[],\"options\":"
        "{\"models\":[\"/m\"]}},{\"id\":3,\"state\":\"done\",\"name\":\"u\",\"nodes\":1,"
        "\"outputs\":[\"/o\"],\"texts\":[],\"options\":{}}],\"next\":9}\n"
        "{\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{}}}",
        "{\n{\"nodes\":[],\"links\":[]}",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static void load_and_save(bool is_again)
{
    nino_error err = { 0 };
    nino_jobs jobs = { .next_id = 1 };
    nino_stored stored;
    nino_store *s = nino_store_open(fuzz_folder(), &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_OK(nino_store_load(s, &jobs, &stored, &err), err);
    CHECK(!is_again || !stored.is_rebuilt);
    CHECK(!strchr(stored.notice, '\n'));
    nino_queue q = { .is_worker = 1 };
    q.jobs = nino_jobs_list(&jobs, &q.n_jobs);
    CHECK(q.jobs);
    for (size_t i = 0; i < q.n_jobs; i++) {
        CHECK(q.jobs[i].id > 0 && q.jobs[i].id < jobs.next_id);
        CHECK(q.jobs[i].state != NINO_QUEUE_RUNNING);
    }
    CHECK_OK(nino_store_save(s, &jobs, &q, &err), err);
    free((nino_queue_job *) q.jobs);
    nino_jobs_release(&jobs);
    nino_store_close(&s);
}

// The first line is queue.json, the rest the workflow of the jobs 1 and 2.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    const size_t n = end ? (size_t) (end - data) : size;
    static const char *const aside[] = { "queue.json", "job-1.json", "job-2.json" };
    fuzz_file("queue.json", data, n);
    fuzz_file("job-1.json", end ? end + 1 : data, end ? size - n - 1 : size);
    fuzz_file("job-2.json", end ? end + 1 : data, end ? size - n - 1 : size);
    for (int i = 0; i < 3; i++) { // of the last input
        char path[160];
        snprintf(path, sizeof(path), "%s/%s.damaged", fuzz_folder(), aside[i]);
        unlink(path);
    }
    load_and_save(false);
    load_and_save(true);
    return 0;
}
