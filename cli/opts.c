// Words of the command line as options, and what to say of those that are none.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

bool one_of(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = choices; *p;) {
        const size_t k = strcspn(p, "|");
        if (k == n && !memcmp(p, word, n))
            return true;
        p += k + (p[k] == '|');
    }
    return false;
}

static bool bad_option(const command *c, const char *word)
{
    const char *names[64];
    size_t n = 0;
    char bare[64];
    snprintf(bare, sizeof(bare), "%.*s", (int) strcspn(word, "="), word);
    for (const opt *o = c->opts; o->name && n < 64; o++)
        names[n++] = o->name;
    const char *near = nino_nearest(bare + strspn(bare, "-"), names, n);
    if (near)
        say("%s: unknown option %s (did you mean --%s?)", c->name, bare, near);
    else
        say("%s: unknown option %s (see ninodes help %s)", c->name, bare, c->name);
    return false;
}

static bool parse_number(const char *s, uint64_t *out)
{
    uint64_t v = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (unsigned) (*s - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

bool parse_size(const char *s, uint64_t *out)
{
    char *end;
    if (*s < '0' || *s > '9')
        return false;
    const double v = strtod(s, &end);
    const char *const units = "KMGT";
    double factor = 1;
    const char *u = *end ? strchr(units, *end & ~32) : NULL;
    if (u) {
        for (const char *p = units; p <= u; p++)
            factor *= 1024;
        end++;
        if (*end == 'i' && (end[1] == 'B' || end[1] == 'b'))
            end++;
    }
    if (*end == 'B' || *end == 'b')
        end++;
    if (*end || !(v * factor >= 1 && v * factor < 1e18))
        return false;
    *out = (uint64_t) (v * factor);
    return true;
}

static bool store(const command *c, const opt *d, const char *v, options *o)
{
    void *field = (char *) o + d->offset;
    switch (d->kind) {
    case OPT_FLAG: *(bool *) field = true; return true;
    case OPT_WORD:
        if (!one_of(d->arg, v)) {
            say("%s: --%s is one of %s, not %s", c->name, d->name, d->arg, v);
            return false;
        }
        *(const char **) field = v;
        return true;
    case OPT_TEXT: *(const char **) field = v; return true;
    case OPT_LIST: {
        text_list *l = field;
        const char **item = realloc(l->item, (l->n + 2) * sizeof(*item));
        if (!item) {
            say("out of memory");
            return false;
        }
        l->item = item;
        l->item[l->n++] = v;
        l->item[l->n] = NULL;
        return true;
    }
    case OPT_NUMBER:
        o->has_seed |= field == (void *) &o->seed;
        if (parse_number(v, field))
            return true;
        say("%s: --%s needs a whole number, not %s", c->name, d->name, v);
        return false;
    case OPT_SIZE:
        if (field == (void *) &o->mem_limit)
            o->mem_limit_text = v;
        if (parse_size(v, field))
            return true;
        say("%s: --%s needs a size such as 2GiB or 512M, not %s", c->name, d->name, v);
        return false;
    }
    return false;
}

// The option a word names, and the value that is in the same word, if any.
static const opt *opts_match(const command *c, const char *word, const char **value)
{
    *value = NULL;
    for (const opt *d = c->opts; d->name; d++) {
        const size_t n = strlen(d->name);
        if (word[1] == '-' && !strncmp(word + 2, d->name, n) &&
            (!word[2 + n] || word[2 + n] == '=')) {
            *value = word[2 + n] ? word + 3 + n : NULL;
            return d;
        }
        if (word[1] != '-' && d->letter && word[1] == d->letter &&
            (!word[2] || d->kind != OPT_FLAG)) {
            *value = word[2] ? word + 2 : NULL;
            return d;
        }
    }
    return NULL;
}

bool options_parse(const command *c, int argc, char **argv, options *o)
{
    bool only_args = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *value;
        if (only_args || word[0] != '-' || !word[1]) {
            if (o->n_args == c->max_args) {
                say("%s: %s is one argument too many (usage: ninodes %s %s)", c->name, word,
                    c->name, c->args);
                return false;
            }
            o->arg[o->n_args++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_args = true;
            continue;
        }
        const opt *d = opts_match(c, word, &value);
        if (!d)
            return bad_option(c, word);
        if (d->kind == OPT_FLAG && value) {
            say("%s: --%s takes no value", c->name, d->name);
            return false;
        }
        if (d->kind != OPT_FLAG && !value && i + 1 == argc) {
            say("%s: --%s needs %s", c->name, d->name, d->arg);
            return false;
        }
        if (d->kind != OPT_FLAG && !value)
            value = argv[++i];
        if (!store(c, d, value, o))
            return false;
    }
    if (!o->help && o->n_args < c->min_args) {
        say("%s: nothing given (usage: ninodes %s %s)", c->name, c->name, c->args);
        return false;
    }
    return true;
}

void options_release(options *o)
{
    free(o->models.item);
    free(o->set.item);
    free(o->grid.item);
    free(o->object_info.item);
    free(o->hosts.item);
    free(o->origins.item);
    free(o->config.item);
}

double parse_percent(const char *s)
{
    char *end;
    const double v = strtod(s, &end);
    return end != s && (!*end || !strcmp(end, "%")) && v >= 0 && v < 1e6 ? v : -1;
}
