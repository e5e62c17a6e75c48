// Host side of the image operations: cl/kernels/image.cl.
#include "cl/cl_schedule.h"
#include "core/base/error.h"
#include "core/op/resample.h"

// Global size for w pixels a row.
static size_t pixels(const nino_cl *cl, int64_t w)
{
    const int64_t run = nino_cl_schedule_now(cl)->grids->pixels; // RUN
    return nino_cl_items(cl, (uint64_t) ((w + run - 1) / run));
}

static nino_block op_image_part(const nino_op_call *c, uint64_t offset)
{
    nino_block b = c->workspace;
    b.offset += offset;
    return b;
}

// Makes the tables of one axis and sends them to the workspace.
static nino_status send_axis(nino_cl *cl, nino_filter f, int64_t in, int64_t out,
                             const nino_block *start, const nino_block *weight, nino_error *err)
{
    nino_backend *be = (nino_backend *) cl;
    nino_resample_axis a;
    nino_status st = nino_resample_make(f, in, out, &a, err);
    if (st)
        return st;
    st = be->impl->upload(be, start, a.start, (size_t) out * 4, err);
    if (!st)
        st = be->impl->upload(be, weight, a.weight, (size_t) out * (size_t) a.taps * 4, err);
    nino_resample_release(&a);
    return st;
}

static nino_status resample(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_resample_layout l = nino_sched_resample(d);
    const int64_t *s = d->src[0].dim, *o = d->dst.dim;
    const nino_block start_x = op_image_part(c, l.start_x), weight_x = op_image_part(c, l.weight_x);
    const nino_block start_y = op_image_part(c, l.start_y), weight_y = op_image_part(c, l.weight_y);
    const nino_block image = op_image_part(c, l.image);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const char *defs = nino_cl_type_defs(d->src_type[0]);
    const nino_cl_what helper = { .d = d, .is_main = false }, what = { .d = d, .is_main = true };
    nino_status st = send_axis(cl, d->attr.filter, s[2], o[2], &start_x, &weight_x, err);
    if (!st)
        st = send_axis(cl, d->attr.filter, s[1], o[1], &start_y, &weight_y, err);
    if (st)
        return st;
    const nino_cl_arg x[] = { A_BUF(&c->src[0]->mem, elem),
                              A_BUF(&start_x, 4),
                              A_BUF(&weight_x, 4),
                              A_BUF(&image, 4),
                              A_INT(s[2]),
                              A_INT(o[2]),
                              A_INT(s[3]),
                              A_INT(l.taps_x) };
    const size_t global_x[] = { pixels(cl, o[2]), (size_t) (s[0] * s[1]) };
    st = nino_cl_launch(cl, "basic", "resample_x", defs, &helper, 2, global_x, NULL, x,
                        NINO_CL_COUNT(x), err);
    if (st)
        return st;
    const nino_cl_arg y[] = { A_BUF(&image, 4),    A_BUF(&start_y, 4),
                              A_BUF(&weight_y, 4), A_BUF(&c->dst->mem, elem),
                              A_INT(s[1]),         A_INT(o[1]),
                              A_INT(o[2]),         A_INT(o[3]),
                              A_INT(l.taps_y) };
    const size_t global_y[] = { pixels(cl, o[2]), (size_t) (o[0] * o[1]) };
    return nino_cl_launch(cl, "basic", "resample_y", defs, &what, 2, global_y, NULL, y,
                          NINO_CL_COUNT(y), err);
}

static nino_status op_image_blend(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_op_attr *a = &d->attr;
    const int64_t *t = d->src[1].dim;
    const nino_cl_what what = { .d = d, .is_main = true };
    const nino_cl_arg args[] = { A_BUF(&c->dst->mem, 4),
                                 A_BUF(&c->src[1]->mem, nino_dtype_size(d->src_type[1])),
                                 A_INT(d->dst.dim[1]),
                                 A_INT(a->x0),
                                 A_INT(a->y0),
                                 A_INT(t[2]),
                                 A_INT(t[1]),
                                 A_INT(t[3]),
                                 A_INT(a->feather_x),
                                 A_INT(a->feather_y),
                                 A_INT(a->sides) };
    const size_t global[] = { pixels(cl, t[2]), (size_t) t[1] };
    return nino_cl_launch(cl, "basic", "blend", nino_cl_type_defs(d->src_type[1]), &what, 2, global,
                          NULL, args, NINO_CL_COUNT(args), err);
}

static nino_status blend_div(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_cl_what what = { .d = d, .is_main = true };
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, 4), A_BUF(&c->dst->mem, 4),
                                 A_INT(d->dst.dim[2]), A_INT(d->dst.dim[3]) };
    const size_t global[] = { pixels(cl, d->dst.dim[2]), (size_t) d->dst.dim[1] };
    return nino_cl_launch(cl, "basic", "blend_div", "", &what, 2, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

static nino_status op_image_to_rgb8(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const int64_t channels = d->src[0].dim[3], n = nino_shape_count(&d->src[0]) / channels;
    const nino_cl_what what = { .d = d, .is_main = true };
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, nino_dtype_size(d->src_type[0])),
                                 A_BUF(&c->dst->mem, 1), A_U64(n), A_INT(channels) };
    const size_t global[] = { pixels(cl, n < 4096 ? n : 4096), (size_t) (n + 4095) / 4096 };
    return nino_cl_launch(cl, "basic", "to_rgb8", nino_cl_type_defs(d->src_type[0]), &what, 2,
                          global, NULL, args, NINO_CL_COUNT(args), err);
}

nino_status nino_cl_image(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    switch (c->d.op) {
    case NINO_OP_RESAMPLE: return resample(cl, c, err);
    case NINO_OP_BLEND: return op_image_blend(cl, c, err);
    case NINO_OP_BLEND_DIV: return blend_div(cl, c, err);
    default: return op_image_to_rgb8(cl, c, err);
    }
}
