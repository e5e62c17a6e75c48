// Internal: requests to a run or worker and their answers, as JSON: {"id":7,"do":"cancel","job":3}
// and {"id":7,"status":"ok","job":3}. Both ends and the stored queue share what is here.
#pragma once
#include "core/base/buf.h"
#include "core/base/json.h"
#include <ninodes/control.h>

enum { NINO_REQUEST_MAX = 16 << 20 }; // bytes of one request

typedef struct nino_request {
    uint32_t id;
    nino_control c; // texts live until release; it points to options
    nino_job_options options;
    nino_json_doc *doc;
    const char **models;
} nino_request;

// NINO_ERR_FORMAT and the like with one clear line; id is set where it could be read. Release in
// any case.
nino_status nino_request_parse(const char *json, size_t len, nino_request *out, nino_error *err);
void nino_request_release(nino_request *r);
void nino_request_write(nino_buf *b, uint32_t id, const nino_control *c);

// What a handler fills in; all zero: done.
typedef struct nino_reply {
    nino_error err;
    uint64_t job, bytes;
    nino_buf text;
} nino_reply;
void nino_reply_write(nino_buf *b, uint32_t id, const nino_reply *r);
// Status by its name; false: no such.
bool nino_status_parse(const char *name, nino_status *out);

// {"models":[...],"input":...}: only what is set; "{}" when nothing is.
void nino_options_write(nino_buf *b, const nino_job_options *o);
// Texts point into v; *models is malloc'd and what o->models points to.
nino_status nino_options_parse(const nino_json *v, nino_job_options *o, const char ***models,
                               nino_error *err);
// ,"key":"text" and ,"key":number; a comma only when something stands before them.
void nino_json_add_text(nino_buf *b, const char *key, const char *text);
void nino_json_add_u64(nino_buf *b, const char *key, uint64_t v);
