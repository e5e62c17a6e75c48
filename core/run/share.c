// A run that is one part of several (nino_job_options.shard): which nodes take their share of a
// batch, which run whole in every part, and which are left to the run that joins the parts.
//
// A batch begins to be shared out at the first node that takes long and works on items one by one
// (NINO_ITEMS_SHARED); nodes behind it that also do so go on with the part. Where a node looks at
// several items at once, takes a list, or writes files, the part ends: the values that it would have got are kept
// (parts.c). A batch of one item, and one that cannot be shared out, is done by the last part alone.
// Every part decides the same, from the workflow and the shapes of its values only.
#include "core/run/execute_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

static bool has_items(nino_port_type t)
{
    return t == NINO_PORT_IMAGE || t == NINO_PORT_MASK || t == NINO_PORT_LATENT;
}

// The array whose outermost dimension counts the items; NULL: it has none.
static nino_array *share_array(const nino_value *v)
{
    if (!v || v->is_list || !has_items(v->type))
        return NULL;
    return v->type == NINO_PORT_LATENT  ? v->u.latent.samples
           : v->type == NINO_PORT_IMAGE ? v->u.image
                                        : v->u.mask;
}

static int64_t items_of(const nino_value *v)
{
    const nino_array *a = share_array(v);
    return a && a->shape.rank ? a->shape.dim[0] : 0;
}

// ---- cutting -----------------------------------------------------------------------------------

// Items first ... first + n of a batch that goes round where it has fewer.
static nino_array *cut_array(const nino_array *a, int64_t first, int64_t n)
{
    if (!a || a->shape.dim[0] < 1)
        return NULL;
    nino_shape shape = a->shape;
    const int64_t had = shape.dim[0];
    const size_t item = a->bytes / (size_t) had;
    shape.dim[0] = n;
    nino_array *out = nino_array_create(a->dtype, shape);
    for (int64_t i = 0; out && i < n; i++)
        memcpy((char *) out->data + (size_t) i * item,
               (const char *) a->data + (size_t) ((first + i) % had) * item, item);
    return out;
}

static bool is_all_zero(const nino_array *a)
{
    const float *v = nino_array_f32(a);
    const int64_t n = nino_shape_count(&a->shape);
    int64_t i = 0;
    while (i < n && v[i] == 0)
        i++;
    return i == n;
}

static bool cut_latent(const nino_latent *from, nino_latent *to, int64_t first, int64_t n)
{
    to->samples = cut_array(from->samples, first, n);
    to->noise_mask = cut_array(from->noise_mask, first, n);
    to->factor = from->factor;
    to->part = (nino_batch_part){ .first = first,
                                  .total = from->samples->shape.dim[0],
                                  .has_values = !is_all_zero(from->samples) };
    if (from->batch_index && (to->batch_index = calloc((size_t) n + 1, sizeof(int64_t))))
        memcpy(to->batch_index, from->batch_index + first, (size_t) n * sizeof(int64_t));
    return to->samples && !to->noise_mask == !from->noise_mask &&
           !to->batch_index == !from->batch_index;
}

static nino_value *cut_value(const nino_value *v, int64_t first, int64_t n)
{
    nino_value *out = nino_value_create(v->type);
    bool ok = out != NULL;
    if (ok && v->type == NINO_PORT_LATENT)
        ok = cut_latent(&v->u.latent, &out->u.latent, first, n);
    else if (ok && v->type == NINO_PORT_IMAGE)
        ok = (out->u.image = cut_array(v->u.image, first, n)) != NULL;
    else if (ok)
        ok = (out->u.mask = cut_array(v->u.mask, first, n)) != NULL;
    if (!ok)
        nino_value_unref(&out);
    return out;
}

nino_status nino_share_cut(run_state *rs, int i, node_run *r, nino_error *err)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    const nino_share *own = &rs->node[i].share;
    if (!own->is_split || own->is_one)
        return NINO_OK;
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++) {
        const nino_link l = nino_exec_source(rs, i, k);
        const bool is_part = l.node >= 0 && rs->node[l.node].share.is_split;
        if (is_part || !has_items(n->def->inputs[k].type) || items_of(r->in[k]) <= 1)
            continue;
        if (!(r->in[k] = r->cut[k] = cut_value(r->in[k], own->first, own->count)))
            return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    }
    return NINO_OK;
}

void nino_share_release(node_run *r)
{
    for (int k = 0; k < MAX_PORTS; k++)
        nino_value_unref(&r->cut[k]);
}

// What a node made of its part is a part as well: of as many times more items as it made of each.
nino_status nino_share_tag(run_state *rs, int i, nino_error *err)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    node_state *s = &rs->node[i];
    nino_share *own = &s->share;
    int64_t made = 0;
    if (!own->is_split || own->is_one)
        return NINO_OK;
    for (int k = 0; k < s->n_out; k++) {
        const int64_t items = items_of(s->out[k]);
        if (items && ((made && items != made) || items % own->count))
            return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "shard", n->id,
                                  "%lld items became %lld: this workflow cannot be run in parts",
                                  (long long) own->count, (long long) items);
        made = items ? items : made;
    }
    const int64_t each = made ? made / own->count : 1;
    own->total *= each;
    own->first *= each;
    own->count *= each;
    for (int k = 0; k < s->n_out; k++) {
        nino_value *v = s->out[k];
        if (!v || v->type != NINO_PORT_LATENT || v->u.latent.part.total == own->total)
            continue;
        nino_value *copy = cut_value(v, 0, items_of(v)); // others may have the value, too
        if (!copy)
            return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
        copy->u.latent.part = (nino_batch_part){ .first = own->first, .total = own->total };
        nino_value_unref(&s->out[k]);
        s->out[k] = copy;
    }
    return NINO_OK;
}

// ---- deciding ----------------------------------------------------------------------------------

typedef struct share_in { // what a node is given
    bool has_deferred, has_part, has_list, has_split_param;
    bool is_one;    // every part is whole, and of the last run only
    bool is_uneven; // batches that do not go together
    const nino_share *part;
    int64_t items; // of the longest batch that is no part
} share_in;

static void look_at_source(const run_state *rs, nino_link l, share_in *in)
{
    const node_state *s = &rs->node[l.node];
    const nino_value *v = s->out[l.slot];
    in->has_deferred |= s->share.is_deferred;
    in->has_list |= v && v->is_list;
    if (!s->share.is_split)
        return;
    if (in->part && (in->part->is_one != s->share.is_one ||
                     (!s->share.is_one &&
                      (in->part->total != s->share.total || in->part->count != s->share.count))))
        in->is_uneven = true;
    in->part = &s->share;
    in->has_part = true;
    in->is_one = s->share.is_one;
}

static void look_at_batch(const run_state *rs, int i, int k, share_in *in)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    const nino_link l = nino_exec_source(rs, i, k);
    if (l.node < 0 || rs->node[l.node].share.is_split || !has_items(n->def->inputs[k].type))
        return;
    const int64_t items = items_of(rs->node[l.node].out[l.slot]);
    if (items > 1 && in->items > 1 && items != in->items)
        in->is_uneven = true;
    in->items = items > in->items ? items : in->items;
}

static share_in look(const run_state *rs, int i)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    share_in in = { .part = NULL };
    for (int k = 0; n->def->params && n->def->params[k].key; k++)
        if (n->param_links[k].node >= 0)
            look_at_source(rs, n->param_links[k], &in);
    in.has_split_param = in.has_part;
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        if (nino_exec_source(rs, i, k).node >= 0)
            look_at_source(rs, nino_exec_source(rs, i, k), &in);
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        look_at_batch(rs, i, k, &in);
    return in;
}

static bool is_apart(run_state *rs, int i, const share_in *in)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    const nino_node_ops *ops = n->def->ops;
    nino_value *values[MAX_PORTS] = { NULL };
    if (ops->items == NINO_ITEMS_TOGETHER || in->is_uneven || in->has_list || in->has_split_param)
        return false;
    if (in->has_part && in->items > 1 && in->items != in->part->total)
        return false;
    if (!ops->items_apart_with)
        return true;
    for (int k = 0; n->def->inputs[k].key; k++) {
        const nino_link l = nino_exec_source(rs, i, k);
        values[k] = l.node < 0 ? n->literals[k] : rs->node[l.node].out[l.slot];
    }
    return nino_exec_link_params(rs, n, 0, NULL) || // what is wrong is said when it runs
           ops->items_apart_with(values, n->params);
}

// The values that it would have got, for the run that joins the parts.
static nino_status defer(run_state *rs, int i, nino_error *err)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    nino_status st = NINO_OK;
    rs->node[i].share.is_deferred = true;
    for (int k = 0; n->def->params && n->def->params[k].key && !st; k++)
        if (n->param_links[k].node >= 0)
            st = nino_share_keep(rs, n->param_links[k].node, err);
    for (int k = 0; n->def->inputs && n->def->inputs[k].key && !st; k++)
        if (nino_exec_source(rs, i, k).node >= 0)
            st = nino_share_keep(rs, nino_exec_source(rs, i, k).node, err);
    return st;
}

nino_status nino_share_keep(run_state *rs, int i, nino_error *err)
{
    node_state *s = &rs->node[i];
    if (!s->share.is_split || !s->share.count || s->share.is_kept || rs->x->is_plan)
        return NINO_OK;
    s->share.is_kept = true;
    return nino_parts_add(rs->x->parts, rs->x->g->nodes[i].id, s->out, s->n_out, &s->share, err);
}

bool nino_share_may_begin(run_state *rs, int i)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    bool may = rs->x->n_shards && n->def->ops->items == NINO_ITEMS_SHARED;
    for (int k = 0; n->def->params && n->def->params[k].key; k++)
        may |= n->param_links[k].node >= 0 && rs->node[n->param_links[k].node].share.may_split;
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        may |= n->ports[k].node >= 0 && rs->node[n->ports[k].node].share.may_split;
    return rs->node[i].share.may_split = may;
}

bool nino_share_waits(const run_state *rs, int i) { return look(rs, i).has_deferred; }

// Sets what node i does: rs->node[i].share. *runs: it has something to run on here.
nino_status nino_share_decide(run_state *rs, int i, bool *runs, nino_error *err)
{
    const nino_exec *x = rs->x;
    const nino_gnode *n = &x->g->nodes[i];
    const nino_items_opt items = n->def->ops->items;
    nino_share *own = &rs->node[i].share;
    const share_in in = look(rs, i);
    const bool is_last = x->shard == x->n_shards;
    *runs = true;
    if (n->given[0])
        return NINO_OK;
    const bool stays = in.has_part && in.is_one && !in.is_uneven && !in.has_list &&
                       !in.has_split_param && items != NINO_ITEMS_TOGETHER;
    const bool apart = !in.has_deferred && !n->def->is_output && !stays && is_apart(rs, i, &in);
    const bool is_long_list = items == NINO_ITEMS_SHARED && in.has_list; // once, not in every part
    if (n->def->is_output || in.has_deferred || is_long_list || (in.has_part && !stays && !apart)) {
        *runs = false;
        return defer(rs, i, err);
    }
    if (!in.has_part && (items != NINO_ITEMS_SHARED || !in.items))
        return NINO_OK; // whole, in every part
    own->is_split = true;
    if (stays || !apart || (!in.has_part && in.items == 1)) {
        own->is_one = true;
        own->count = is_last; // counted when it is kept
    } else if (in.has_part) {
        own->first = in.part->first;
        own->count = in.part->count;
        own->total = in.part->total;
    } else {
        own->total = in.items;
        own->first = in.items * (x->shard - 1) / x->n_shards;
        own->count = in.items * x->shard / x->n_shards - own->first;
    }
    *runs = own->count > 0;
    return NINO_OK;
}
