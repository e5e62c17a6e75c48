// Internal: producing events. Public record layout and readers: ninodes/monitor.h.
// Every producer thread has its own single-writer ring; publishing is a copy of 64 bytes and one
// release store. When nobody listens and no trace is written, every function returns after one
// relaxed load.
#pragma once
#include "core/base/log.h"
#include <ninodes/monitor.h>

typedef struct nino_monitor nino_monitor;

// A ring holds 1 << 16 records a thread. NULL: out of memory. Every function takes NULL for "no
// monitor".
nino_monitor *nino_monitor_create(void);
void nino_monitor_destroy(nino_monitor **m);
// Its number: no other monitor of this process ever has it, not even at the address of one that is
// gone. 0 without one.
uint64_t nino_monitor_number(const nino_monitor *m);
// True when some reader is attached: producers may skip building expensive arguments.
bool nino_monitor_is_on(const nino_monitor *m);

// Interns a string for the life of the monitor; the same text gives the same id. Id 0 is "".
// Thread-safe.
uint32_t nino_monitor_name(nino_monitor *m, const char *text);
// The same for a text that one record says and no other is likely to: it is known until 8192 later
// ones have been named, and takes no room for good.
uint32_t nino_monitor_passing(nino_monitor *m, const char *text);
const char *nino_monitor_name_text(const nino_monitor *m, uint32_t id);

// Scopes nest per thread: job > node > stage > step > tile. Returns the scope's id (never 0), which
// begin() of an inner scope and kernels refer to as parent. Scopes keep counting when the monitor
// is off, so that ids stay consistent. A job's name passes, as nino_monitor_passing(): every file has
// its own.
uint32_t nino_monitor_begin(nino_monitor *m, nino_event_kind scope_kind, const char *name,
                            uint32_t arg0, uint32_t arg1);
// Ends the scope, and inner scopes of this thread that were left open. end_with() says how it
// ended.
void nino_monitor_end(nino_monitor *m, uint32_t scope_id);
void nino_monitor_end_with(nino_monitor *m, uint32_t scope_id, nino_status st);
uint32_t
nino_monitor_current(const nino_monitor *m); // innermost open scope of this thread, 0: none

// What this thread begins outside of a scope of its own belongs to scope `parent` of another thread: it works
// for that one. 0: no longer.
void nino_monitor_adopt(nino_monitor *m, uint32_t parent);

// Publishes a filled record (t_ns 0: now; parent 0: the current scope; track < 256: this thread's).
// Any thread.
void nino_monitor_publish(nino_monitor *m, const nino_event *ev);
// Convenience for text messages and errors.
__attribute__((format(printf, 3, 4))) void
nino_monitor_message(nino_monitor *m, nino_log_level level, const char *fmt, ...);

// Who tells the blocks of the pool that reports to this monitor, for viewers that come late: fills
// up to max records (ARENA and BLOCK) as of one moment and returns their number; any thread.
// Removing it (fn NULL) waits until no call runs.
typedef size_t (*nino_blocks_fn)(void *priv, nino_event *out, size_t max);
void nino_monitor_set_blocks(nino_monitor *m, nino_blocks_fn fn, void *priv);

// The name of a launch (ninodes/monitor.h) with what it was for: nino_kernel_told_read() reads that.
// Either may be ""; neither has a mark or a slash in it.
#define NINO_LAUNCH_MARK '|'
enum { NINO_LAUNCH_TOLD_TEXT = 1000 }; // as much as is kept of a name
const char *nino_launch_write_told(char buf[NINO_LAUNCH_TOLD_TEXT], const nino_launch *l,
                                   const char *program, const char *call);

// In-process reader: its own cursor per ring; a reader that is too slow loses records and is told
// how many.
typedef struct nino_mon_reader nino_mon_reader;
nino_mon_reader *nino_mon_reader_create(nino_monitor *m);
void nino_mon_reader_destroy(nino_mon_reader **r);
// Copies up to max records, oldest first across rings (by t_ns within one call); returns the number
// copied. *lost (may be NULL) is increased by the number of records overwritten before they were
// read.
size_t nino_mon_reader_read(nino_mon_reader *r, nino_event *out, size_t max, uint64_t *lost);

// A descriptor for poll() that an armed bell makes readable with the next record, once. Arm it,
// then look whether there are records already. -1: no descriptor, or too many bells.
int nino_monitor_bell_create(nino_monitor *m);
void nino_monitor_bell_destroy(nino_monitor *m, int *fd); // -1 is no bell, *fd becomes -1
void nino_monitor_bell_arm(nino_monitor *m, int fd);      // it is silent again
void nino_bell_ring(int fd);                              // at once
