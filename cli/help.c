// The help of the program and of its commands.
#include "commands.h"

#include <string.h>

const exit_row exit_rows[] = {
#define EXIT_ROW(name, status, text) { EXIT_##name, text },
    EXIT_CODES(EXIT_ROW)
#undef EXIT_ROW
        { 0 }
};

void help_all(FILE *f)
{
    fprintf(f, "usage: ninodes COMMAND ...\n\n"
               "Runs ComfyUI workflows on OpenCL and says where time and memory go.\n\n");
    for (const command *c = commands; c->name; c++)
        fprintf(f, "  %-11s %s\n", c->name, c->summary);
    fprintf(f,
            "\nninodes help COMMAND says more, ninodes help environment lists the variables,\n"
            "ninodes help counters what runs tell of the machine, ninodes help statistics what is\n"
            "counted of runs; ninodes --version says which this is.\n\nExit status:\n");
    for (const exit_row *e = exit_rows; e->text; e++)
        fprintf(f, "  %-11d %s\n", e->code, e->text);
}

// "-m, --models DIR"
static void option_words(char *buf, size_t size, const opt *d)
{
    char letter[8] = "    ";
    if (d->letter)
        snprintf(letter, sizeof(letter), "-%c, ", d->letter);
    snprintf(buf, size, "%s--%s%s%s", letter, d->name, d->arg ? " " : "", d->arg ? d->arg : "");
}

void help_command(FILE *f, const command *c)
{
    fprintf(f, "usage: ninodes %s%s%s [options]\n\n%s.\n%s\n", c->name, *c->args ? " " : "",
            c->args, c->summary, c->more);
    for (const opt *d = c->opts; d->name; d++) {
        char words[80];
        option_words(words, sizeof(words), d);
        if (strlen(words) <= 30)
            fprintf(f, "  %-30s  %s\n", words, d->help);
        else
            fprintf(f, "  %s\n  %-30s  %s\n", words, "", d->help);
    }
}

static void help_counters(void)
{
    const nino_counter *c;
    for (unsigned id = 1; (c = nino_counter_row(id)); id++)
        printf("%-16s %s%s%s%s\n", c->name, c->text, c->unit ? " [" : "",
               nino_unit_text((nino_unit) c->unit), c->unit ? "]" : "");
    printf(
        "\nWhat runs tell of the machine while somebody watches: the device ten times a second,\n"
        "the rest twice. ninodes monitor, traces, --json and --metrics have them.\n");
}

static void help_statistics(void)
{
    for (const nino_statistic *s = nino_statistics(); s->name; s++) {
        const char *unit = nino_statistic_unit_text(s->unit);
        printf("%s%s%s%s\n    %s\n    = %s\n", s->name, *unit ? " [" : "", unit, *unit ? "]" : "",
               s->definition, s->formula);
    }
    printf(
        "\nWhat is counted of runs. ninodes trace summary, the member \"performance\" of --json\n"
        "and the app have them; n/a or null: nothing was counted that would say it.\n"
        "\nOver kept runs of one workflow, device and models, y_1 ... y_n seconds in their order "
        "of\n"
        "time (ninodes trace trend, the app's list of runs):\n"
        "change [%%]\n    The newest run against the one before.\n    = y_n / y_(n-1) - 1\n"
        "trend [%% a run]\n    By how much a run takes longer (+) or shorter (-) than the one "
        "before, "
        "and the interval\n    of 95 %% that Kendall's S leaves.\n"
        "    = exp(median of (ln y_j - ln y_i) / (j - i), i < j) - 1\n"
        "noise_band [%%]\n    How far runs without a trend lie from its line.\n"
        "    = exp(2 x 1.4826 x MAD of (ln y_i - i x ln(1 + trend))) - 1\n"
        "verdict\n    Slower or faster: the chance of S among runs in random order is at most 5 "
        "%%, "
        "and the\n    trend from the first to the last run is beyond the noise band. S: pairs that "
        "go up less\n    those that go down; its distribution is exact. Fewer than five runs "
        "cannot "
        "tell.\n");
}

int cmd_help(const options *o)
{
    if (!o->n_args) {
        help_all(stdout);
        return EXIT_OK;
    }
    if (!strcmp(o->arg[0], "environment")) {
        for (const nino_variable *v = nino_variables(); v->name; v++)
            printf("%-30s %s%s\n", v->name, v->help, v->is_setting ? " *" : "");
        printf(
            "\n* also a key of ninodes.conf: in the working folder, in $XDG_CONFIG_HOME/ninodes "
            "or\n"
            "in /etc/xdg/ninodes. Options count more than the environment, that more than these\n"
            "files. ninodes config --explain prints every key, its value and where that is "
            "from.\n");
        return EXIT_OK;
    }
    if (!strcmp(o->arg[0], "statistics")) {
        help_statistics();
        return EXIT_OK;
    }
    if (!strcmp(o->arg[0], "counters")) {
        help_counters();
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
    if (completion_print(stdout, o->arg[0], o->n_args > 1 ? o->arg[1] : NULL))
        return EXIT_OK;
    say("completion: not one of bash, zsh, fish, man, man COMMAND");
    return EXIT_USAGE;
}
