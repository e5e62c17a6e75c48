// SIGINT, SIGTERM, SIGTSTP and SIGUSR1. A thread of its own waits for them, so that whatever
// happens in reply is ordinary code.
#include "cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { STAND_MS = 2000, LOOK_MS = 10 };

static atomic_int stop_signal, wants_status, is_standing;
static void (*on_stop)(void);
static void (*on_pause)(bool is_paused);

// Ctrl-Z: the device finishes what it has, then the process stops; fg or SIGCONT goes on.
static void stop_and_go_on(void)
{
    atomic_store(&is_standing, 0);
    on_pause(true);
    for (int ms = 0; ms < STAND_MS && !atomic_load(&is_standing); ms += LOOK_MS)
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
    say("paused; fg or SIGCONT goes on");
    raise(SIGSTOP);
    say("going on");
    on_pause(false);
}

static void *wait_for_signals(void *set)
{
    for (int sig; !sigwait(set, &sig);) {
        if (sig == SIGUSR1) {
            atomic_store(&wants_status, 1);
            continue;
        }
        if (sig == SIGTSTP) {
            stop_and_go_on();
            continue;
        }
        if (atomic_exchange(&stop_signal, sig))
            _exit(128 + sig);
        say("stopping after this kernel; %s quits at once",
            sig == SIGINT ? "Ctrl-C again" : "a second signal");
        on_stop();
    }
    return NULL;
}

void signals_watch(void (*stop)(void))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGTSTP };
    static sigset_t set;
    pthread_t t;
    on_stop = stop;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]) - !on_pause; i++) {
        struct sigaction old; // who started us may want one ignored: nohup, sh's background jobs
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, NULL); // and in every thread made from now on
    if (pthread_create(&t, NULL, wait_for_signals, &set))
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    else
        pthread_detach(t);
}

void signals_watch_pause(void (*pause_fn)(bool is_paused)) { on_pause = pause_fn; }
void signals_standing(void) { atomic_store(&is_standing, 1); }
int signals_stopped(void) { return atomic_load(&stop_signal); }
bool signals_take_status(void) { return atomic_exchange(&wants_status, 0) != 0; }
