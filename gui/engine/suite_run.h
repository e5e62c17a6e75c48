// The benchmark suite as a child process: `ninodes bench suite`, the same that people type, so that the app itself
// opens no device and a driver that dies takes nothing with it.
#pragma once
#include <gio/gio.h>
#include <ninodes/suite.h>

typedef struct NinoSuiteAsk {
    const char *suite, *device; // device: selector; NULL or "" as of the command
    gboolean is_quick;
    nino_phase last;
    guint32 without;          // policies that are left out alone, as bits
    const char *const *cases; // NULL-terminated
} NinoSuiteAsk;

typedef struct NinoSuiteRun NinoSuiteRun;
// What is measured now; share of all that is done, 0 to 1, below 0: not known yet.
typedef void (*NinoSuiteTold)(gpointer user, double share, const char *text);
// Its end; error NULL: nino_suite_run_newest() is its result. The run is freed after it.
typedef void (*NinoSuiteEnded)(gpointer user, const char *error);

// NULL: *error says why it does not start.
NinoSuiteRun *nino_suite_run_start(const NinoSuiteAsk *ask, NinoSuiteTold told,
                                   NinoSuiteEnded ended, gpointer user, GError **error);
// Ends the process and frees the run; nothing is told any more.
void nino_suite_run_stop(NinoSuiteRun *run);
// The folder with results, and the newest of them, NULL: none yet. g_free()
char *nino_suite_run_folder(void);
char *nino_suite_run_newest(void);
