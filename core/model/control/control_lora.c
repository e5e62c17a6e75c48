// Control-LoRAs: a ControlNet whose way down is the model's own, with products of small matrices
// added and some tensors replaced. It is made when the model is known.
// Source: Stability AI, Control-LoRA (2023), as ComfyUI 0.3.64 controlnet.py (ControlLora) runs them.
#include "core/model/control/control.h"
#include "core/model/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

// What a view of the model's file is changed by.
typedef struct control_lora {
    nino_weights *base, *file; // owned references
    size_t skip;               // of the prefix of the model's names
    char own_prefix[32];
} control_lora;

typedef struct lora_change {           // of one tensor
    const nino_tensor_info *whole;     // replaces it
    const nino_tensor_info *up, *down; // or their product is added
} lora_change;

static bool change_of(const control_lora *c, const char *name, lora_change *out)
{
    *out = (lora_change){ NULL };
    if (strncmp(name, c->own_prefix, c->skip) != 0)
        return false;
    name += c->skip;
    if ((out->whole = nino_weights_find(c->file, name)))
        return true;
    const size_t n = strlen(name), end = strlen(".weight");
    if (n <= end || strcmp(name + n - end, ".weight") != 0)
        return false;
    const int stem = (int) (n - end);
    out->up = nino_weights_find(c->file, nino_name_of("%.*s.up", stem, name).s);
    out->down = nino_weights_find(c->file, nino_name_of("%.*s.down", stem, name).s);
    return out->up && out->down;
}

static bool lora_covers(void *priv, const char *name)
{
    lora_change change;
    return change_of(priv, name, &change);
}

static nino_status lora_apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                              float *values, nino_error *err)
{
    const control_lora *c = priv;
    lora_change change;
    if (!change_of(c, t->name, &change))
        return NINO_OK;
    if (change.whole || !change.down)
        return nino_weights_read_rows_f32(c->file, change.whole, row0, rows, values, err);
    const int64_t rank = change.down->dim[0], width = nino_tensor_info_row(t);
    float *up = malloc((size_t) (rows * rank) * sizeof(*up) + 1);
    float *down = malloc((size_t) (rank * width) * sizeof(*down) + 1);
    nino_status st =
        up && down ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, t->name, "out of memory");
    if (!st)
        st = nino_weights_read_rows_f32(c->file, change.up, row0, rows, up, err);
    if (!st)
        st = nino_weights_read_rows_f32(c->file, change.down, 0, rank, down, err);
    for (int64_t i = 0; !st && i < rows; i++)
        for (int64_t k = 0; k < rank; k++)
            for (int64_t j = 0; j < width; j++)
                values[i * width + j] += up[i * rank + k] * down[k * width + j];
    free(up);
    free(down);
    return st;
}

// Weights that are quantised in the model stay so.
static int lora_low_rank(void *priv, const char *name, nino_low_rank *out, int max)
{
    const control_lora *c = priv;
    lora_change change;
    if (max < 1 || !change_of(c, name, &change) || change.whole)
        return 0;
    *out = (nino_low_rank){
        .file = c->file, .up = change.up, .down = change.down, .scale = 1, .rows = change.up->dim[0]
    };
    return 1;
}

static void lora_destroy(void *priv)
{
    control_lora *c = priv;
    nino_weights_unref(&c->base);
    nino_weights_unref(&c->file);
    free(c);
}

// Whether a tensor of the file has its place in the model, or is one of the layers beside it.
static bool has_place(const control_lora *c, const char *name)
{
    static const char *const own[] = { "zero_convs.", "middle_block_out.", "input_hint_block.",
                                       "lora_controlnet" };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!strncmp(name, own[i], strlen(own[i])))
            return true;
    const char *dot = strrchr(name, '.');
    const bool is_part = dot && (!strcmp(dot, ".up") || !strcmp(dot, ".down"));
    const int n = is_part ? (int) (dot - name) : (int) strlen(name);
    return nino_weights_find(
               c->base,
               nino_name_of("%s%.*s%s", c->own_prefix, n, name, is_part ? ".weight" : "").s) !=
           NULL;
}

// Every change has its place, and the size of what it changes.
static nino_status check_changes(const control_lora *c, const char *where, nino_error *err)
{
    for (int i = 0; i < nino_weights_count(c->file); i++)
        if (!has_place(c, nino_weights_at(c->file, i)->name))
            return nino_fail_kind(err, NINO_ERR_ARG, "model", where,
                                  "%s has no place in this model: it is for another one, or the "
                                  "model's file has the names of diffusers, which are not known "
                                  "here",
                                  nino_weights_at(c->file, i)->name);
    for (int i = 0; i < nino_weights_count(c->base); i++) {
        const nino_tensor_info *t = nino_weights_at(c->base, i);
        lora_change change;
        if (!change_of(c, t->name, &change))
            continue;
        bool fits = t->rank > 0;
        if (change.whole)
            fits = fits && change.whole->rank > 0 &&
                   nino_tensor_info_count(change.whole) == nino_tensor_info_count(t) &&
                   change.whole->dim[0] == t->dim[0];
        else
            fits = fits && change.up->rank > 1 && change.down->rank > 1 &&
                   change.up->dim[0] == t->dim[0] &&
                   nino_tensor_info_count(change.up) == t->dim[0] * change.down->dim[0] &&
                   nino_tensor_info_row(change.down) == nino_tensor_info_row(t);
        if (!fits)
            return nino_fail_kind(err, NINO_ERR_ARG, "model", where,
                                  "%s does not fit this model's: it is for another one",
                                  (change.whole ? change.whole : change.up)->name);
    }
    return NINO_OK;
}

nino_status nino_control_lora_bind(nino_control_net *c, const nino_model *m, nino_control_net **out,
                                   nino_error *err)
{
    nino_control_net *made = NULL;
    nino_weights *view = NULL;
    control_lora *l = calloc(1, sizeof(*l));
    *out = NULL;
    if (!l)
        return nino_fail(err, NINO_ERR_NOMEM, c->name, "no memory for its layers");
    l->file = nino_weights_ref(c->file);
    snprintf(l->own_prefix, sizeof(l->own_prefix), "%s", m->net->prefix);
    l->skip = strlen(l->own_prefix);
    nino_status st = nino_model_file(m, &l->base, err);
    if (!st)
        st = check_changes(l, c->name, err);
    if (st) {
        lora_destroy(l);
        return st;
    }
    const nino_weights_change change = { .priv = l,
                                         .identity = c->identity,
                                         .covers = lora_covers,
                                         .apply = lora_apply,
                                         .destroy = lora_destroy,
                                         .low_rank = lora_low_rank };
    if (!(view = nino_weights_changed(l->base, &change, err)))
        return NINO_ERR_NOMEM;
    if ((made = nino_control_create(c->file, c->name, err))) {
        const char *prefix = m->net->prefix;
        nino_loader down = { .file = view, .prefix = prefix, .layers = &made->layers, .err = err };
        nino_loader own = { .file = c->file, .prefix = "", .layers = &made->layers, .err = err };
        nino_control_unet_layers(&down, &own, made);
        st = own.st;
        memcpy(made->family, c->family, sizeof(made->family));
        memcpy(made->detail, c->detail, sizeof(made->detail));
        made->weight_bytes = c->weight_bytes;
    }
    nino_weights_unref(&view); // its weights hold it
    if (!made)
        return NINO_ERR_NOMEM;
    if (st)
        nino_control_unref(&made);
    *out = made;
    return st;
}

nino_status nino_control_lora_load(nino_weights *file, nino_control_net *c, nino_error *err)
{
    nino_loader l = { .file = file, .prefix = "", .err = err };
    const int zeros = nino_load_count(&l, "zero_convs.");
    if (!zeros || !nino_load_has(&l, "input_hint_block.0.weight") ||
        !nino_load_has(&l, "middle_block_out.0.weight"))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", c->name,
                              "a control-LoRA without zero_convs, middle_block_out or "
                              "input_hint_block");
    const nino_tensor_info *down = NULL;
    for (int i = 0; i < nino_weights_count(file) && !down; i++) {
        const char *name = nino_weights_at(file, i)->name;
        const size_t n = strlen(name), end = strlen(".to_q.down");
        if (n > end && !strcmp(name + n - end, ".to_q.down"))
            down = nino_weights_at(file, i);
    }
    c->needs_model = true;
    c->serves = NINO_DIFFUSION_UNET;
    snprintf(c->detail, sizeof(c->detail), "control-LoRA, %d stages, rank %lld", zeros,
             down && down->rank ? (long long) down->dim[0] : 0LL);
    return NINO_OK;
}
