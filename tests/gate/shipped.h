// The file of code objects that is shipped, on the device that is here: each program that plans ask for is looked up
// in it as the library does, checked as the library does before it uses one, and then every kernel of it that plans
// launch is launched by calls of ops whose results are compared with ref. Nothing is compiled.
#pragma once
#include "core/base/file.h"
#include "tests/cl.h"
#include "tests/gate/objects.h"

typedef struct shipped {
    objects all;
    nino_backend *be;    // as anybody opens it
    nino_backend *trial; // with nothing but shipped objects
    nino_backend *ref;
    int n_calls, n_wrong;
} shipped;

static inline nino_backend *shipped_open(void)
{
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .cache_dir = "" };
    nino_error e;
    nino_backend *be = nino_cl_open(test_cl_device(), &params, NULL, &e);
    CHECK_OK(be ? NINO_OK : e.code, e);
    return be;
}

static inline void shipped_call(shipped *s, const char *call)
{
    nino_check_case c;
    nino_check_result r;
    nino_dtype type;
    nino_error e;
    CHECK_OK(nino_call_read(call, &c, &type, &e), e);
    c.only_bench = false;
    nino_check_run(s->trial, s->ref, &c, type, -1, 1, false, &r);
    printf("%s %s nmse %.3g %s\n", r.ok ? "ok  " : "FAIL", call, r.nmse, r.ok ? "" : r.note);
    s->n_calls++;
    s->n_wrong += !r.ok;
}

// One program; false: not all of it is right.
static inline bool shipped_program(shipped *s, size_t k)
{
    const nino_plan_program *p = &s->all.programs.list[k];
    nino_cl *cl = (nino_cl *) s->be;
    const int before = s->n_wrong;
    const int i = nino_cl_program_code(cl->code, &s->all.profile, p->file, p->options);
    if (i < 0) {
        printf("FAIL %s %s is not in the file\n", p->file, p->options);
        return false;
    }
    if (!nino_cl_code_is_right(cl, i)) {
        printf("FAIL %s %s is refused by its own calls\n", p->file, p->options);
        return false;
    }
    for (char *rest = s->all.calls[k].text.data, *call; rest && (call = strsep(&rest, "\n"));)
        if (*call)
            shipped_call(s, call);
    const bool is_shipped = nino_cl_program_is_shipped((nino_cl *) s->trial, p->file, p->options);
    if (!is_shipped)
        printf("FAIL %s %s was not used\n", p->file, p->options);
    return is_shipped && s->n_wrong == before;
}

// Kernels that plans launch and no call does.
static inline int shipped_left_out(const shipped *s, const char *kernels)
{
    char *copy = strdup(kernels), *rest = copy, *line, kernel[48];
    nino_plan_program p;
    int n = 0;
    size_t at;
    CHECK(copy);
    while ((line = strsep(&rest, "\n"))) {
        if (!*line)
            continue;
        objects_read_kernel(line, kernel, &p);
        const bool is_called =
            objects_has(&s->all, &p, &at) && objects_calls_kernel(&s->all.calls[at], kernel);
        if (!is_called)
            printf("FAIL no call launches %s\n", line);
        n += !is_called;
    }
    free(copy);
    return n;
}

// list: what real_programs --print has written, with its .kernels beside it.
static inline int shipped_try(const char *list)
{
    shipped s = { .n_calls = 0 };
    char path[600], *programs, *kernels;
    size_t len;
    int n_right = 0;
    nino_error e;
    snprintf(path, sizeof(path), "%s.kernels", list);
    CHECK_OK(nino_file_read(list, 1 << 20, false, &programs, &len, &e), e);
    CHECK_OK(nino_file_read(path, 1 << 20, false, &kernels, &len, &e), e);
    s.be = shipped_open();
    s.trial = shipped_open();
    CHECK((s.ref = nino_ref_open(0, NULL, &e)));
    if (!((nino_cl *) s.be)->code) {
        printf("FAIL there is no file of code objects for %s\n", test_cl_device()->info.name);
        return 1;
    }
    objects_init(&s.all, s.be->profile.schedule->name, programs, kernels);
    ((nino_cl *) s.trial)->is_trial = true;
    s.trial->profile = s.all.profile; // calls launch there what was listed
    int wrong = shipped_left_out(&s, kernels);
    for (size_t i = 0; i < s.all.programs.n; i++)
        n_right += shipped_program(&s, i);
    wrong += (int) s.all.programs.n - n_right;
    printf("%zu programs, %d right; %d calls, %d wrong\n", s.all.programs.n, n_right, s.n_calls,
           s.n_wrong);
    nino_backend_close(&s.trial);
    nino_backend_close(&s.be);
    nino_backend_close(&s.ref);
    objects_release(&s.all);
    free(programs);
    free(kernels);
    return wrong != 0;
}
