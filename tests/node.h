// Running one node in a test, on the reference backend, with arrays written out in the test.
#pragma once
#include <math.h>

#include "core/base/arena.h"
#include "core/node/param.h"
#include "core/node/util.h"
#include "core/op/backend.h"
#include "tests/test.h"

#define NODE_PORTS 64

static struct {
    nino_backend *be;
    nino_arena *arena;
    nino_run run;
    nino_value *in[NODE_PORTS], *out[NODE_PORTS];
    _Alignas(16) char params[512];
    nino_error err;
} node;

static inline void node_open(void)
{
    node.be = nino_ref_open(0, NULL, &node.err);
    const nino_stream_params sp = { .backend = node.be };
    CHECK_OK(node.be ? NINO_OK : node.err.code, node.err);
    node.run.stream = nino_stream_create(&sp, &node.err);
    node.run.node_id = "7";
    node.run.params = node.params;
    node.run.in = node.in;
    node.run.out = node.out;
    node.arena = nino_arena_create();
    CHECK(node.run.stream && node.arena);
}

static inline void node_clear(void)
{
    for (int i = 0; i < NODE_PORTS; i++) {
        nino_value_unref(&node.in[i]);
        nino_value_unref(&node.out[i]);
    }
}

static inline void node_close(void)
{
    node_clear();
    nino_arena_destroy(&node.arena);
    nino_stream_destroy(&node.run.stream);
    nino_backend_close(&node.be);
}

// Begins a new node with the defaults of its parameters.
static inline void node_new(const char *class_type)
{
    node_clear();
    node.run.def = nino_node_find(class_type, NULL);
    if (!node.run.def)
        fprintf(stderr, "no class %s\n", class_type);
    CHECK(node.run.def && node.run.def->params_size <= sizeof(node.params));
    nino_params_init(node.run.def, node.params);
}

static inline void node_set(const char *key, const char *text)
{
    const nino_param *p = nino_param_find(node.run.def, key);
    nino_default v = { 0 };
    CHECK(p);
    CHECK_OK(nino_param_from_text(p, text, node.arena, &v, &node.err), node.err);
    nino_param_store(p, node.params, &v);
}

// Connects an input; takes the value.
static inline nino_value *node_give(const char *key, nino_value *v)
{
    const nino_port *p = nino_port_find(node.run.def, key);
    CHECK(p && v && (p->type == v->type || p->type == NINO_PORT_ANY));
    const ptrdiff_t i = p - node.run.def->inputs;
    nino_value_unref(&node.in[i]);
    return node.in[i] = v;
}

static inline nino_status node_try(void)
{
    for (int i = 0; i < NODE_PORTS; i++)
        nino_value_unref(&node.out[i]);
    node.err = (nino_error){ 0 };
    return node.run.def->ops->run(&node.run, &node.err);
}

static inline void node_go(void)
{
    CHECK_OK(node_try(), node.err);
    for (int i = 0; node.run.def->outputs[i].key; i++)
        CHECK(node.out[i] && (node.out[i]->type == node.run.def->outputs[i].type ||
                              node.run.def->outputs[i].type == NINO_PORT_ANY));
}

// The run fails for this reason, at this input ("" for any), in one line of text.
static inline void node_fails(const char *kind, const char *where)
{
    CHECK(node_try() != NINO_OK && node.err.code);
    CHECK_STR(node.err.kind, kind);
    CHECK(node.err.msg[0] && !strchr(node.err.msg, '\n'));
    if (*where)
        CHECK_STR(node.err.where, where);
}

// ---- values ----------------------------------------------------------------------------------

static inline nino_array *node_array(nino_shape shape, const float *v, size_t n)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a && (!v || (size_t) nino_shape_count(&shape) == n));
    for (size_t i = 0; v && i < n; i++)
        nino_array_f32(a)[i] = v[i];
    return a;
}
// A(SHAPE(1, 2, 2), 0, 1, 2, 3)
#define SHAPE NINO_SHAPE
#define A(shape, ...)                                                                              \
    node_array(shape, (const float[]){ __VA_ARGS__ },                                              \
               sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))

// 0, 1, 2 ... times `step`
static inline nino_array *node_ramp(nino_shape shape, double step)
{
    nino_array *a = node_array(shape, NULL, 0);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) ((double) i * step);
    return a;
}

static inline nino_value *node_value(nino_port_type type)
{
    nino_value *v = nino_value_create(type);
    CHECK(v);
    return v;
}

static inline nino_value *node_image(nino_array *a)
{
    nino_value *v = node_value(NINO_PORT_IMAGE);
    v->u.image = a;
    return v;
}

static inline nino_value *node_mask(nino_array *a)
{
    nino_value *v = node_value(NINO_PORT_MASK);
    v->u.mask = a;
    return v;
}

static inline nino_value *node_latent(nino_array *a)
{
    nino_value *v = node_value(NINO_PORT_LATENT);
    v->u.latent.samples = a;
    return v;
}

static inline nino_value *node_cond(nino_cond *c)
{
    nino_value *v = node_value(NINO_PORT_CONDITIONING);
    CHECK(c);
    v->u.cond = c;
    return v;
}

static inline nino_array *node_out_image(int i) { return node.out[i]->u.image; }
static inline nino_array *node_out_mask(int i) { return node.out[i]->u.mask; }
static inline nino_array *node_out_samples(int i) { return node.out[i]->u.latent.samples; }

static inline void node_check(const char *file, int line, const nino_array *a, nino_shape shape,
                              float tol, const float *v, size_t n)
{
    char got[96], want[96];
    CHECK(a);
    nino_shape_print(got, sizeof(got), &a->shape);
    nino_shape_print(want, sizeof(want), &shape);
    if (strcmp(got, want)) {
        fprintf(stderr, "%s:%d: shape %s, expected %s\n", file, line, got, want);
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(nino_array_f32(a)[i] - v[i]) <= tol)) {
            fprintf(stderr, "%s:%d: value %zu is %.8g, expected %.8g\n", file, line, i,
                    (double) nino_array_f32(a)[i], (double) v[i]);
            exit(1);
        }
    CHECK((size_t) nino_shape_count(&a->shape) == n);
}
// EXPECT(array, SHAPE(1, 2), 1e-6f, 1.5f, 2.5f)
#define EXPECT(a, shape, tol, ...)                                                                 \
    node_check(__FILE__, __LINE__, a, shape, tol, (const float[]){ __VA_ARGS__ },                  \
               sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))
