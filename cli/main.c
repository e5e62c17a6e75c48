// ninodes: the command line program. Uses public headers only.
#include "commands.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static int no_such_command(const char *word)
{
    const char *names[48];
    size_t n = 0;
    for (const command *c = commands; c->name && n < 48; c++)
        names[n++] = c->name;
    const char *near = nino_nearest(word, names, n);
    if (near)
        say("unknown command %s (did you mean %s?)", word, near);
    else
        say("unknown command %s (ninodes help lists them)", word);
    return EXIT_USAGE;
}

// Classes of other programs, before a workflow is read.
static int read_info(const command *c, const options *o)
{
    nino_error err = { .code = NINO_OK };
    for (size_t i = 0; i < o->object_info.n; i++)
        if (nino_node_add_info(o->object_info.item[i], &err)) {
            const int rc =
                report_error(o, c->name, &err,
                             "--object-info FILE: curl http://127.0.0.1:8188/object_info "
                             "writes one while ComfyUI runs");
            return err.code == NINO_ERR_IO       ? EXIT_MISSING
                   : err.code == NINO_ERR_FORMAT ? EXIT_USAGE
                                                 : rc;
        }
    return EXIT_OK;
}

static bool set_one(const command *c, const char *key, const char *value, const char *where)
{
    nino_error err = { .code = NINO_OK };
    if (!value || !nino_config_set(key, value, where, &err))
        return true;
    say("%s: %s: %s: %s", c->name, where, err.where, err.msg);
    return false;
}

// --config KEY=VALUE, and the options that stand for a setting.
static bool set_settings(const command *c, const options *o)
{
    bool ok = true;
    for (size_t i = 0; i < o->config.n && ok; i++) {
        const char *text = o->config.item[i], *equals = strchr(text, '=');
        char key[128];
        snprintf(key, sizeof(key), "%.*s", (int) strcspn(text, "="), text);
        if (!equals)
            say("%s: --config needs KEY=VALUE, not %s", c->name, text);
        ok = equals && set_one(c, key, equals + 1, "--config");
    }
    return ok && set_one(c, "precision.mode", o->precision, "--precision") &&
           set_one(c, "device", o->device, "--device") && set_one(c, "gemm", o->gemm, "--gemm") &&
           set_one(c, "mem_limit", o->mem_limit_text, "--mem-limit") &&
           set_one(c, "trace", o->trace, "--trace") &&
           set_one(c, "run.input", o->input, "--input") &&
           set_one(c, "run.preview", o->preview, "--preview");
}

// Data that did not reach its reader is a failure, unless the reader left on purpose (head).
static int main_finish(int rc)
{
    if (fflush(stdout) || ferror(stdout)) {
        if (errno == EPIPE)
            return rc;
        say("stdout: %s", strerror(errno));
        return rc ? rc : EXIT_RUN;
    }
    return rc;
}

// Whoever asked for JSON gets an envelope, whatever ended the command: also a command line that
// could not be read.
static int finish_json(int argc, char **argv, int rc)
{
    bool is_json = false;
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
        is_json |= !strcmp(argv[i], "--json");
    if (!is_json || !rc || js_has_envelope())
        return main_finish(rc);
    const char *why = last_said(), *code = rc == EXIT_USAGE   ? "usage"
                                           : rc == EXIT_LOST  ? "lost"
                                           : rc == EXIT_NOMEM ? "nomem"
                                                              : "failed";
    const size_t n = strlen(argv[1]);
    if (!strncmp(why, argv[1], n) && !strncmp(why + n, ": ", 2))
        why += n + 2;
    for (const exit_row *e = exit_rows; !*why && e->text; e++)
        why = (int) e->code == rc ? e->text : why;
    js_envelope_error(argv[1], code, why, "", NULL);
    return main_finish(rc);
}

int main(int argc, char **argv)
{
    int status;
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of the write, also in a driver
    if (nino_helper_main(argc, argv, &status))
        return status;
    out_open();
    if (argc < 2) {
        help_all(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("ninodes %s\n", nino_version());
        return main_finish(EXIT_OK);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_all(stdout);
        return main_finish(EXIT_OK);
    }
    const command *c = command_find(argv[1]);
    if (!c)
        return finish_json(argc, argv, no_such_command(argv[1]));
    options o = { .n_args = 0 };
    int rc = EXIT_USAGE;
    if (options_parse(c, argc - 2, argv + 2, &o)) {
        if (o.help) {
            help_command(stdout, c);
            rc = EXIT_OK;
        } else {
            rc = set_settings(c, &o) ? EXIT_OK : EXIT_USAGE;
            if (!rc && !one_of("config|doctor|help|completion", c->name) &&
                nino_settings_problem()) {
                say("%s (ninodes config --explain)", nino_settings_problem());
                rc = EXIT_USAGE;
            }
            if (!rc)
                crash_guard(c, argv, &o);
            rc = rc ? rc : read_info(c, &o);
            if (rc == EXIT_OK)
                rc = c->run(&o);
        }
    }
    options_release(&o);
    return finish_json(argc, argv, rc);
}
