// Everything known about one run, for all views of it: the records, what of them is selected, and
// when to redraw. Views read nino_run_history() and listen to the signals; whoever has records (a
// worker session, an attached socket, a trace file) adds them.
//
// Signals, all without arguments:
//   "changed"  there are new records; at most ten times a second (twice in quiet mode), less often
//              when drawing costs more than its share of a core
//   "cleared"  a new run begins: forget ids and names
//   "range"    another range is selected: tables and plots show only what lies in it
//   "view"     another part of the time axis is shown
//   "cursor"   the pointer is at another time
//   "kernel"   another kernel is selected
//   "pick"     something else is chosen: a scope, a call, a kernel, a range
#pragma once
#include <glib-object.h>
#include <ninodes/ninodes.h>

#define NINO_TYPE_RUN (nino_run_get_type())
G_DECLARE_FINAL_TYPE(NinoRun, nino_run, NINO, RUN, GObject)

typedef const char *(*NinoNameFn)(void *priv, uint32_t id);

NinoRun *nino_run_new(void);
// Adds records; name(priv, id) resolves their names and is only called before this returns.
void nino_run_add(NinoRun *run, const nino_event *ev, size_t n, NinoNameFn name, gpointer priv);
// Replaces everything by a saved trace (.json, .json.gz).
gboolean nino_run_load(NinoRun *run, const char *path, GError **error);
// The next job of the process begins at t: forgets everything but the blocks of the pool and the
// ceilings of the device, which stay as they are.
void nino_run_restart(NinoRun *run, guint64 t);
// Read only; never keep what it points to.
nino_history *nino_run_history(NinoRun *run);
const char *nino_run_name(NinoRun *run, uint32_t id);
// What the canvas calls nodes, by what records call them: "3 Prompt" by "3 CLIPTextEncode". Takes titles; NULL: not known.
void nino_run_set_titles(NinoRun *run, GHashTable *titles);
// For people: the title of a node's scope, a word of their language for what is only called "step"; of all else its name.
const char *nino_run_title(NinoRun *run, const char *name);

// Notes something about a moment (nino_history_note()); views are redrawn.
gboolean nino_run_note(NinoRun *run, guint64 t, const char *text);

// Whether records still come; "changed" is sent once more when it becomes FALSE.
void nino_run_set_live(NinoRun *run, gboolean live);
gboolean nino_run_is_live(NinoRun *run);
// Redraws a second, at most; 10 at first. Fewer when they would take more than their share of a
// core.
void nino_run_set_rate(NinoRun *run, double hz);

// ---- selection (times are CLOCK_MONOTONIC nanoseconds) ------------------------------------------

// Selects [t0, t1); t0 >= t1: everything.
void nino_run_select(NinoRun *run, guint64 t0, guint64 t1);
// The selected range, or all that is known (FALSE).
gboolean nino_run_range(NinoRun *run, guint64 *t0, guint64 *t1);
// Statistics of the range; kept until the range or the records in it change. NULL: out of memory.
const nino_stats *nino_run_stats(NinoRun *run);
// Time of all kernels and transfers of the range: what the share of one is of, in every view.
double nino_run_device_ns(NinoRun *run);
// The part of the time axis that all plots over time show; t0 >= t1: all, following what comes.
void nino_run_set_view(NinoRun *run, guint64 t0, guint64 t1);
// FALSE: all is shown. The end then moves in large steps, so that plots need not be redrawn whole.
gboolean nino_run_view(NinoRun *run, guint64 *t0, guint64 *t1);
void nino_run_set_cursor(NinoRun *run, guint64 t); // 0: none
guint64 nino_run_cursor(NinoRun *run);
// Name of a kernel, as an id of the history; 0: none.
void nino_run_set_kernel(NinoRun *run, uint32_t name);
uint32_t nino_run_kernel(NinoRun *run);
void nino_run_pick_kernel(NinoRun *run, uint32_t name); // selects it, and is what was chosen last
// What was chosen last in any view: all others mark it, the details speak of it. A kernel and a range are
// chosen by the functions above.
typedef enum NinoPickKind {
    NINO_PICK_NOTHING,
    NINO_PICK_SPAN,   // a job, node, stage, step or tile
    NINO_PICK_SLICE,  // a call of a kernel, a transfer
    NINO_PICK_KERNEL, // all calls of nino_run_kernel()
    NINO_PICK_RANGE   // nino_run_range()
} NinoPickKind;
NinoPickKind nino_run_picked(NinoRun *run);
void nino_run_pick_span(NinoRun *run, int32_t span);
int32_t nino_run_picked_span(NinoRun *run); // -1: none, or it is gone
// Also selects its kernel.
void nino_run_pick_slice(NinoRun *run, const nino_event *slice);
const nino_event *nino_run_picked_slice(NinoRun *run); // NULL: none
// Shows one instance in the timeline: chooses it, moves the view there, sets the cursor.
void nino_run_show(NinoRun *run, const nino_event *slice);

// The selector of the device that a run of it by hand would take; NULL: the one that is taken by itself.
void nino_run_set_device(NinoRun *run, const char *selector);
const char *nino_run_device(NinoRun *run);

// ---- what this device can do, for "% of peak" ---------------------------------------------------

// Measured ceilings (or those of the data sheet) of the device the run uses; NULL: not known.
void nino_run_set_ceilings(NinoRun *run, const nino_ceilings *c);
const nino_ceilings *nino_run_ceilings(NinoRun *run); // NULL: not known
// Which peak a share is of, for files: "measured 2026-11-22", "data sheet", "" when it is not known.
// Owned by run, until the next call.
const char *nino_run_peak_of(NinoRun *run);
// nino_ceilings_share() of a call; NAN: not known.
double nino_run_peak_share(NinoRun *run, double flops, double bytes, double seconds, unsigned bits);

// ---- what watching costs -----------------------------------------------------------------------

// CPU time of adding records and of drawing (what is done between begin and end, and rendering), as
// shares of one core over the last seconds. thread: all of the main thread, whatever it does.
typedef struct NinoRunCost {
    double add, draw, thread;
    guint interval_ms; // between two "changed" now
    guint64 dropped;   // records not kept, or lost on the way here
} NinoRunCost;
void nino_run_cost(NinoRun *run, NinoRunCost *out);
// Every view puts its work between these (they nest).
void nino_run_draw_begin(NinoRun *run);
void nino_run_draw_end(NinoRun *run);
// Around a frame of the window: if something was drawn in it, all of it counts as drawing.
void nino_run_frame_begin(NinoRun *run);
void nino_run_frame_end(NinoRun *run);
