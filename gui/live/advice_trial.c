// Advice is tried by an experiment: setting 0 is the workflow as it is, 1 with the advice. Nothing is
// changed before it is kept.
#include "live/advice_trial.h"

#include "base/i18n.h"
#include "plot/export.h"
#include "plot/plot.h"

#include <math.h>

enum { ROUNDS = 8, LEVEL = 5 };

// ---- its runs ------------------------------------------------------------------------------------

const nino_span *nino_advice_job(NinoRun *run, uint64_t from)
{
    size_t n;
    const nino_span *span = nino_history_spans(nino_run_history(run), &n);
    for (size_t i = 0; i < n; i++)
        if (span[i].kind == NINO_EV_JOB && span[i].end_ns && span[i].begin_ns >= from)
            return &span[i];
    return NULL;
}

// Seconds of a job for each file that it wrote: advice may change how many there are.
static double seconds_of(NinoRun *run, const nino_span *job)
{
    size_t n, files = 0;
    const nino_event *e = nino_history_points(nino_run_history(run), NINO_EV_OUTPUT, &n);
    for (size_t i = 0; i < n; i++)
        files += e[i].t_ns >= job->begin_ns && e[i].t_ns <= job->end_ns;
    return (double) (job->end_ns - job->begin_ns) * 1e-9 / (double) MAX(files, 1);
}

gboolean nino_advice_trial_begin(NinoAdviceTrial *t, const nino_advice *a, NinoRun *run)
{
    const nino_experiment_params p = { NINO_EXPERIMENT_PARAMS_INIT, .rounds_min = ROUNDS,
                                       .rounds_max = ROUNDS, .alpha = LEVEL / 100.0 };
    if (!(t->runs = nino_experiment_create(&p, NULL)))
        return FALSE;
    t->advice = *a;
    t->is_on = TRUE;
    t->from = nino_history_end(nino_run_history(run)) + 1;
    return TRUE;
}

int nino_advice_trial_next(NinoAdviceTrial *t)
{
    const int k = nino_experiment_next(t->runs, NULL);
    t->is_measured = k < 0;
    return k;
}

gboolean nino_advice_trial_take(NinoAdviceTrial *t, NinoRun *run, const nino_span *job)
{
    t->from = job->end_ns;
    return !job->status && !nino_experiment_add(t->runs, seconds_of(run, job), NULL);
}

void nino_advice_trial_end(NinoAdviceTrial *t)
{
    t->is_on = FALSE;
    nino_experiment_destroy(&t->runs);
}

// ---- what it says --------------------------------------------------------------------------------

// "3 % slower": what was shown; g_free().
static char *trial_verdict(const nino_effect *f)
{
    if (f->verdict)
        return g_strdup_printf(f->verdict < 0 ? _("%.1f %% less time") : _("%.1f %% more time"),
                               fabs(f->percent));
    return g_strdup(f->is_too_few ? _("too few runs to tell") : _("no difference shown"));
}

char *nino_advice_trial_text(const NinoAdviceTrial *t)
{
    const nino_advice *a = &t->advice;
    char gain[32], before[32], after[32];
    uint64_t done, most;
    nino_spread base, with;
    nino_effect f;
    nino_format_ns(gain, sizeof(gain), a->gain_s * 1e9);
    nino_experiment_progress(t->runs, &done, &most);
    if (!t->is_measured)
        return g_strdup_printf(_("Trying %s in turn with the present setting: run %u of %u. "
                                 "Expected: %s less a run."),
                               a->setting, (guint) done + 1, (guint) most,
                               isfinite(a->gain_s) ? gain : _("not known how much"));
    nino_experiment_spread(t->runs, 0, &base);
    nino_experiment_spread(t->runs, 1, &with);
    nino_experiment_effect(t->runs, 1, &f);
    nino_format_ns(before, sizeof(before), base.median * 1e9);
    nino_format_ns(after, sizeof(after), with.median * 1e9);
    g_autofree char *verdict = trial_verdict(&f);
    return g_strdup_printf(_("%s: %s a result before, %s with it (medians of %u runs each): "
                             "%s; %+.1f to %+.1f %% with %.0f %% confidence. Expected: %+.1f %%."),
                           a->setting, before, after, (guint) f.rounds, verdict, f.low, f.high,
                           100 * (1 - f.alpha),
                           isfinite(a->gain_s) ? -100 * a->gain_s / a->of_s : 0.0);
}

void nino_advice_trial_log(const NinoAdviceTrial *t, const char *decision)
{
    g_autofree char *dir = g_build_filename(g_get_user_state_dir(), "ninodes", NULL);
    g_autofree char *path = g_build_filename(dir, "advice.jsonl", NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format_iso8601(now);
    g_autoptr(GString) line = g_string_new(NULL);
    nino_spread before, after;
    nino_effect f;
    nino_experiment_spread(t->runs, 0, &before);
    nino_experiment_spread(t->runs, 1, &after);
    nino_experiment_effect(t->runs, 1, &f);
    const NinoCell cells[] = { { "time", time, 0 },
                               { "rule", t->advice.rule, 0 },
                               { "setting", t->advice.setting, 0 },
                               { "evidence", t->advice.evidence, 0 },
                               { "decision", decision, 0 },
                               { "expected_gain_s", NULL, t->advice.gain_s },
                               { "before_s", NULL, before.median },
                               { "after_s", NULL, after.median },
                               { "rounds", NULL, (double) f.rounds },
                               { "percent", NULL, f.percent },
                               { "p", NULL, f.p } };
    nino_cells_to_json(line, cells, G_N_ELEMENTS(cells));
    g_string_append_c(line, '\n');
    g_mkdir_with_parents(dir, 0700);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GFileOutputStream) out = g_file_append_to(file, G_FILE_CREATE_PRIVATE, NULL, NULL);
    if (out) // a log that cannot be written stops nobody
        g_output_stream_write_all(G_OUTPUT_STREAM(out), line->str, line->len, NULL, NULL, NULL);
}
