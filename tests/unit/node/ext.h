// One node of an extension in a test, its parameters, inputs and outputs as text.
#pragma once
#include "core/node/ext/ext.h"
#include "tests/node.h"

// A value from text: 5, 2.5, true, 'text'.
static inline nino_value *ext_value(const char *s)
{
    nino_value *v = NULL;
    if (*s == '\'') {
        v = node_value(NINO_PORT_STRING);
        v->u.string = strndup(s + 1, strlen(s) - 2);
    } else if (!strcmp(s, "true") || !strcmp(s, "false")) {
        v = node_value(NINO_PORT_BOOLEAN);
        v->u.b = *s == 't';
    } else if (strchr(s, '.')) {
        v = node_value(NINO_PORT_FLOAT);
        v->u.f = atof(s);
    } else {
        v = node_value(NINO_PORT_INT);
        v->u.i = atoll(s);
    }
    return v;
}

// "key=text|key=text": parameters, or inputs that take values.
static inline void ext_set(const char *pairs)
{
    char *all = strdup(pairs), *next = NULL;
    for (char *s = all; s && *s; s = next) {
        char *eq = strchr(s, '=');
        CHECK(eq);
        next = strchr(eq, '|');
        if (next)
            *next++ = 0;
        *eq = 0;
        if (nino_param_find(node.run.def, s))
            node_set(s, eq + 1);
        else
            node_give(s, ext_value(eq + 1));
    }
    free(all);
}

static inline const char *ext_out(int i)
{
    static nino_buf b;
    nino_buf_clear(&b);
    nino_ext_text(&b, node.out[i]);
    return b.data;
}

// Runs a class with these settings; output i as text is `want`.
static inline void ext_check(int line, const char *class_type, const char *pairs, int i,
                             const char *want)
{
    node_new(class_type);
    ext_set(pairs);
    node_go();
    if (strcmp(ext_out(i), want)) {
        fprintf(stderr, "line %d: %s (%s) output %d is %s, expected %s\n", line, class_type, pairs,
                i, ext_out(i), want);
        exit(1);
    }
}
#define GIVES(class_type, pairs, i, want) ext_check(__LINE__, class_type, pairs, i, want)

// The run fails, and names the input.
#define REFUSES(class_type, pairs, kind, where)                                                    \
    do {                                                                                           \
        node_new(class_type);                                                                      \
        ext_set(pairs);                                                                            \
        node_fails(kind, where);                                                                   \
    } while (0)
