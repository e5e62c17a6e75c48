// The fields of point records in traces: one table for writing and reading. Those of samples are
// the counters (ninodes/counter.h).
#include "core/monitor/trace/trace.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// clang-format off
#define AT(member) offsetof(nino_event, member)
const nino_trace_field nino_trace_fields[] = {
    { NINO_EV_MEM, NINO_TRACE_U8, AT(sub), false, "op" },
    { NINO_EV_MEM, NINO_TRACE_U32, AT(id), false, "place" },
    { NINO_EV_MEM, NINO_TRACE_U64, AT(u.mem.bytes), false, "bytes" },
    { NINO_EV_MEM, NINO_TRACE_U64, AT(u.mem.in_use), false, "in_use" },
    { NINO_EV_MEM, NINO_TRACE_U64, AT(u.mem.reserved), false, "reserved" },
    { NINO_EV_MEM, NINO_TRACE_U64, AT(u.mem.largest_free), false, "largest_free" },
    { NINO_EV_MEM, NINO_TRACE_U8, AT(u.mem.owner), false, "owner" },
    { NINO_EV_MEM, NINO_TRACE_U8, AT(u.mem.is_hit), false, "hit" },
    { NINO_EV_MEM, NINO_TRACE_U16, AT(u.mem.arena), false, "arena" },
    { NINO_EV_MEM, NINO_TRACE_U32, AT(u.mem.owner_use), false, "owner_use" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.x), false, "x" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.y), false, "y" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.w), false, "w" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.h), false, "h" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.core_x), false, "core_x" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.core_y), false, "core_y" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.core_w), false, "core_w" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.core_h), false, "core_h" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.order), false, "order" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.n), false, "of" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.pass), false, "pass" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U16, AT(u.tile.n_passes), false, "passes" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U64, AT(u.tile.ns), false, "ns" },
    { NINO_EV_TILE_INFO, NINO_TRACE_U64, AT(u.tile.peak_bytes), false, "peak_bytes" },
    { NINO_EV_SEAM, NINO_TRACE_F32, AT(u.seam.mean), false, "mean" },
    { NINO_EV_SEAM, NINO_TRACE_F32, AT(u.seam.max), false, "max" },
    { NINO_EV_SEAM, NINO_TRACE_F32, AT(u.seam.gradient), false, "gradient" },
    { NINO_EV_SEAM, NINO_TRACE_U32, AT(u.seam.n_seams), false, "seams" },
    { NINO_EV_SEAM, NINO_TRACE_U64, AT(u.seam.pixels), false, "pixels" },
    { NINO_EV_SEAM, NINO_TRACE_U64, AT(u.seam.recomputed), false, "recomputed" },
    { NINO_EV_STEP_INFO, NINO_TRACE_U32, AT(u.step.step), false, "step" },
    { NINO_EV_STEP_INFO, NINO_TRACE_U32, AT(u.step.total), false, "of" },
    { NINO_EV_STEP_INFO, NINO_TRACE_F64, AT(u.step.sigma), false, "sigma" },
    { NINO_EV_STEP_INFO, NINO_TRACE_F64, AT(u.step.seconds), false, "seconds" },
    { NINO_EV_STEP_INFO, NINO_TRACE_F64, AT(u.step.eta_s), true, "eta_s" },
    { NINO_EV_PREVIEW, NINO_TRACE_U32, AT(u.step.step), false, "step" },
    { NINO_EV_PREVIEW, NINO_TRACE_U32, AT(u.step.total), false, "of" },
    { NINO_EV_PREVIEW, NINO_TRACE_F64, AT(u.step.sigma), false, "sigma" },
    { NINO_EV_PREVIEW, NINO_TRACE_F64, AT(u.step.seconds), false, "seconds" },
    { NINO_EV_PREVIEW, NINO_TRACE_F64, AT(u.step.eta_s), true, "eta_s" },
    { NINO_EV_PREVIEW, NINO_TRACE_U32, AT(u.step.width), false, "width" },
    { NINO_EV_PREVIEW, NINO_TRACE_U32, AT(u.step.height), false, "height" },
    { NINO_EV_CHUNK, NINO_TRACE_U32, AT(u.chunk.first), false, "first" },
    { NINO_EV_CHUNK, NINO_TRACE_U32, AT(u.chunk.frames), false, "frames" },
    { NINO_EV_CHUNK, NINO_TRACE_U32, AT(u.chunk.order), false, "order" },
    { NINO_EV_CHUNK, NINO_TRACE_U32, AT(u.chunk.n), false, "of" },
    { NINO_EV_CHUNK, NINO_TRACE_U64, AT(u.chunk.ns), false, "ns" },
    { NINO_EV_CHUNK, NINO_TRACE_U64, AT(u.chunk.cache_bytes), false, "cache_bytes" },
    { NINO_EV_CHUNK, NINO_TRACE_U64, AT(u.chunk.peak_bytes), false, "peak_bytes" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.first_mean), false, "first_mean" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.rest_mean), false, "rest_mean" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.first_colour), false, "first_colour" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.rest_colour), false, "rest_colour" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.border), false, "border" },
    { NINO_EV_CLIP, NINO_TRACE_F32, AT(u.clip.limit), false, "limit" },
    { NINO_EV_CLIP, NINO_TRACE_U32, AT(u.clip.frames), false, "frames" },
    { NINO_EV_CLIP, NINO_TRACE_U32, AT(u.clip.n_borders), false, "borders" },
    { NINO_EV_CLIP, NINO_TRACE_U64, AT(u.clip.ns), false, "ns" },
    { NINO_EV_ONCE, NINO_TRACE_U64, AT(u.once.load_ns), false, "load_ns" },
    { NINO_EV_CHOICE, NINO_TRACE_F64, AT(u.choice.seconds), false, "seconds" },
    { NINO_EV_CHOICE, NINO_TRACE_F64, AT(u.choice.unchosen), false, "unchosen" },
    { NINO_EV_CHOICE, NINO_TRACE_F64, AT(u.choice.unlimited), false, "unlimited" },
    { NINO_EV_CHOICE, NINO_TRACE_U32, AT(u.choice.walks), false, "ways" },
    { NINO_EV_CACHE, NINO_TRACE_U8, AT(sub), false, "cache" },
    { NINO_EV_CACHE, NINO_TRACE_U32, AT(u.scope.arg0), false, "hit" },
    { NINO_EV_CACHE, NINO_TRACE_U32, AT(u.scope.arg1), false, "by_driver" },
    { NINO_EV_CEILINGS, NINO_TRACE_F64, AT(u.ceilings.flops_f32), false, "flops_f32" },
    { NINO_EV_CEILINGS, NINO_TRACE_F64, AT(u.ceilings.flops_f16), false, "flops_f16" },
    { NINO_EV_CEILINGS, NINO_TRACE_F64, AT(u.ceilings.bandwidth), false, "bandwidth" },
    { NINO_EV_CEILINGS, NINO_TRACE_F64, AT(u.ceilings.launch_s), false, "launch_s" },
    { NINO_EV_CEILINGS, NINO_TRACE_U64, AT(u.ceilings.measured_at), false, "measured_at" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_U64, AT(u.ceiling_point.bytes), false, "bytes" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_F64, AT(u.ceiling_point.read), false, "read" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_F64, AT(u.ceiling_point.write), false, "write" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_F64, AT(u.ceiling_point.copy), false, "copy" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_U32, AT(u.ceiling_point.index), false, "index" },
    { NINO_EV_CEILING_POINT, NINO_TRACE_U32, AT(u.ceiling_point.n), false, "of" },
    { NINO_EV_MESSAGE, NINO_TRACE_U32, AT(u.scope.arg0), false, "level" },
    { NINO_EV_MESSAGE, NINO_TRACE_U32, AT(u.scope.arg1), false, "kept_steps" },
    { NINO_EV_LOST, NINO_TRACE_U64, AT(u.lost), false, "records" },
    { 0, 0, 0, false, NULL },
};
#undef AT
// clang-format on

const char *nino_trace_kind_name(uint8_t kind)
{
    switch (kind) {
    case NINO_EV_MEM: return "memory";
    case NINO_EV_DEVICE: return "device";
    case NINO_EV_MESSAGE: return "message";
    case NINO_EV_TILE_INFO: return "tile";
    case NINO_EV_SEAM: return "seam";
    case NINO_EV_LOST: return "lost";
    case NINO_EV_OUTPUT: return "output";
    case NINO_EV_CACHE: return "cache";
    case NINO_EV_STEP_INFO: return "step";
    case NINO_EV_PREVIEW: return "preview";
    case NINO_EV_HOST: return "host";
    case NINO_EV_CEILINGS: return "ceilings";
    case NINO_EV_CEILING_POINT: return "ceiling point";
    case NINO_EV_CHUNK: return "chunk";
    case NINO_EV_CLIP: return "clip";
    case NINO_EV_NOTE: return "note";
    case NINO_EV_ONCE: return "once";
    case NINO_EV_CHOICE: return "choice";
    default: return "";
    }
}

double nino_trace_get(const nino_event *ev, const nino_trace_field *f)
{
    const char *p = (const char *) ev + f->offset;
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } v;
    switch ((nino_trace_type) f->type) {
    case NINO_TRACE_U8: return *(const uint8_t *) p;
    case NINO_TRACE_U16: memcpy(&v.u16, p, sizeof(v.u16)); return v.u16;
    case NINO_TRACE_U32: memcpy(&v.u32, p, sizeof(v.u32)); return v.u32;
    case NINO_TRACE_U64: memcpy(&v.u64, p, sizeof(v.u64)); return (double) v.u64;
    case NINO_TRACE_F32: memcpy(&v.f32, p, sizeof(v.f32)); return (double) v.f32;
    case NINO_TRACE_F64: memcpy(&v.f64, p, sizeof(v.f64)); return v.f64;
    }
    return 0;
}

// v as a whole number of at most max; what is out of range becomes the nearest that is not.
static uint64_t trace_fields_whole(double v, uint64_t max)
{
    if (!(v > 0))
        return 0;
    return v < (double) max ? (uint64_t) v : max;
}

void nino_trace_set(nino_event *ev, const nino_trace_field *f, double v)
{
    char *p = (char *) ev + f->offset;
    const uint8_t u8 = (uint8_t) trace_fields_whole(v, UINT8_MAX);
    const uint16_t u16 = (uint16_t) trace_fields_whole(v, UINT16_MAX);
    const uint32_t u32 = (uint32_t) trace_fields_whole(v, UINT32_MAX);
    const uint64_t u64 = trace_fields_whole(v, UINT64_MAX / 2);
    const float f32 = (float) v;
    switch ((nino_trace_type) f->type) {
    case NINO_TRACE_U8: memcpy(p, &u8, sizeof(u8)); break;
    case NINO_TRACE_U16: memcpy(p, &u16, sizeof(u16)); break;
    case NINO_TRACE_U32: memcpy(p, &u32, sizeof(u32)); break;
    case NINO_TRACE_U64: memcpy(p, &u64, sizeof(u64)); break;
    case NINO_TRACE_F32: memcpy(p, &f32, sizeof(f32)); break;
    case NINO_TRACE_F64: memcpy(p, &v, sizeof(v)); break;
    }
}
