// What storing 16 bits costs in accuracy, measured: a node's results against those of the same node
// in fp32, on the same inputs.
#include "core/run/execute_priv.h"

#include <stdlib.h>

#include "core/base/vars.h"
#include "core/tensor/difference.h"

static const nino_array *array_of(const nino_value *v)
{
    if (!v || v->is_list)
        return NULL;
    return v->type == NINO_PORT_LATENT  ? v->u.latent.samples
           : v->type == NINO_PORT_IMAGE ? v->u.image
           : v->type == NINO_PORT_MASK  ? v->u.mask
           : v->type == NINO_PORT_CONDITIONING && v->u.cond && v->u.cond->n
               ? v->u.cond->entry[0].context
               : NULL;
}

// The network of a node, by the first of its inputs that has one; "": none.
static const char *network_of(const nino_gnode *n, nino_value *const *in)
{
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++) {
        const nino_value *v = in[k];
        if (!v || v->is_list)
            continue;
        if (v->type == NINO_PORT_MODEL && v->u.model)
            return v->u.model->net->name;
        if (v->type == NINO_PORT_GUIDER && v->u.guider)
            return v->u.guider->model->net->name;
        if (v->type == NINO_PORT_CLIP && v->u.clip)
            return v->u.clip->name;
        if (v->type == NINO_PORT_VAE && v->u.vae)
            return v->u.vae->name;
    }
    return "";
}

static void tell(nino_exec *x, const nino_gnode *n, const char *network, const char *port,
                 const nino_value *exact, const nino_value *got)
{
    const nino_array *a = array_of(exact), *b = array_of(got);
    if (!a || !b || a->dtype != NINO_F32 || b->dtype != NINO_F32 ||
        !nino_shape_equal(&a->shape, &b->shape))
        return;
    const nino_difference d = nino_array_difference(a, b);
    nino_exec_say(x, NINO_LOG_WARN,
                  "%s %s%s%s: %s in %s against fp32, on the same inputs: NMSE %.2e, PSNR %.1f dB, "
                  "largest difference %.3g",
                  n->id, n->class_type, *network ? ", network " : "", network, port,
                  nino_precision_name(nino_stream_asked_precision(x->stream)), d.nmse, d.psnr,
                  d.most);
}

void nino_exec_measure_error(run_state *rs, const nino_gnode *n, node_state *s, node_run *r,
                             uint64_t n_ops)
{
    nino_exec *x = rs->x;
    const nino_precision was = nino_stream_asked_precision(x->stream);
    const bool is_wide = nino_stream_precision(x->stream) == NINO_PREC_F32;
    nino_value **exact = calloc((size_t) s->n_out + 1, sizeof(*exact));
    nino_error e = { .code = NINO_OK };
    // Of what an output node writes there must be one only; without ops there is nothing to see.
    if (!exact || is_wide || x->is_plan || n->def->is_output ||
        nino_stream_backend(x->stream)->n_ops == n_ops) {
        free(exact);
        return;
    }
    const nino_run before = r->base; // services get from r->base to r: it is lent
    r->base.out = exact;
    r->base.key = NULL; // its steps are not those that a run goes on with
    nino_stream_set_precision(x->stream, NINO_PREC_F32);
    const nino_status st = n->def->ops->run(&r->base, &e);
    nino_stream_set_precision(x->stream, was);
    r->base = before;
    if (st) {
        nino_exec_say(x, NINO_LOG_WARN, "%s %s: no error is measured: %s", n->id, n->class_type,
                      e.msg);
        nino_stream_clear_error(x->stream);
    }
    for (int k = 0; k < s->n_out; k++) {
        if (!st)
            tell(x, n, network_of(n, before.in), n->def->outputs[k].key, exact[k], s->out[k]);
        nino_value_unref(&exact[k]);
    }
    free(exact);
}
