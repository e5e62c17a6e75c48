// Talking to people: lines on stderr, errors with what to do about them, sizes.
#include "cli.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static char said[1024]; // the line before the newline, guarded by the line's lock

static void put_line(void *line)
{
    // One write: lines of several processes on one terminal do not mix.
    const char *const text = line;
    snprintf(said, sizeof(said), "%.*s", (int) strcspn(text + 9, "\n"), text + 9);
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

void say(const char *fmt, ...)
{
    char line[1024] = "ninodes: ";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line + 9, sizeof(line) - 10, fmt, ap);
    va_end(ap);
    nino_utf8_printable(line, sizeof(line) - 1, line, strlen(line));
    const size_t n = strlen(line);
    line[n] = '\n';
    line[n + 1] = 0;
    progress_aside(put_line, line);
}

const char *last_said(void) { return said; }

exit_code exit_for(nino_status st)
{
    switch (st) {
    case NINO_OK: return EXIT_OK;
    case NINO_ERR_NOMEM: return EXIT_NOMEM;
    case NINO_ERR_DEVICE: return EXIT_DEVICE;
    case NINO_ERR_MISSING: return EXIT_MISSING;
    case NINO_ERR_UNSUPPORTED: return EXIT_WORKFLOW;
    case NINO_ERR_CANCELLED: return EXIT_SIGINT;
    case NINO_ERR_ARG:
    case NINO_ERR_IO:
    case NINO_ERR_FORMAT:
    case NINO_ERR_RANGE:
    case NINO_ERR_UNKNOWN: return EXIT_RUN;
    }
    return EXIT_RUN;
}

const char *status_hint(const nino_error *err)
{
    switch (err->code) {
    case NINO_ERR_NOMEM:
        return "ninodes plan says what it needs; a tiled decode or a smaller batch needs less";
    case NINO_ERR_MISSING: return "--models DIR and --input DIR say where to look";
    case NINO_ERR_DEVICE: return "ninodes devices and ninodes selftest say more";
    default: return NULL;
    }
}

size_t devices_explained(char *out, size_t size)
{
    const size_t n = nino_devices_explain(out, size);
    for (char *line = out, *end; n && (end = strchr(line, '\n')); line = end + 1)
        say("%.*s", (int) (end - line), line);
    return n;
}

int report_error(const options *o, const char *cmd, const nino_error *err, const char *hint)
{
    if (!hint)
        hint = status_hint(err);
    say("%s: %s%s%s (%s)", cmd, err->where, *err->where ? ": " : "", err->msg,
        nino_status_name(err->code));
    char found[4096];
    if (!strcmp(err->kind ? err->kind : "", "none") && devices_explained(found, sizeof(found)))
        hint = found;
    else if (hint && !o->quiet)
        say("%s", hint);
    if (o->json)
        js_envelope_error(cmd, err->kind ? err->kind : nino_status_name(err->code), err->msg,
                          err->where, hint);
    return exit_for(err->code);
}

const char *human_bytes(char *buf, size_t size, double bytes)
{
    const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    int i = 0;
    const double sign = bytes < 0 ? -1 : 1;
    bytes *= sign;
    for (; bytes >= 1023.95 && i < 4; i++)
        bytes /= 1024;
    snprintf(buf, size, i ? "%.1f %s" : "%.0f %s", sign * bytes, units[i]);
    return buf;
}

static void on_talk_log(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    say("%s", line);
}

// --opt first, then each alone.
static void set_policies(const options *o, nino_job_options *job)
{
    nino_phase phase;
    if (o->no_mixed && !job->precision)
        job->precision = NINO_PRECISION_F32;
    if (nino_phase_find(o->opt, &phase))
        nino_phase_set(job, phase);
    if (o->adaptive) {
        job->policies_on |= NINO_POLICY_BIT(NINO_POLICY_ADAPTIVE);
        job->policies_off &= ~NINO_POLICY_BIT(NINO_POLICY_ADAPTIVE);
    }
    for (int i = 0; i < NINO_POLICY_COUNT; i++)
        if (o->no_policy[i])
            job->policies_off |= NINO_POLICY_BIT(i);
}

void fill_ctx_params(const options *o, nino_ctx_params *p, nino_job_options *job)
{
    *job = (nino_job_options){
        NINO_JOB_OPTIONS_INIT,
        .models = o->models.item,
        .input_dir = o->input,
        .output_dir = o->output,
        .preview_every = o->preview_every < 10000 ? (int) o->preview_every : 10000,
        .preview_share = (double) (o->preview_percent < 100 ? o->preview_percent : 100) * 0.01,
        .no_profile = o->no_profile,
        .no_metadata = o->no_metadata,
    };
    nino_precision_opt_find(o->precision, &job->precision);
    set_policies(o, job);
    nino_preview_opt_find(o->preview, &job->preview);
    *p = (nino_ctx_params){
        NINO_CTX_PARAMS_INIT,
        .device = o->device,
        .mem_limit = o->mem_limit,
        .helper = "/proc/self/exe",
        .gemm = o->gemm,
        .job = job,
        .log = on_talk_log,
        .log_level = o->quiet     ? NINO_LOG_ERROR
                     : o->verbose ? NINO_LOG_INFO
                                  : NINO_LOG_WARN,
    };
}
