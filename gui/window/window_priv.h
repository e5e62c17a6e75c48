// Internal to the window: its parts, shared by window.c (the object), window_layout.c
// (what is where), window_palette.c (finding anything), window_file.c (files and tabs),
// window_run.c (worker), window_queue.c (what is queued), window_grid.c (grids of runs),
// window_events.c (what a run says) and window_live.c (live views).
#pragma once
#include "window/bar.h"
#include "window/welcome.h"
#include "engine/engine.h"
#include "engine/measure_row.h"
#include "workflow/form.h"
#include "workflow/problems.h"
#include "engine/queue_panel.h"
#include "workflow/tab.h"
#include "viewer/viewer.h"
#include "window/window.h"
#include "plot/run_model.h"

struct _NinoWindow {
    GtkApplicationWindow parent;
    NinoBar *bar;
    GtkOverlay *over; // of what news lie over
    GtkStack *perspectives, *drawer, *center;
    GtkPaned *drawer_pane, *columns, *rows, *runs_pane, *details_pane;
    GtkNotebook *tabs, *live;
    GtkWidget *rail, *side, *timeline_box, *runs_box, *details_box, *overview_box, *profile_bar,
        *status_bar, *palette_button;
    NinoWelcome *welcome;
    GtkMenuButton *recent_button, *menu_button;
    GtkButton *run_button;
    GtkProgressBar *progress;
    GtkLabel *status, *device, *memory, *cost;

    NinoViewer *viewer;
    NinoQueuePanel *queue;
    NinoProblems *problems;
    NinoForm *form;
    GtkTextView *log;
    GtkWidget *log_empty; // in its place
    NinoRun *records;     // of the newest run, or a trace; what the live views show
    NinoWindowOptions options;

    // window_profile.c
    GPtrArray *views; // of the run, as in nino_views; borrowed
    GtkWidget *view;  // the one that was chosen last: what is exported
    GtkWidget *find;  // what the timeline is searched for
    GtkMenuButton *views_button;
    gboolean details_wait;      // for something to be chosen
    gboolean has_details_width; // the remembered one was given to its pane
    GtkWidget *suite;           // the window of the benchmark suite; NULL: not opened yet

    // window_layout.c
    gboolean had_results; // of this session; or the user opened or closed their drawer

    // window_palette.c
    GtkWidget *palette; // NULL: closed

    // window_start.c
    GtkWidget *computer; // the window of what it can do; NULL: closed

    // window_file.c
    guint autosave_timer;
    gboolean closes; // the window goes when the last question is answered

    // window_run.c
    NinoEngine *engine;
    GHashTable *job_tabs; // guint64 id -> uid of the tab it came from
    guint64 watched_job;  // window_attach.c: of the process that is watched; 0: none so far
    GArray *ending;       // guint64: ids of jobs whose last events have not come
    struct NinoRunState *run;
    struct NinoMeasuring *measuring; // NULL: nothing is measured
    GPtrArray *grids;                // of runs that have not all ended
    GCancellable *planning;
    guint ahead_timer;
    guint refresh_timer, cost_timer, keep_timer; // keep: a run that has ended is not kept yet
    gboolean keeps_measured;                     // that run was one of those that are measured
    guint64 cost_cpu_us, cost_wall_us;
};

// ---- window.c -----------------------------------------------------------------------------------
void nino_window_set_enabled(NinoWindow *w, const char *action, gboolean enabled);
void nino_window_set_state_text(NinoWindow *w, const char *action, const char *value);
void nino_window_set_state_bool(NinoWindow *w, const char *action, gboolean value);
void nino_window_say(NinoWindow *w, const char *text); // in the status bar
void nino_window_use_folders(NinoWindow *w); // of its options, everywhere but in a worker that runs

// ---- window_layout.c ----------------------------------------------------------------------------
void nino_window_layout_init(NinoWindow *w);
void nino_window_layout_restore(NinoWindow *w); // as it was when the app was closed
void nino_window_layout_remember(NinoWindow *w);
void nino_window_show_perspective(NinoWindow *w, const char *name); // "compose", "profile"
void nino_window_show_panel(NinoWindow *w, const char *name);       // a drawer, or "result"
void nino_window_title_panel(NinoWindow *w, GtkWidget *panel, const char *title);
void nino_window_name_tab(GtkNotebook *notebook, GtkWidget *page, const char *name);
void nino_window_has_results(NinoWindow *w); // the first of a session open their drawer

// ---- window_profile.c ---------------------------------------------------------------------------
void nino_window_profile_init(NinoWindow *w);
void nino_window_profile_restore(NinoWindow *w);
void nino_window_profile_remember(NinoWindow *w);
// A view in its own window.
void nino_window_open_view(NinoWindow *w, const char *id);
void nino_window_show_runs(NinoWindow *w, gboolean on);
void nino_window_show_details(NinoWindow *w, gboolean on);

// ---- window_views.c -----------------------------------------------------------------------------
void nino_window_saved_views_init(NinoWindow *w);
char **nino_window_saved_views(void); // their names; g_strfreev()
GtkWidget *nino_window_new_views_button(NinoWindow *w);

// ---- window_suite.c -----------------------------------------------------------------------------
void nino_window_suite_init(NinoWindow *w);

// ---- window_shelves.c ---------------------------------------------------------------------------
GtkWidget *nino_window_new_shelf(NinoWindow *w, const char *name); // "nodes", "models", "workflows"
// A class, or a model with its loader, into the workflow in front, or a new one.
void nino_window_add_item(NinoWindow *w, const char *key);

// ---- window_start.c -----------------------------------------------------------------------------
void nino_window_start_init(NinoWindow *w);
void nino_window_set_folders(NinoWindow *w, const char *models, const char *input); // may be NULL
void nino_window_need_demo(NinoWindow *w, const char *path); // of what is about to be opened

// ---- window_palette.c ---------------------------------------------------------------------------
void nino_window_palette_init(NinoWindow *w);

// ---- window_tabs.c ------------------------------------------------------------------------------
void nino_window_tabs_update(NinoWindow *w); // titles, and what can be done with files now
void nino_window_check(NinoWindow *w);       // the list of problems of the tab in front
NinoTab *nino_window_add_tab(NinoWindow *w);
void nino_window_refuse(NinoWindow *w, NinoTab *tab, const char *text); // an edit of it
void nino_window_remove_tab(NinoWindow *w, NinoTab *tab);
void nino_window_on_switch(GObject *tabs, GParamSpec *pspec, gpointer window);
void nino_window_autosave(NinoWindow *w); // now
void nino_window_show_recent(NinoWindow *w);
void nino_window_add_recent(NinoWindow *w, const char *path);
void nino_window_forget_recent(NinoWindow *w, const char *path); // it is gone

// ---- window_file.c ------------------------------------------------------------------------------
void nino_window_file_init(NinoWindow *w);
void nino_window_file_dispose(NinoWindow *w);
NinoTab *nino_window_tab(NinoWindow *w); // the one in front, or NULL
NinoTab *nino_window_find_tab(NinoWindow *w, const char *uid);
NinoTab *nino_window_find_tab_by_title(NinoWindow *w, const char *title);
void nino_window_recover(NinoWindow *w);
// A file from elsewhere: what nodes load becomes a node, all else is opened.
void nino_window_take(NinoWindow *w, GFile *file);
// A saved trace, shown in the live views.
void nino_window_open_trace(NinoWindow *w, const char *path);

// ---- window_advice.c ----------------------------------------------------------------------------
void nino_window_add_advice(NinoWindow *w, GtkWidget *view); // takes views of other kinds too

// ---- window_events.c ----------------------------------------------------------------------------
void nino_window_events_init(NinoWindow *w);
void nino_window_events_dispose(NinoWindow *w);
NinoTab *nino_window_run_tab(NinoWindow *w); // the one whose job runs, or ran last; or NULL
const char *nino_window_running_node(const NinoWindow *w);              // "ID CLASS", or NULL
void nino_window_lose_run(NinoWindow *w);                               // the worker died with it
gboolean nino_window_has_events(const NinoWindow *w, const NinoJob *j); // all of them came
gboolean nino_window_runs_other(const NinoWindow *w, const NinoJob *j); // by now
void nino_window_show_memory(NinoWindow *w);       // and load, in the status bar
guint nino_window_kept_steps(const NinoWindow *w); // that a run was stopped after and left
NinoTab *nino_window_job_tab(NinoWindow *w, const NinoJob *j);
// The tab has the workflow of the job that runs: it shows what was done before it was opened.
void nino_window_run_is_of(NinoWindow *w, NinoTab *tab, guint64 job);

// ---- window_live.c ------------------------------------------------------------------------------
void nino_window_live_init(NinoWindow *w);
void nino_window_live_dispose(NinoWindow *w);
void nino_window_keep_run(NinoWindow *w);       // now, if one waits for it
void nino_window_keep_run_later(NinoWindow *w); // when the last records of its kernels have come
void nino_window_tell_advice(NinoWindow *w, NinoTab *tab); // the workflow that runs now
void nino_window_tell_titles(NinoWindow *w, NinoTab *tab); // the same; NULL: it is not open

// ---- window_ended.c ------------------------------------------------------------------------------
// In the message bar and on the node that it names; jump: scrolls there.
void nino_window_show_error(NinoWindow *w, NinoTab *tab, const char *where, const char *text,
                            gboolean jump);
void nino_window_kept(NinoWindow *w); // nino_window_kept_steps() came, maybe after the job's end
// The queue may tell the end of a job before the job's last events come, or even its first: what is
// shown of the end waits for them. all: of every job that waits.
void nino_window_end_jobs(NinoWindow *w, gboolean all);
void nino_window_tell_live(NinoWindow *w); // to the views: whether records of the run still come
gboolean nino_window_is_ending(NinoWindow *w, guint64 job);
// A job of this window has its number now. It may have ended before, even before the first look at
// the queue, where what has ended is no news, or when it was known by its title only.
void nino_window_end_own_job(NinoWindow *w, guint64 job);

// ---- window_queue.c -----------------------------------------------------------------------------
void nino_window_queue_init(NinoWindow *w);
// What became of a workflow that was to be queued; job 0: it was refused.
typedef void (*NinoQueuedFn)(NinoWindow *w, guint tag, guint64 job);
// position: as in nino_control; is_anew: as in nino_job_options; fn may be NULL.
void nino_window_queue_workflow(NinoWindow *w, NinoTab *tab, const char *text, gsize len,
                                int position, gboolean is_anew, NinoQueuedFn fn, guint tag);
gboolean nino_window_can_run_again(NinoWindow *w);  // the tab in front has a job that has ended
void nino_window_retry(NinoWindow *w, guint64 job); // the same inputs, next to run

// How the user wants jobs to run; is_anew: as in nino_job_options.
nino_job_options nino_window_job_options(gboolean is_anew);

// ---- window_attach.c ----------------------------------------------------------------------------
void nino_window_attach_init(NinoWindow *w);
void nino_window_attach_end(NinoWindow *w); // the process that was watched has gone
void nino_window_attach_look(
    NinoWindow *w); // the queue of the process that is watched is another one

// ---- window_ahead.c -----------------------------------------------------------------------------
void nino_window_ahead_later(NinoWindow *w); // what would run may be something else now

// ---- window_measure.c ---------------------------------------------------------------------------
void nino_window_measure_init(NinoWindow *w);
void nino_window_measure_dispose(NinoWindow *w);
// Measures the inputs of this job; 0: the tab's, which never ran. The message bar says the result.
void nino_window_measure(NinoWindow *w, NinoTab *tab, guint64 job);
void nino_window_measure_look(NinoWindow *w); // its job may have ended

// ---- window_grid.c ------------------------------------------------------------------------------
void nino_window_grid_init(NinoWindow *w);
void nino_window_grid_dispose(NinoWindow *w);

// ---- window_run.c -------------------------------------------------------------------------------
void nino_window_log(NinoWindow *w, nino_log_level level,
                     const char *line); // at the end of the log
void nino_window_log_init(GtkTextView *log);
void nino_window_run_init(NinoWindow *w);
void nino_window_run_dispose(NinoWindow *w);
void nino_window_run_update(NinoWindow *w); // which actions make sense now, and the state action
