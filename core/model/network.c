// What every diffusion network asks of its inputs.
#include "core/model/network.h"

// Are the videos to follow of the latent's size?
static bool same_video(const nino_diffusion *d, const nino_forward *f)
{
    for (int i = 0; i < f->n_controls; i++) {
        for (int k = 0; k < 4; k++)
            if (nino_dim(f->control[i], k) != nino_dim(f->x, k))
                return false;
        if (nino_dim(f->control[i], 4) != d->control_dim)
            return false;
    }
    return true;
}

void nino_forward_check(nino_stream *s, const nino_diffusion *d, const nino_forward *f)
{
    const bool is_video = d->format->time_factor > 1;
    const int64_t batch = nino_dim(f->x, 0);
    const int64_t channels = nino_dim(f->x, -1) + nino_dim(f->concat, -1);
    if (nino_stream_status(s, NULL))
        return;
    if (nino_shape_of(f->x)->rank != 4 + is_video || channels != d->in_channels)
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "it takes %d channels, the latent and what goes with it have %lld",
                         d->in_channels, (long long) channels);
    else if (nino_shape_of(f->context)->rank != 3 || nino_dim(f->context, 2) != d->context_dim)
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "the conditioning is %lld wide where %d is needed: it was made by the "
                         "text encoder of another model",
                         (long long) nino_dim(f->context, 2), d->context_dim);
    else if (f->context_mask && nino_dim(f->context_mask, 1) != nino_dim(f->context, 1))
        nino_stream_fail(s, NINO_ERR_ARG, d->name, "the prompt's mask has %lld of its %lld tokens",
                         (long long) nino_dim(f->context_mask, 1),
                         (long long) nino_dim(f->context, 1));
    else if (f->y && d->y_dim && nino_dim(f->y, 1) != d->y_dim)
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "the pooled conditioning is %lld wide where %d is needed",
                         (long long) nino_dim(f->y, 1), d->y_dim);
    else if (f->vision && d->vision_dim && nino_dim(f->vision, 2) != d->vision_dim)
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "the picture's encoding is %lld wide where %d is needed: it was made by "
                         "another image encoder",
                         (long long) nino_dim(f->vision, 2), d->vision_dim);
    else if (f->n_controls && !d->control_dim)
        nino_stream_fail(s, NINO_ERR_ARG, d->name, "this model does not follow videos");
    else if (f->n_controls > NINO_COND_CONTROLS || !same_video(d, f))
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "at most %d videos to follow, of the latent's size and %d channels",
                         NINO_COND_CONTROLS, d->control_dim);
    else if (f->residuals && !d->has_residuals) {
        nino_residuals_release(f->residuals);
        nino_stream_fail(s, NINO_ERR_UNSUPPORTED, d->name,
                         "control networks for this family (%s) are not known", d->family);
    } else if (f->frames && f->frames != nino_dim(f->x, 1))
        nino_stream_fail(s, NINO_ERR_ARG, d->name, "%lld time steps for %lld frames",
                         (long long) f->frames, (long long) nino_dim(f->x, 1));
    else if (nino_dim(f->context, 0) != batch || (f->y && nino_dim(f->y, 0) != batch))
        nino_stream_fail(s, NINO_ERR_ARG, d->name, "latent and conditioning differ in batch size");
}
