// Too little device memory: which of seven remedies apply to the node that failed, with numbers
// from the pool, the weights that are on the device, the system, and a plan of the node's VAE.
// Their list is that of the seed project's loaders (out-of-memory hints), which printed all of them
// always.
#include "core/run/shortage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/node/param.h"
#include "core/node/util.h"
#include "core/op/backend.h"
#include "core/tile/fit.h"

#define MIB 1048576.0

typedef struct teller {
    const nino_run *r;
    nino_tell_line line;
    void *priv;
    nino_mem_stat m;
} teller;

__attribute__((format(printf, 2, 3))) static void tell(const teller *t, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    t->line(t->priv, text);
}

// The first input of a type; NULL: none.
static const nino_value *shortage_input_of(const nino_run *r, nino_port_type type)
{
    for (int i = 0; r->def->inputs && r->def->inputs[i].key; i++)
        if (r->in[i] && r->in[i]->type == type && !r->in[i]->is_list)
            return r->in[i];
    return NULL;
}

static int64_t number_of(const nino_run *r, const char *key)
{
    const nino_param *p = nino_param_find(r->def, key);
    return p && p->type == NINO_INT ? nino_param_load(p, r->params).i : 0;
}

// Pixels of a side that go through the VAE: the latent's or the picture's.
static bool size_of(const nino_run *r, const nino_vae *v, bool *is_decode, int64_t *h, int64_t *w)
{
    const nino_value *latent = shortage_input_of(r, NINO_PORT_LATENT);
    const nino_value *image = shortage_input_of(r, NINO_PORT_IMAGE);
    const nino_array *a = latent ? latent->u.latent.samples : image ? image->u.image : NULL;
    if (!a || a->shape.rank != 4)
        return false;
    *is_decode = latent != NULL;
    *h = a->shape.dim[1] * (latent ? v->factor : 1);
    *w = a->shape.dim[2] * (latent ? v->factor : 1);
    return true;
}

// The largest tile that fits, by walking the VAE without computing.
static void tell_tiles(const teller *t)
{
    const nino_value *vae = shortage_input_of(t->r, NINO_PORT_VAE);
    const nino_vae *v = vae ? vae->u.vae : NULL;
    nino_stream *s = t->r->stream;
    nino_vae_need whole = { 0 }, part = { 0 };
    uint64_t budget;
    int64_t h, w;
    bool is_decode;
    if (!v || !size_of(t->r, v, &is_decode, &h, &w) ||
        nino_vae_need_get(s, v, is_decode, 1, (int) (h / v->factor), (int) (w / v->factor), &whole,
                          NULL))
        return;
    const int64_t now = number_of(t->r, "tile_size"), side = h > w ? h : w;
    int64_t most = now > 0 && now < side ? now : side;
    for (int64_t tile = 1024; tile >= 64; tile /= 2) {
        const int cells = (int) (tile / v->factor);
        if (tile >= most || cells < 1 ||
            nino_vae_need_get(s, v, is_decode, 1, cells, cells, &part, NULL) ||
            !nino_vae_fits(s, &part, &budget))
            continue;
        tell(t,
             "smaller tiles: %lld x %lld pixels need %.1f MiB at once, tiles of %lld need %.1f MiB "
             "(tile_size of %s)",
             (long long) w, (long long) h, (double) whole.reserved / MIB, (long long) tile,
             (double) part.reserved / MIB,
             now > 0     ? "this node"
             : is_decode ? "VAEDecodeTiled"
                         : "VAEEncodeTiled");
        return;
    }
}

static void tell_weights(const teller *t)
{
    const nino_backend *be = nino_stream_backend(t->r->stream);
    uint64_t wide, narrow;
    nino_backend_weight_sizes(be, &wide, &narrow);
    if (wide && narrow < wide && wide > t->m.budget / 16)
        tell(t,
             "narrower weights: %.1f MiB of weights on the device are 16 or 32 bits wide, as 8-bit "
             "floats they take %.1f MiB (weight_dtype, or an fp8 or GGUF file)",
             (double) wide / MIB, (double) narrow / MIB);
}

static void tell_batch(const teller *t)
{
    const nino_value *latent = shortage_input_of(t->r, NINO_PORT_LATENT);
    const nino_array *a = latent ? latent->u.latent.samples : NULL;
    const double peak = (double) t->m.peak_by_owner[NINO_OWN_ACTIVATION] / MIB;
    if (a && a->shape.dim[0] > 1)
        tell(t,
             "a smaller batch: %lld latents go through together, activations took up to %.1f MiB",
             (long long) a->shape.dim[0], peak);
    if (a && a->shape.rank == 5 && a->shape.dim[1] > 1)
        tell(t,
             "fewer frames: %lld latent frames go through together, activations took up to %.1f "
             "MiB",
             (long long) a->shape.dim[1], peak);
}

static void tell_limit(const teller *t)
{
    const nino_backend *be = nino_stream_backend(t->r->stream);
    const uint64_t device = be->info.mem_bytes, free = nino_mem_available();
    if (t->m.budget && device > t->m.budget + t->m.budget / 4)
        tell(t,
             "a higher limit: %.1f MiB may be used of the device's %.1f MiB (--mem-limit, "
             "NINODES_MEM_LIMIT)",
             (double) t->m.budget / MIB, (double) device / MIB);
    if (t->m.budget > t->m.reserved && free < t->m.budget - t->m.reserved)
        tell(t,
             "other programs: the system has %.1f MiB left, %.1f MiB less than this run may take",
             (double) free / MIB, (double) (t->m.budget - t->m.reserved - free) / MIB);
}

static void tell_pieces(const teller *t)
{
    const uint64_t idle = t->m.reserved - t->m.in_use;
    if (t->m.reserved > t->m.in_use && t->m.budget && idle > t->m.budget / 8 &&
        t->m.largest_free < idle / 2)
        tell(t,
             "memory in pieces: of %.1f MiB that are free the largest piece is %.1f MiB (ninodes "
             "jobs trim)",
             (double) idle / MIB, (double) t->m.largest_free / MIB);
}

void nino_shortage_tell(const nino_run *r, nino_tell_line line, void *priv)
{
    teller t = { .r = r, .line = line, .priv = priv };
    nino_pool_stat(nino_stream_backend(r->stream)->pool, &t.m);
    tell_tiles(&t);
    tell_weights(&t);
    tell_batch(&t);
    tell_limit(&t);
    tell_pieces(&t);
}

// The file that a loader's first parameter of a model folder names; NULL: not a loader.
static const char *shortage_file_of(const nino_run *r)
{
    for (const nino_param *p = r->def->params; p && p->key; p++)
        if (p->type == NINO_FILE && strcmp(p->folder, "input"))
            return nino_param_load(p, r->params).s;
    return NULL;
}

void nino_loader_tell(const nino_run *r, double seconds, nino_tell_line line, void *priv)
{
    teller t = { .r = r, .line = line, .priv = priv };
    const nino_backend *be = nino_stream_backend(r->stream);
    const char *file = shortage_file_of(r);
    if (!file)
        return;
    nino_pool_stat(be->pool, &t.m);
    const uint64_t total = t.m.budget, used = t.m.in_use;
    tell(&t, "%s opened in %.2f s; %s, %s %s; memory used %.2f GiB, free %.2f of %.2f GiB", file,
         seconds, be->info.name, be->info.platform, be->info.driver, (double) used / 0x1p30,
         (double) (total > used ? total - used : 0) / 0x1p30, (double) total / 0x1p30);
}
