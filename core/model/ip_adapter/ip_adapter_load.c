// Reading IP-Adapters: which projection a file has comes from its names, all sizes from its shapes.
// Names: tencent-ailab/IP-Adapter, h94/IP-Adapter; resampler: Alayrac et al., Flamingo (2022).
#include "core/model/ip_adapter/ip_adapter_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/loader.h"

#define HEAD 64 // channels of a head of the resampler, unless the file says otherwise

static void load_plain(nino_loader *l, nino_ip_adapter *a, ip_projection *p)
{
    nino_load_linear(l, "image_proj.proj", -1, &p->in);
    const int64_t rows = nino_load_rows(l, p->in.w);
    if (!l->st && (rows % a->out || !rows))
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "image_proj.proj.weight has %lld rows, which are no tokens of width %d",
                       (long long) rows, a->out);
    nino_load_norm(l, "image_proj.norm", a->out, 1, 1e-5f, &p->norm);
}

static void load_full(nino_loader *l, const nino_ip_adapter *a, ip_projection *p)
{
    nino_load_linear(l, "image_proj.proj.0", -1, &p->in);
    p->in.act = NINO_ACT_GELU;
    nino_load_linear(l, "image_proj.proj.2", nino_load_rows(l, p->in.w), &p->out);
    nino_load_expect(l, "image_proj.proj.2", &p->out, a->out);
    nino_load_norm(l, "image_proj.proj.3", a->out, 1, 1e-5f, &p->norm);
}

static void load_resampler_block(nino_loader *l, int i, int64_t c, ip_block *b)
{
    const nino_name attn = nino_name_of("image_proj.layers.%d.0", i);
    const nino_name kv = nino_name_of("%s.to_kv", attn.s);
    const nino_name ff = nino_name_of("image_proj.layers.%d.1", i);
    nino_load_norm(l, nino_name_of("%s.norm1", attn.s).s, c, 1, 1e-5f, &b->norm_states);
    nino_load_norm(l, nino_name_of("%s.norm2", attn.s).s, c, 1, 1e-5f, &b->norm_tokens);
    nino_load_linear(l, nino_name_of("%s.to_q", attn.s).s, c, &b->q);
    const int64_t inner = nino_load_rows(l, b->q.w);
    nino_load_part(l, (nino_weight_part){ .name = kv.s, .rows = inner }, c, &b->k);
    nino_load_part(l, (nino_weight_part){ .name = kv.s, .row0 = inner }, c, &b->v);
    nino_load_expect(l, kv.s, &b->v, inner);
    nino_load_linear(l, nino_name_of("%s.to_out", attn.s).s, inner, &b->o);
    nino_load_expect(l, nino_name_of("%s.to_out", attn.s).s, &b->o, c);
    b->heads = nino_load_heads(l, inner, inner >= HEAD ? (int) (inner / HEAD) : 1);
    nino_load_norm(l, nino_name_of("%s.0", ff.s).s, c, 1, 1e-5f, &b->norm_ff);
    nino_load_linear(l, nino_name_of("%s.1", ff.s).s, c, &b->up);
    b->up.act = NINO_ACT_GELU;
    nino_load_linear(l, nino_name_of("%s.3", ff.s).s, nino_load_rows(l, b->up.w), &b->down);
    nino_load_expect(l, nino_name_of("%s.3", ff.s).s, &b->down, c);
}

static void load_resampler(nino_loader *l, const nino_ip_adapter *a, ip_projection *p)
{
    const nino_tensor_info *t = nino_weights_find(l->file, "image_proj.latents");
    if (t->rank != 3 || t->dim[0] != 1) {
        nino_load_fail(l, NINO_ERR_FORMAT, "image_proj.latents is not of the form [1,T,C]");
        return;
    }
    nino_load_table(l, t, &p->queries);
    nino_load_linear(l, "image_proj.proj_in", -1, &p->in);
    nino_load_expect(l, "image_proj.proj_in", &p->in, t->dim[2]);
    p->n_blocks = nino_load_count(l, "image_proj.layers.");
    p->block = nino_load_alloc(l, (size_t) p->n_blocks + 1, sizeof(*p->block));
    for (int i = 0; i < p->n_blocks && !l->st; i++)
        load_resampler_block(l, i, t->dim[2], &p->block[i]);
    nino_load_linear(l, "image_proj.proj_out", t->dim[2], &p->out);
    nino_load_expect(l, "image_proj.proj_out", &p->out, a->out);
    nino_load_norm(l, "image_proj.norm_out", a->out, 1, 1e-5f, &p->norm);
}

// Numbers go up by two: the self-attentions between have none.
static void load_layers(nino_loader *l, nino_ip_adapter *a)
{
    const int n = (nino_load_count(l, "ip_adapter.") + 1) / 2;
    if (!(a->layer = nino_load_alloc(l, (size_t) n + 1, sizeof(*a->layer))))
        return;
    for (int i = 0; i < n && !l->st; i++) {
        const nino_name k = nino_name_of("ip_adapter.%d.to_k_ip", 2 * i + 1);
        const nino_name v = nino_name_of("ip_adapter.%d.to_v_ip", 2 * i + 1);
        nino_load_linear(l, k.s, i ? a->out : -1, &a->layer[i].k);
        if (!i && !l->st)
            a->out = (int) a->layer[0].k.w->c;
        nino_load_linear(l, v.s, a->out, &a->layer[i].v);
        nino_load_expect(l, v.s, &a->layer[i].v, nino_load_rows(l, a->layer[i].k.w));
    }
    a->n_layers = n;
}

// Files of the same form that need more than a picture and CLIP.
static void refuse_others(nino_loader *l)
{
    static const struct {
        const char *tensor, *what;
    } others[] = {
        { "ip_adapter.0.to_q_lora.down.weight", "FaceID, which needs InsightFace" },
        { "ip_adapter.1.to_k_lora.down.weight", "FaceID, which needs InsightFace" },
        { "image_proj.perceiver_resampler.proj_in.weight", "FaceID, which needs InsightFace" },
        { "image_proj.aggregator.layers.0.0.norm1.weight", "Kolors FaceID" },
        { "double_blocks.0.processor.ip_adapter_double_stream_k_proj.weight", "one for Flux" },
        { "ip_adapter.0.to_k_ip.weight", "one for a transformer" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (nino_load_has(l, "%s", others[i].tensor))
            nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                           "this IP-Adapter is %s; this version cannot run it", others[i].what);
    if (!nino_load_has(l, "ip_adapter.1.to_k_ip.weight"))
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "not an IP-Adapter: it has no ip_adapter.1.to_k_ip.weight");
}

static void load_projection(nino_loader *l, nino_ip_adapter *a)
{
    ip_projection *p = nino_load_alloc(l, 1, sizeof(*p));
    if (!(a->projection = p) || l->st)
        return;
    if (nino_load_has(l, "image_proj.latents")) {
        a->kind = NINO_IP_PLUS;
        load_resampler(l, a, p);
    } else if (nino_load_has(l, "image_proj.proj.3.weight")) {
        a->kind = NINO_IP_FULL;
        load_full(l, a, p);
    } else {
        a->kind = NINO_IP_PLAIN;
        load_plain(l, a, p);
    }
    a->in = l->st ? 0 : (int) p->in.w->c;
}

nino_status nino_ip_adapter_load(nino_weights *file, const char *name, nino_ip_adapter **out,
                                 nino_error *err)
{
    nino_ip_adapter *a = calloc(1, sizeof(*a));
    *out = NULL;
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    nino_loader l = { .file = file, .prefix = "", .layers = &a->layers, .where = name, .err = err };
    a->refs = 1;
    a->file = nino_weights_ref(file);
    snprintf(a->name, sizeof(a->name), "%s", name);
    refuse_others(&l);
    load_layers(&l, a);
    load_projection(&l, a);
    if (l.st)
        nino_ip_adapter_unref(&a);
    *out = a;
    return l.st;
}

nino_ip_adapter *nino_ip_adapter_ref(nino_ip_adapter *a)
{
    if (a)
        __atomic_add_fetch(&a->refs, 1, __ATOMIC_RELAXED);
    return a;
}

void nino_ip_adapter_unref(nino_ip_adapter **pa)
{
    nino_ip_adapter *a = *pa;
    *pa = NULL;
    if (!a || __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_layers_release(&a->layers);
    nino_weights_unref(&a->file);
    free(a);
}

nino_image_prompt *nino_image_prompt_ref(nino_image_prompt *p)
{
    if (p)
        __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

void nino_image_prompt_unref(nino_image_prompt **pp)
{
    nino_image_prompt *p = *pp;
    *pp = NULL;
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_ip_adapter_unref(&p->adapter);
    nino_array_unref(&p->positive);
    nino_array_unref(&p->negative);
    nino_array_unref(&p->mask);
    free(p);
}
