// All figures of a kernel, a transfer or a scope, in words.
#include "live/describe.h"

#include "base/i18n.h"
#include "plot/plot.h"

#include <math.h>

static void describe_add_escaped(GString *text, const char *s)
{
    g_autofree char *e = g_markup_escape_text(s, -1);
    g_string_append(text, e);
}

static void describe_add_ns(GString *text, const char *what, double ns)
{
    char v[48];
    nino_format_ns(v, sizeof(v), ns);
    g_string_append_printf(text, "%s %s", what, v);
}

static const char *kind_name(uint8_t kind)
{
    static const char *const kinds[] = { "",          N_("job"),  N_("node"),
                                         N_("stage"), N_("step"), N_("tile") };
    return kind && kind < G_N_ELEMENTS(kinds) ? _(kinds[kind]) : "";
}

static void add_name(NinoRun *run, const nino_span *s, GString *text)
{
    describe_add_escaped(text, nino_run_title(run, nino_run_name(run, s->name)));
    if (s->arg1 && (s->kind == NINO_EV_STEP || s->kind == NINO_EV_TILE))
        g_string_append_printf(text, " %u/%u", s->arg0 + 1, s->arg1);
}

void nino_describe_path(NinoRun *run, int32_t span, GString *text)
{
    size_t n;
    const nino_span *s = nino_history_spans(nino_run_history(run), &n);
    if (span < 0 || (size_t) span >= n || s[span].kind == NINO_EV_JOB)
        return;
    nino_describe_path(run, s[span].parent, text);
    if (text->len)
        g_string_append(text, " › ");
    add_name(run, &s[span], text);
}

static void add_rates(NinoRun *run, const nino_event *ev, GString *text)
{
    const double ns = (double) ev->u.kernel.dur_ns;
    const double gflops = ev->u.kernel.flops / ns, gbps = ev->u.kernel.bytes / ns;
    const double share = nino_run_peak_share(run, ev->u.kernel.flops, ev->u.kernel.bytes, ns * 1e-9,
                                             nino_kernel_bits(ev));
    char v[48];
    if (ev->u.kernel.flops > 0)
        g_string_append_printf(text, "\n%.2f GFLOP · %.1f GFLOP/s", ev->u.kernel.flops * 1e-9,
                               gflops);
    if (ev->u.kernel.bytes > 0) {
        nino_format_bytes(v, sizeof(v), ev->u.kernel.bytes);
        g_string_append_printf(text, _("\n%s at least · %.1f GB/s"), v, gbps);
    }
    if (!isnan(share))
        g_string_append_printf(text,
                               nino_run_ceilings(run)->measured_at
                                   ? _("\n%.0f %% of the measured peak")
                                   : _("\n%.0f %% of the peak of the data sheet"),
                               share * 100);
}

static void describe_add_launch(NinoRun *run, const nino_event *ev, GString *text)
{
    nino_launch l;
    char global[NINO_WORK_TEXT], local[NINO_WORK_TEXT];
    if (!nino_launch_read(&l, nino_run_name(run, nino_kernel_launch(ev))))
        return;
    nino_work_text(global, l.global);
    if (*nino_work_text(local, l.local))
        g_string_append_printf(text, _("\n%s work-items, in groups of %s"), global, local);
    else
        g_string_append_printf(text, _("\n%s work-items, in groups of the driver's choice"),
                               global);
}

void nino_describe_slice(NinoRun *run, const nino_event *ev, GString *text)
{
    nino_history *h = nino_run_history(run);
    const char *shape = nino_run_name(run, ev->u.kernel.shape);
    g_string_append(text, "<b>");
    describe_add_escaped(text, nino_run_name(run, ev->name));
    g_string_append(text, "</b> ");
    describe_add_escaped(text, nino_run_name(run, ev->u.kernel.family));
    if (*shape) {
        g_string_append(text, " ");
        describe_add_escaped(text, shape);
    }
    if (ev->kind == NINO_EV_KERNEL && nino_kernel_bits(ev))
        g_string_append_printf(text, _(", %u bits"), nino_kernel_bits(ev));
    if (ev->kind == NINO_EV_KERNEL)
        describe_add_launch(run, ev, text);
    describe_add_ns(text, _("\nran"), (double) ev->u.kernel.dur_ns);
    describe_add_ns(text, _(", from"), (double) (ev->t_ns - MIN(ev->t_ns, nino_history_begin(h))));
    if (ev->kind == NINO_EV_KERNEL && ev->u.kernel.queued_us) {
        const double submitted = ev->u.kernel.submitted_us * 1e3;
        describe_add_ns(text, _("\nqueued"), MAX(ev->u.kernel.queued_us * 1e3 - submitted, 0));
        describe_add_ns(text, _(", then submitted"), submitted);
    }
    if (ev->u.kernel.dur_ns)
        add_rates(run, ev, text);
    g_autoptr(GString) path = g_string_new(NULL);
    nino_describe_path(run, nino_history_span_of(h, ev->parent), path);
    if (path->len)
        g_string_append_printf(text, "\n%s", path->str);
}

void nino_describe_span(NinoRun *run, int32_t span, GString *text)
{
    nino_history *h = nino_run_history(run);
    size_t n;
    const nino_span *s = nino_history_spans(h, &n);
    if (span < 0 || (size_t) span >= n)
        return;
    const nino_span *e = &s[span];
    const uint64_t end = e->end_ns ? e->end_ns : nino_history_end(h);
    g_string_append(text, "<b>");
    add_name(run, e, text);
    g_string_append_printf(text, "</b> %s", kind_name(e->kind));
    describe_add_ns(text, _("\ntook"), (double) (end - e->begin_ns));
    describe_add_ns(text, _(", from"),
                    (double) (e->begin_ns - MIN(e->begin_ns, nino_history_begin(h))));
    if (e->parent >= 0) {
        const nino_span *up = &s[e->parent];
        const uint64_t all = (up->end_ns ? up->end_ns : nino_history_end(h)) - up->begin_ns;
        if (all)
            g_string_append_printf(text, _("\n%.1f %% of "),
                                   100 * (double) (end - e->begin_ns) / (double) all);
        if (all)
            add_name(run, up, text);
    }
    if (!e->end_ns)
        g_string_append(text, _("\nstill running"));
    else if (e->status)
        g_string_append_printf(text, _("\nfailed: %s"), nino_status_name((nino_status) -e->status));
    else if (e->is_cut)
        g_string_append(text, _("\nits end was not recorded"));
}
