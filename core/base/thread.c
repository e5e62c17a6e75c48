// Starting threads with the right signals and a name.
#include "core/base/thread.h"

#include <signal.h>
#include <stddef.h>

int nino_thread_start(pthread_t *thread, const char *name, void *(*run)(void *priv), void *priv)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before); // a new thread inherits it
    const int rc = pthread_create(thread, NULL, run, priv);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        pthread_setname_np(*thread, name);
    return rc;
}
