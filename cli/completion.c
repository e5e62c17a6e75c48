// Shell completion and the manual page, written from the option tables.
#include "commands.h"

#include <ctype.h>
#include <string.h>

typedef enum value_kind { VALUE_NONE, VALUE_DIR, VALUE_FILE, VALUE_CHOICE, VALUE_TEXT } value_kind;

static value_kind completion_value_of(const char *arg)
{
    if (!arg || !*arg)
        return VALUE_NONE;
    if (!strcmp(arg, "DIR"))
        return VALUE_DIR;
    if (strstr(arg, "FILE") || !strcmp(arg, "WORKFLOW"))
        return VALUE_FILE;
    return strchr(arg, '|') && arg[0] >= 'a' ? VALUE_CHOICE : VALUE_TEXT;
}

// The words of "a|b|c more" with spaces between.
static void words(FILE *f, const char *choices)
{
    for (; *choices && *choices != ' '; choices++)
        fputc(*choices == '|' ? ' ' : *choices, f);
}

// Text inside single quotes, without what ends them.
static void quoted(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s != '\'' && *s != '[' && *s != ']' && *s != ':')
            fputc(*s, f);
}

static void bash_options(FILE *f, const command *c)
{
    for (const opt *d = c->opts; d->name; d++) {
        if (d->letter)
            fprintf(f, "-%c ", d->letter);
        fprintf(f, "--%s%s", d->name, d[1].name ? " " : "");
    }
}

static void bash(FILE *f)
{
    fputs("# bash completion of ninodes\n_ninodes()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local cmd=${COMP_WORDS[1]}\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"",
          f);
    for (const command *c = commands; c->name; c++)
        fprintf(f, "%s ", c->name);
    fputs("--version --help\" -- \"$cur\"))\n        return\n    fi\n    case $cmd in\n", f);
    for (const command *c = commands; c->name; c++) {
        fprintf(f, "    %s)\n        case $prev in\n", c->name);
        for (const opt *d = c->opts; d->name; d++) {
            const value_kind v = completion_value_of(d->arg);
            if (v == VALUE_NONE)
                continue;
            fprintf(f, "        --%s", d->name);
            if (d->letter)
                fprintf(f, "|-%c", d->letter);
            if (v == VALUE_CHOICE) {
                fputs(") COMPREPLY=($(compgen -W \"", f);
                words(f, d->arg);
                fputs("\" -- \"$cur\")); return;;\n", f);
            } else {
                fprintf(f, ") %s return;;\n",
                        v == VALUE_DIR    ? "COMPREPLY=($(compgen -d -- \"$cur\"));"
                        : v == VALUE_FILE ? "COMPREPLY=($(compgen -f -- \"$cur\"));"
                                          : "");
            }
        }
        fputs("        esac\n        case $cur in\n        -*) COMPREPLY=($(compgen -W \"", f);
        bash_options(f, c);
        fputs("\" -- \"$cur\"));;\n        *) COMPREPLY=($(compgen ", f);
        if (completion_value_of(c->args) == VALUE_CHOICE || strchr(c->args, '|')) {
            fputs("-f -W \"", f);
            if (c->args[0] >= 'a')
                words(f, c->args);
            fputs("\"", f);
        } else if (!strcmp(c->name, "help")) {
            fputs("-W \"", f);
            for (const command *k = commands; k->name; k++)
                fprintf(f, "%s%s", k == commands ? "" : " ", k->name);
            fputs("\"", f);
        } else {
            fputs(completion_value_of(c->args) == VALUE_FILE ? "-f" : "-W \"\"", f);
        }
        fputs(" -- \"$cur\"));;\n        esac;;\n", f);
    }
    fputs("    esac\n}\ncomplete -o filenames -F _ninodes ninodes\n", f);
}

static void zsh(FILE *f)
{
    fputs("#compdef ninodes\n_ninodes() {\n    local -a cmds\n    cmds=(\n", f);
    for (const command *c = commands; c->name; c++) {
        fprintf(f, "        '%s:", c->name);
        quoted(f, c->summary);
        fputs("'\n", f);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command cmds\n        return\n"
          "    fi\n    local cmd=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
          "    case $cmd in\n",
          f);
    for (const command *c = commands; c->name; c++) {
        fprintf(f, "    %s)\n        _arguments", c->name);
        for (const opt *d = c->opts; d->name; d++)
            for (int form = d->letter ? 0 : 1; form < 2; form++) {
                const value_kind v = completion_value_of(d->arg);
                fprintf(f, " \\\n            '%s", d->kind == OPT_LIST ? "*" : "");
                if (form)
                    fprintf(f, "--%s", d->name);
                else
                    fprintf(f, "-%c", d->letter);
                fputs("[", f);
                quoted(f, d->help);
                fputs("]", f);
                if (v != VALUE_NONE) {
                    fputs(":", f);
                    quoted(f, d->arg);
                    fputs(v == VALUE_DIR ? ":_files -/" : v == VALUE_FILE ? ":_files" : ":", f);
                    if (v == VALUE_CHOICE) {
                        fputs("(", f);
                        words(f, d->arg);
                        fputs(")", f);
                    }
                }
                fputs("'", f);
            }
        if (completion_value_of(c->args) == VALUE_CHOICE ||
            (*c->args >= 'a' && strchr(c->args, '|'))) {
            fputs(" \\\n            '1:what:(", f);
            words(f, c->args);
            fputs(")'", f);
        }
        fputs(c->max_args ? " \\\n            '*:file:_files';;\n" : ";;\n", f);
    }
    fputs("    esac\n}\n_ninodes \"$@\"\n", f);
}

static void fish(FILE *f)
{
    fputs("# fish completion of ninodes\n", f);
    for (const command *c = commands; c->name; c++) {
        fprintf(f, "complete -c ninodes -n __fish_use_subcommand -f -a %s -d '", c->name);
        quoted(f, c->summary);
        fputs("'\n", f);
    }
    for (const command *c = commands; c->name; c++) {
        for (const opt *d = c->opts; d->name; d++) {
            const value_kind v = completion_value_of(d->arg);
            fprintf(f, "complete -c ninodes -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                    d->name);
            if (d->letter)
                fprintf(f, " -s %c", d->letter);
            if (v != VALUE_NONE)
                fputs(v == VALUE_FILE || v == VALUE_DIR ? " -r -F" : " -x", f);
            if (v == VALUE_CHOICE) {
                fputs(" -a '", f);
                words(f, d->arg);
                fputs("'", f);
            }
            fputs(" -d '", f);
            quoted(f, d->help);
            fputs("'\n", f);
        }
        if (*c->args >= 'a' && strchr(c->args, '|')) {
            fprintf(f, "complete -c ninodes -n '__fish_seen_subcommand_from %s' -a '", c->name);
            words(f, c->args);
            fputs("'\n", f);
        }
    }
}

// Text with what roff would obey made harmless.
static void roff(FILE *f, const char *s)
{
    for (bool start = true; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            fputs("\\&", f);
        if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '-')
            fputs("\\-", f);
        else
            fputc(*s, f);
        start = *s == '\n';
    }
}

static void manual_options(FILE *f, const command *c)
{
    for (const opt *d = c->opts; d->name; d++) {
        fputs(".TP\n", f);
        if (d->letter)
            fprintf(f, "\\fB\\-%c\\fR, ", d->letter);
        fputs("\\fB\\-\\-", f);
        roff(f, d->name);
        fprintf(f, "\\fR%s", d->arg ? " " : "");
        roff(f, d->arg ? d->arg : "");
        fputs("\n", f);
        roff(f, d->help);
        fputs("\n", f);
    }
}

static void manual_exits(FILE *f)
{
    fputs(".SH EXIT STATUS\n", f);
    for (const exit_row *e = exit_rows; e->text; e++) {
        fprintf(f, ".TP\n%d\n", e->code);
        roff(f, e->text);
        fputs("\n", f);
    }
}

static void manual(FILE *f)
{
    fprintf(f,
            ".TH NINODES 1 \"\" \"ninodes %s\" \"User Commands\"\n.SH NAME\n"
            "ninodes \\- run ComfyUI workflows on OpenCL, measured\n.SH SYNOPSIS\n"
            ".B ninodes\nCOMMAND ...\n.SH COMMANDS\n",
            nino_version());
    for (const command *c = commands; c->name; c++) {
        fprintf(f, ".SS ninodes %s ", c->name);
        roff(f, c->args);
        fputs("\n", f);
        roff(f, c->summary);
        fputs(".\n.br\n", f);
        roff(f, c->more);
        manual_options(f, c);
    }
    manual_exits(f);
}

static void manual_of(FILE *f, const command *c)
{
    fputs(".TH NINODES\\-", f);
    for (const char *p = c->name; *p; p++)
        fputc(toupper((unsigned char) *p), f);
    fprintf(f, " 1 \"\" \"ninodes %s\" \"User Commands\"\n.SH NAME\nninodes\\-%s \\- ",
            nino_version(), c->name);
    roff(f, c->summary);
    fprintf(f, "\n.SH SYNOPSIS\n.B ninodes %s\n", c->name);
    roff(f, c->args);
    fprintf(f, "%s[options]\n.SH DESCRIPTION\n", *c->args ? " " : "");
    roff(f, c->summary);
    fputs(".\n.br\n", f);
    roff(f, c->more);
    fputs(".SH OPTIONS\n", f);
    manual_options(f, c);
    manual_exits(f);
    fputs(".SH SEE ALSO\n.BR ninodes (1)\n", f);
}

bool completion_print(FILE *f, const char *shell, const char *of)
{
    const command *c = of ? command_find(of) : NULL;
    const bool is_manual = !strcmp(shell, "man");
    if (of && (!is_manual || !c))
        return false;
    if (!strcmp(shell, "bash"))
        bash(f);
    else if (!strcmp(shell, "zsh"))
        zsh(f);
    else if (!strcmp(shell, "fish"))
        fish(f);
    else if (is_manual && c)
        manual_of(f, c);
    else if (is_manual)
        manual(f);
    else
        return false;
    return true;
}
