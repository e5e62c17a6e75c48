// The lists of a worker's jobs.
#include "core/worker/job_lists.h"

#include <stdlib.h>
#include <string.h>

// ---- one job -----------------------------------------------------------------------------------

static bool copy_text(const char *from, const char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static void free_texts(const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        free((char *) list[i]);
    free((char **) list);
}

nino_wjob *nino_wjob_create(const nino_queue_job *q, const char *workflow, size_t len)
{
    nino_wjob *j = calloc(1, sizeof(*j));
    if (!j)
        return NULL;
    j->q = *q;
    j->q.outputs = NULL;
    j->q.texts = NULL;
    j->q.n_outputs = j->q.n_texts = 0;
    j->options = *q->options;
    j->q.options = &j->options;
    j->q.name = NULL;
    bool ok = copy_text(q->name ? q->name : "", &j->q.name) && (j->arena = nino_arena_create()) &&
              nino_options_keep(&j->options, j->arena) && (j->workflow = malloc(len + 1));
    for (size_t i = 0; i < q->n_outputs && ok; i++)
        ok = nino_wjob_add_output(j, q->outputs[i]);
    for (size_t i = 0; i < q->n_texts && ok; i++)
        ok = nino_wjob_add_text(j, &q->texts[i]);
    if (!ok) {
        nino_wjob_destroy(&j);
        return NULL;
    }
    if (len)
        memcpy(j->workflow, workflow, len);
    j->workflow[len] = 0;
    j->workflow_bytes = len;
    return j;
}

void nino_wjob_destroy(nino_wjob **job)
{
    nino_wjob *j = *job;
    if (!j)
        return;
    free_texts(j->q.outputs);
    for (size_t i = 0; i < j->q.n_texts; i++) {
        free((char *) j->q.texts[i].node);
        free((char *) j->q.texts[i].title);
        free((char *) j->q.texts[i].text);
    }
    free((nino_job_text *) j->q.texts);
    nino_arena_destroy(&j->arena);
    free((char *) j->q.name);
    free(j->workflow);
    free(j);
    *job = NULL;
}

void nino_wjob_set_workflow(nino_wjob *j, char *workflow, size_t len)
{
    free(j->workflow);
    j->workflow = workflow;
    j->workflow_bytes = len;
}

bool nino_wjob_add_output(nino_wjob *j, const char *path)
{
    const char **list = realloc((char **) j->q.outputs, (j->q.n_outputs + 2) * sizeof(*list));
    if (!list)
        return false;
    j->q.outputs = list;
    list[j->q.n_outputs] = strdup(path);
    list[j->q.n_outputs + 1] = NULL;
    if (!list[j->q.n_outputs])
        return false;
    j->q.n_outputs++;
    return true;
}

bool nino_wjob_add_text(nino_wjob *j, const nino_job_text *t)
{
    nino_job_text *list = realloc((nino_job_text *) j->q.texts, (j->q.n_texts + 1) * sizeof(*list));
    if (!list)
        return false;
    j->q.texts = list;
    nino_job_text *copy = &list[j->q.n_texts];
    *copy = (nino_job_text){ 0 };
    if (copy_text(t->node, &copy->node) && copy_text(t->title, &copy->title) &&
        copy_text(t->text, &copy->text)) {
        j->q.n_texts++;
        return true;
    }
    free((char *) copy->node);
    free((char *) copy->title);
    return false;
}

// ---- the lists ---------------------------------------------------------------------------------

static nino_wjob *find_in(nino_wjob *list, uint64_t id)
{
    while (list && list->q.id != id)
        list = list->next;
    return list;
}

nino_wjob *nino_jobs_find(const nino_jobs *jobs, uint64_t id)
{
    nino_wjob *j = find_in(jobs->running, id);
    if (!j)
        j = find_in(jobs->waiting, id);
    return j ? j : find_in(jobs->finished, id);
}

void nino_jobs_insert(nino_jobs *jobs, nino_wjob *j, int position)
{
    nino_wjob **at = &jobs->waiting;
    for (int i = 1; *at && i != position; i++)
        at = &(*at)->next;
    j->next = *at;
    *at = j;
}

static void unlink_from(nino_wjob **at, const nino_wjob *j)
{
    while (*at && *at != j)
        at = &(*at)->next;
    if (*at)
        *at = j->next;
}

void nino_jobs_unlink(nino_jobs *jobs, nino_wjob *j)
{
    unlink_from(&jobs->running, j);
    unlink_from(&jobs->waiting, j);
    unlink_from(&jobs->finished, j);
    j->next = NULL;
}

nino_wjob *nino_jobs_finish(nino_jobs *jobs, nino_wjob *j)
{
    j->next = jobs->finished;
    jobs->finished = j;
    nino_wjob **at = &jobs->finished;
    for (int i = 0; *at && i < NINO_JOBS_KEPT; i++)
        at = &(*at)->next;
    nino_wjob *extra = *at;
    *at = NULL; // lists grow by one at a time
    return extra;
}

static size_t job_lists_add_list(nino_queue_job *out, size_t n, const nino_wjob *list)
{
    for (; list; list = list->next, n++)
        if (out)
            out[n] = list->q;
    return n;
}

nino_queue_job *nino_jobs_list(const nino_jobs *jobs, size_t *n)
{
    *n = job_lists_add_list(
        NULL, job_lists_add_list(NULL, job_lists_add_list(NULL, 0, jobs->running), jobs->waiting),
        jobs->finished);
    nino_queue_job *out = calloc(*n + 1, sizeof(*out));
    if (out)
        job_lists_add_list(
            out, job_lists_add_list(out, job_lists_add_list(out, 0, jobs->running), jobs->waiting),
            jobs->finished);
    return out;
}

static void free_list(nino_wjob **list)
{
    while (*list) {
        nino_wjob *j = *list;
        *list = j->next;
        nino_wjob_destroy(&j);
    }
}

void nino_jobs_release(nino_jobs *jobs)
{
    free_list(&jobs->running);
    free_list(&jobs->waiting);
    free_list(&jobs->finished);
}
