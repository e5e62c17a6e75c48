// Steps of undo: the bytes in which two texts differ. Changes of one value that follow each other
// are one step.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

// ---- steps -----------------------------------------------------------------------------------

static void free_step(nino_doc_step *s)
{
    free(s->old);
    free(s->key);
    free(s->place);
}

static void release_step(nino_document *d, nino_doc_step *s)
{
    d->step_bytes -= s->n_old + s->n_now;
    free_step(s);
    *s = (nino_doc_step){ 0 };
}

static void drop_redo(nino_document *d)
{
    while (d->n_steps > d->at)
        release_step(d, &d->steps[--d->n_steps]);
    if (d->saved_at > d->at)
        d->saved_at = -1;
}

static void drop_oldest(nino_document *d)
{
    release_step(d, &d->steps[0]);
    memmove(d->steps, d->steps + 1, (size_t) --d->n_steps * sizeof(*d->steps));
    d->at--;
    d->first_is_gone = true;
    d->saved_at = d->saved_at > 0 ? d->saved_at - 1 : -1;
}

static char *join_path(const nino_document *d)
{
    nino_buf b = { 0 };
    nino_buf_add(&b, "", 0);
    for (int i = 0; i < d->n_path; i++) {
        nino_buf_adds(&b, d->path[i]);
        nino_buf_addc(&b, '\n');
    }
    if (b.failed)
        nino_buf_release(&b);
    return b.data;
}

// What differs between two texts.
static bool make_step(const nino_document *d, nino_doc_step *s, const nino_json_doc *old,
                      const nino_json_doc *now, const char *key, const char *name)
{
    const size_t most = old->src_len < now->src_len ? old->src_len : now->src_len;
    size_t head = 0, tail = 0;
    while (head < most && old->src[head] == now->src[head])
        head++;
    while (tail < most - head &&
           old->src[old->src_len - 1 - tail] == now->src[now->src_len - 1 - tail])
        tail++;
    *s = (nino_doc_step){ .at = head,
                          .n_old = old->src_len - head - tail,
                          .n_now = now->src_len - head - tail };
    strncpy(s->name, name, sizeof(s->name) - 1);
    s->old = malloc(s->n_old + s->n_now + 1);
    s->key = key ? strdup(key) : NULL;
    s->place = join_path(d);
    if (!s->old || !s->place || (key && !s->key)) {
        free_step(s);
        return false;
    }
    s->now = s->old + s->n_old;
    memcpy(s->old, old->src + head, s->n_old);
    memcpy(s->now, now->src + head, s->n_now);
    return true;
}

// The text on the other side of a step.
static char *apply_step(const nino_doc_step *s, const nino_json_doc *from, bool back, size_t *len)
{
    const char *ins = back ? s->old : s->now;
    const size_t n_ins = back ? s->n_old : s->n_now, n_del = back ? s->n_now : s->n_old;
    *len = from->src_len - n_del + n_ins;
    char *text = malloc(*len + 1);
    if (!text)
        return NULL;
    memcpy(text, from->src, s->at);
    memcpy(text + s->at, ins, n_ins);
    memcpy(text + s->at + n_ins, from->src + s->at + n_del, from->src_len - s->at - n_del + 1);
    return text;
}

// The step from the state before to the new one, which joins the last one if both have this key.
nino_status nino_doc_add_step(nino_document *d, const nino_json_doc *old, const nino_json_doc *now,
                              const char *key, const char *name, nino_error *err)
{
    nino_doc_step step, *last = d->at ? &d->steps[d->at - 1] : NULL;
    const bool joins = last && key && last->key && !strcmp(key, last->key) && d->at == d->n_steps &&
                       d->saved_at != d->at;
    nino_json_doc before = *old;
    char *text = NULL;
    if (joins && !(text = apply_step(last, old, true, &before.src_len)))
        return nino_doc_nomem(d, err);
    if (joins)
        before.src = text;
    const bool ok = make_step(d, &step, &before, now, key, name);
    free(text);
    if (!ok)
        return nino_doc_nomem(d, err);
    if (!joins && !nino_ui_grow((void **) &d->steps, d->n_steps, &d->cap_steps, sizeof(step))) {
        free_step(&step);
        return nino_doc_nomem(d, err);
    }
    if (joins)
        release_step(d, &d->steps[--d->at]);
    drop_redo(d);
    d->n_steps = d->at;
    d->steps[d->n_steps++] = step;
    d->at = d->n_steps;
    d->step_bytes += step.n_old + step.n_now;
    while (d->n_steps > 1 &&
           (d->n_steps > NINO_DOC_MAX_STEPS || d->step_bytes > NINO_DOC_MAX_STEP_BYTES))
        drop_oldest(d);
    return NINO_OK;
}

void nino_doc_release_steps(nino_document *d)
{
    while (d->n_steps)
        release_step(d, &d->steps[--d->n_steps]);
    free(d->steps);
    d->steps = NULL;
}

void nino_document_seal(nino_document *d)
{
    nino_doc_step *s = d->at ? &d->steps[d->at - 1] : NULL;
    if (!s)
        return;
    free(s->key);
    s->key = NULL;
}

// ---- undo ------------------------------------------------------------------------------------

const char *nino_document_undo_name(const nino_document *d)
{
    return d->at && !d->depth ? d->steps[d->at - 1].name : NULL;
}

const char *nino_document_redo_name(const nino_document *d)
{
    return d->at < d->n_steps && !d->depth ? d->steps[d->at].name : NULL;
}

static void free_path(char **path, int n)
{
    while (n > 0)
        free(path[--n]);
    free(path);
}

static bool split_path(const char *place, char ***path, int *n)
{
    int lines = 0;
    for (const char *c = place; *c; c++)
        lines += *c == '\n';
    *n = 0;
    if (!(*path = calloc((size_t) lines + 1, sizeof(**path))))
        return false;
    for (; *place; (*n)++) {
        const size_t len = strcspn(place, "\n");
        if (!((*path)[*n] = strndup(place, len))) {
            free_path(*path, *n);
            return false;
        }
        place += len + 1;
    }
    return true;
}

static nino_status doc_step_go(nino_document *d, bool back, nino_error *err)
{
    const nino_doc_step *step = &d->steps[back ? d->at - 1 : d->at];
    size_t len = 0;
    int n_path = 0, n_shown;
    char **path = NULL, *text = apply_step(step, d->state->json, back, &len);
    nino_error mine = { 0 };
    nino_doc_state *s = NULL;
    err = err ? err : &mine;
    if (!text || !split_path(step->place, &path, &n_path)) {
        free(text);
        return nino_doc_nomem(d, err);
    }
    n_shown = n_path;
    nino_json_doc *json = nino_doc_parse(d, text, len, err);
    if (json)
        s = nino_doc_state_create(json, d->name, path, &n_shown, err);
    free(text);
    if (!s) {
        free_path(path, n_path);
        return err->code;
    }
    nino_document_seal(d);
    d->at += back ? -1 : 1;
    free_path(d->path, d->n_path);
    d->path = path;
    d->n_path = n_path;
    nino_doc_show(d, s, n_shown);
    return NINO_OK;
}

nino_status nino_document_undo(nino_document *d, nino_error *err)
{
    if (!nino_document_undo_name(d))
        return nino_fail(err, NINO_ERR_ARG, d->name, "there is nothing to undo");
    return doc_step_go(d, true, err);
}

nino_status nino_document_redo(nino_document *d, nino_error *err)
{
    if (!nino_document_redo_name(d))
        return nino_fail(err, NINO_ERR_ARG, d->name, "there is nothing to do again");
    return doc_step_go(d, false, err);
}
