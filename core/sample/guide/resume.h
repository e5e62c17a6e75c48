// Internal: what the network answered while sampling, kept in a file until the sampling is done. A
// run that was cancelled or killed is gone through again with these answers, which takes no time
// and works for every sampler (several evaluations a step, noise of its own, a history), and goes
// on where they end: the result is that of a run that was not stopped, bit for bit. A record holds
// what was asked (sigma, hash of x) beside the answer: answers to something else, cut off or
// damaged ones end what is used. Thread-safety: one thread at a time; other processes that sample
// the same at the same time keep nothing.
#pragma once
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/event/publish.h"
#include <ninodes/base.h>

typedef struct nino_resume_place {
    const char *dir; // NULL: nothing is kept. Made when needed, private to the user
    nino_hash key;   // of all that decides the answers
    bool goes_on;    // false: what is there is of no use
} nino_resume_place;

typedef struct nino_resume nino_resume;

// Answers of `count` floats. NULL: nothing can be kept (the reason is logged), which every function
// here takes. Files that nobody has asked for in a week go, the oldest above 4 GiB too.
nino_resume *nino_resume_open(const nino_resume_place *at, size_t count, const nino_log *log);
// There is an answer that has not been taken.
bool nino_resume_has_next(const nino_resume *r);
// The next answer, if it is one to this question. uncond may be NULL.
bool nino_resume_take(nino_resume *r, const float *x, double sigma, float *denoised, float *uncond);
// Adds a computed one. When the disk is full nothing more is kept.
void nino_resume_add(nino_resume *r, const float *x, double sigma, const float *denoised,
                     const float *uncond);
// keeps: the file stays for the next run if there is something in it; otherwise it goes.
void nino_resume_close(nino_resume **r, bool keeps);
// Forgets everything that is kept in a folder.
void nino_resume_clear(const char *dir);

// For people and viewers (m may be NULL): n of `total` steps were taken from the file; are kept.
void nino_resume_tell_taken(nino_monitor *m, const nino_log *log, int n, int total);
void nino_resume_tell_kept(nino_monitor *m, int n, int total);
