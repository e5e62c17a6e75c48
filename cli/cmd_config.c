// ninodes config: the settings, where each comes from, what it changes; and changing one.
#include "commands.h"

#include <string.h>

static const char *source_words(const nino_config_value *v, char *buf, size_t size)
{
    switch (v->source) {
    case NINO_CONFIG_FILE: snprintf(buf, size, "%s, line %d", v->where, v->line); break;
    case NINO_CONFIG_VARIABLE: snprintf(buf, size, "the environment, %s", v->where); break;
    case NINO_CONFIG_SET: snprintf(buf, size, "the command line, %s", v->where); break;
    default: snprintf(buf, size, "the default"); break;
    }
    return buf;
}

// The key without its section; a heading first where a section begins.
static const char *below_heading(const char *key, char section[64], bool shows)
{
    const size_t n = strcspn(key, ".");
    if (!key[n])
        return key;
    if (strncmp(section, key, n) != 0 || section[n]) {
        snprintf(section, 64, "%.*s", (int) n, key);
        if (shows)
            printf("\n[%s]\n", section);
    }
    return key + n + 1;
}

static void print_file(void)
{
    char section[64] = "";
    for (const nino_config_row *r = nino_config_rows(); r->key; r++) {
        nino_config_value v;
        nino_config_get(r->key, &v);
        const char *name = below_heading(r->key, section, true);
        const char *quote = strpbrk(v.text, " #\t") || !*v.text ? "\"" : "";
        printf("%s%s = %s%s%s\n", v.source == NINO_CONFIG_DEFAULT ? "# " : "", name, quote, v.text,
               quote);
    }
}

static void explain(void)
{
    char from[512];
    for (const nino_config_row *r = nino_config_rows(); r->key; r++) {
        nino_config_value v;
        nino_config_get(r->key, &v);
        printf("%s = %s\n", r->key, *v.text ? v.text : "\"\"");
        printf("    from     %s\n", source_words(&v, from, sizeof(from)));
        printf("    changes  %s\n", r->help);
        printf("    takes    %s; default %s\n", r->values, *r->def ? r->def : "none");
        printf("    set by   %s%s--config %s=..., %s%s\n", r->flag, *r->flag ? ", " : "", r->key,
               r->variable, r->is_for_any_folder ? "" : "; not in a working folder");
    }
    if (nino_settings_problem())
        printf("\nwrong: %s\n", nino_settings_problem());
}

static const char *source_name(nino_config_source s)
{
    static const char *const names[] = { "default", "file", "environment", "option" };
    return names[s];
}

static void print_json(void)
{
    js_envelope("config");
    js_open("settings", '[');
    for (const nino_config_row *r = nino_config_rows(); r->key; r++) {
        nino_config_value v;
        nino_config_get(r->key, &v);
        js_open(NULL, '{');
        js_text("key", r->key);
        js_text("value", v.text);
        js_text("source", source_name(v.source));
        js_text("where", v.where);
        js_int("line", v.line);
        js_text("default", r->def);
        js_text("values", r->values);
        js_text("variable", r->variable);
        js_text("changes", r->help);
        js_close('}');
    }
    js_close(']');
    js_text("problem", nino_settings_problem());
    js_envelope_end();
}

static int change(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_config_value v;
    const char *word = o->arg[0], *key = o->arg[1];
    const bool is_set = !strcmp(word, "set");
    if (!one_of("get|set|unset", word) || o->n_args != (is_set ? 3 : 2)) {
        say("config: get KEY, set KEY VALUE or unset KEY");
        return EXIT_USAGE;
    }
    if (!strcmp(word, "get") && nino_config_get(key, &v)) {
        printf("%s\n", v.text);
        return EXIT_OK;
    }
    if (!strcmp(word, "get"))
        nino_config_set(key, "", "", &err); // says what it thinks is meant
    else if (!nino_config_write(key, is_set ? o->arg[2] : NULL, &err))
        return EXIT_OK;
    const int rc = report_error(o, "config", &err, NULL);
    return err.code == NINO_ERR_UNKNOWN || err.code == NINO_ERR_RANGE ? EXIT_USAGE : rc;
}

int cmd_config(const options *o)
{
    if (o->n_args)
        return change(o);
    if (o->json)
        print_json();
    else if (o->explain)
        explain();
    else
        print_file();
    if (!nino_settings_problem())
        return EXIT_OK;
    say("config: %s", nino_settings_problem());
    return EXIT_USAGE;
}
