// ninodes: the command line program. Uses public headers only.
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- talking -----------------------------------------------------------------------------------

static void put_line(void *line)
{
    // One write: lines of several processes on one terminal do not mix.
    const char *const text = line;
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
    for (char *p = line; *p; p++)
        if ((unsigned char) *p < 0x20 || *p == 0x7f)
            *p = '?'; // file names and workflows must not steer the terminal
    const size_t n = strlen(line);
    line[n] = '\n';
    line[n + 1] = 0;
    progress_aside(put_line, line);
}

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

int report_error(const options *o, const char *cmd, const nino_error *err, const char *hint)
{
    if (!hint)
        hint = status_hint(err);
    say("%s: %s%s%s (%s)", cmd, err->where, *err->where ? ": " : "", err->msg,
        nino_status_name(err->code));
    if (hint && !o->quiet)
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

static void on_log(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    say("%s", line);
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
    nino_preview_opt_find(o->preview, &job->preview);
    *p = (nino_ctx_params){
        NINO_CTX_PARAMS_INIT,
        .device = o->device,
        .mem_limit = o->mem_limit,
        .job = job,
        .log = on_log,
        .log_level = o->quiet     ? NINO_LOG_ERROR
                     : o->verbose ? NINO_LOG_INFO
                                  : NINO_LOG_WARN,
    };
}

// ---- commands without a file of their own ------------------------------------------------------

int cmd_help(const options *o)
{
    if (!o->n_args) {
        help_all(stdout);
        return EXIT_OK;
    }
    if (!strcmp(o->arg[0], "environment")) {
        for (const nino_variable *v = nino_variables(); v->name; v++)
            printf("%-20s %s%s\n", v->name, v->help, v->is_setting ? " *" : "");
        printf("\n* also a line in ninodes.conf (mem_limit = 16GiB): in the working folder, in\n"
               "$XDG_CONFIG_HOME/ninodes or in /etc/xdg/ninodes. Options count more than the\n"
               "environment, that more than these files.\n");
        return EXIT_OK;
    }
    const command *c = command_find(o->arg[0]);
    if (!c) {
        say("help: no command %s (ninodes help lists them)", o->arg[0]);
        return EXIT_USAGE;
    }
    help_command(stdout, c);
    return EXIT_OK;
}

int cmd_completion(const options *o)
{
    if (completion_print(stdout, o->arg[0]))
        return EXIT_OK;
    say("completion: %s is not one of bash, zsh, fish, man", o->arg[0]);
    return EXIT_USAGE;
}

static int no_such_command(const char *word)
{
    const char *names[32];
    size_t n = 0;
    for (const command *c = commands; c->name && n < 32; c++)
        names[n++] = c->name;
    const char *near = nearest(word, names, n);
    if (near)
        say("unknown command %s (did you mean %s?)", word, near);
    else
        say("unknown command %s (ninodes help lists them)", word);
    return EXIT_USAGE;
}

// Data that did not reach its reader is a failure, unless the reader left on purpose (head).
static int finish(int rc)
{
    if (fflush(stdout) || ferror(stdout)) {
        if (errno == EPIPE)
            return rc;
        say("stdout: %s", strerror(errno));
        return rc ? rc : EXIT_RUN;
    }
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help_all(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("ninodes %s\n", nino_version());
        return finish(EXIT_OK);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_all(stdout);
        return finish(EXIT_OK);
    }
    const command *c = command_find(argv[1]);
    if (!c)
        return no_such_command(argv[1]);
    options o = { .n_args = 0 };
    int rc = EXIT_USAGE;
    if (options_parse(c, argc - 2, argv + 2, &o)) {
        if (o.help) {
            help_command(stdout, c);
            rc = EXIT_OK;
        } else {
            if (nino_settings_problem())
                say("warning: %s", nino_settings_problem());
            rc = c->run(&o);
        }
    }
    options_release(&o);
    return finish(rc);
}
