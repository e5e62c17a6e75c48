// Chroma's approximator: a small network that takes the place of FLUX.1's modulation layers. What it
// gives depends on the time step and the guidance alone, so that it runs once for all time steps of a
// run, or else once for a whole batch.
// Sources: lodestone-rock/flow, Chroma (2025); ComfyUI ldm/chroma/model.py.
#include "core/model/flux/flux.h"
#include "core/model/loader.h"

#include <math.h>

#define NORM_EPS 1e-6f

// 10000^(-k/16) as torch's float32 arithmetic has them: row numbers become angles of up to 343000,
// where the last bit of a rate decides.
static const float rates[16] = {
    1.0f,          0.562341332f,   0.316227764f,    0.177827939f,    0.099999994f,
    0.056234125f,  0.0316227749f,  0.0177827962f,   0.00999999978f,  0.00562341232f,
    0.0031622767f, 0.00177827943f, 0.000999999931f, 0.000562341185f, 0.000316227786f,
    0.00017782794f
};

// n cosines and n sines of 1000 v at every `step`th rate; returns what follows.
static float *flux_put_waves(float *to, float v, int64_t n, int64_t step)
{
    for (int64_t k = 0; k < n; k++) {
        const float angle = rates[step * k] * (1000.0f * v);
        to[k] = (float) cos((double) angle);
        to[n + k] = (float) sin((double) angle);
    }
    return to + 2 * n;
}

void flux_approx_input(float *to, float timestep, float guidance, int row)
{
    to = flux_put_waves(to, timestep, 8, 2);
    to = flux_put_waves(to, guidance, 8, 2);
    flux_put_waves(to, (float) row, 16, 1);
}

// For n time steps: [n,FLUX_APPROX_ROWS,hidden].
static nino_tensor *flux_approx_run(nino_stream *s, const flux *net, const float *t, int64_t n,
                                    float guidance)
{
    const flux_approx *a = &net->approx;
    if (nino_stream_status(s, NULL))
        return NULL;
    nino_array *rows = nino_array_create(NINO_F32, NINO_SHAPE(n, FLUX_APPROX_ROWS, FLUX_APPROX_IN));
    if (!rows)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for the time steps");
    for (int64_t i = 0; i < n * FLUX_APPROX_ROWS; i++)
        flux_approx_input(nino_array_f32(rows) + i * FLUX_APPROX_IN, t[i / FLUX_APPROX_ROWS],
                          guidance, (int) (i % FLUX_APPROX_ROWS));
    nino_tensor *v = nino_linear_op(s, nino_upload(s, rows, nino_stream_act_type(s)), &a->in);
    nino_array_unref(&rows);
    for (int i = 0; i < a->n; i++) {
        const flux_approx_layer *l = &a->layers[i];
        nino_tensor *u = nino_rms_norm(s, nino_ref(v), &l->norm);
        v = nino_linear_add(s, nino_linear_op(s, u, &l->in), &l->out, v);
    }
    return nino_linear_op(s, v, &a->out);
}

// The vectors for all time steps of a run, made by the first evaluation with this guidance; the two
// sides may have one each. NULL: it is a third.
static nino_tensor *flux_approx_kept(nino_stream *s, const flux *net, nino_run_times *k,
                                     float guidance)
{
    if (!k->rows && !nino_run_times_alloc(s, k, 2))
        return NULL;
    for (int i = 0; i < 2; i++) {
        if (!k->rows[i]) {
            nino_scope_begin(s, NINO_EV_STAGE, "flux.times", 0, 0);
            k->rows[i] = flux_approx_run(s, net, k->t, k->n, guidance);
            k->guidance[i] = guidance;
            nino_scope_end(s);
        }
        if (k->guidance[i] == guidance)
            return k->rows[i];
    }
    return NULL;
}

nino_tensor *flux_approximate(nino_stream *s, const flux *net, const nino_forward *f)
{
    const float guidance = isnan(f->guidance) ? 0 : f->guidance;
    const int64_t batch = nino_dim(f->x, 0);
    const int at = nino_run_time_of(s, f->times, f->timestep, batch);
    nino_tensor *all = at < 0 ? NULL : flux_approx_kept(s, net, f->times, guidance);
    if (all)
        return nino_slice(s, nino_ref(all), 0, at, 1);
    int64_t n = 1; // time steps that differ
    for (int64_t i = 1; i < batch; i++)
        n = f->timestep[i] != f->timestep[0] ? batch : n;
    return flux_approx_run(s, net, f->timestep, n, guidance);
}

// ---- reading ---------------------------------------------------------------------------------
static void flux_approx_layer_load(nino_loader *l, const char *base, int i, int64_t width,
                                   flux_approx_layer *out)
{
    const nino_name stem = nino_name_of("%slayers.%d.", base, i);
    const bool is_diffusers = nino_load_has(l, "%slinear_1.weight", stem.s);
    const nino_name in = nino_name_of("%s%s", stem.s, is_diffusers ? "linear_1" : "in_layer");
    const nino_name last = nino_name_of("%s%s", stem.s, is_diffusers ? "linear_2" : "out_layer");
    const nino_name norm =
        nino_name_of("%snorms.%d.%s", base, i, is_diffusers ? "weight" : "scale");
    nino_load_vector(l, norm.s, width, &out->norm.gamma);
    out->norm.eps = NORM_EPS;
    nino_load_linear(l, in.s, width, &out->in);
    out->in.act = NINO_ACT_SILU;
    nino_load_linear(l, last.s, nino_load_rows(l, out->in.w), &out->out);
    nino_load_expect(l, last.s, &out->out, width);
}

void flux_approx_load(nino_loader *l, flux *net)
{
    flux_approx *a = &net->approx;
    const char *base = nino_load_has(l, "distilled_guidance_layer.0.in_proj.weight")
                           ? "distilled_guidance_layer.0."
                           : "distilled_guidance_layer.";
    const nino_name out = nino_name_of("%sout_proj", base);
    const nino_name layers = nino_name_of("%slayers.", base);
    const int n = nino_load_count(l, layers.s);
    nino_load_linear(l, nino_name_of("%sin_proj", base).s, FLUX_APPROX_IN, &a->in);
    const int64_t width = nino_load_rows(l, a->in.w);
    a->layers = nino_load_alloc(l, (size_t) n, sizeof(*a->layers));
    if (!l->st && !n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s0 is missing", l->prefix, layers.s);
    for (int i = 0; i < n && !l->st; i++)
        flux_approx_layer_load(l, base, i, width, &a->layers[i]);
    nino_load_linear(l, out.s, width, &a->out);
    nino_load_expect(l, out.s, &a->out, net->hidden);
    a->n = n;
}
