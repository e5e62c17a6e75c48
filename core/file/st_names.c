// Text encoders of Hugging Face's newer releases have their language model and their vision network
// side by side under "model."; here they get the names of the older ones, as everywhere else.
// Names: transformers, modeling_qwen2_5_vl.py and modeling_mistral3.py.
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/file/weights_priv.h"

typedef struct st_prefix {
    const char *theirs, *here;
} st_prefix;

// By the place of the language model; the first that fits a name counts.
static const struct {
    const char *sign;  // a tensor that only such files have
    st_prefix list[5]; // ends with NULL
} st_dialects[] = {
    { "model.language_model.embed_tokens.weight",
      { { "model.language_model.", "model." },
        { "model.visual.", "visual." },
        { "model.vision_tower.", "vision_tower." },
        { "model.multi_modal_projector.", "multi_modal_projector." } } },
    { "language_model.model.embed_tokens.weight",
      { { "language_model.model.", "model." }, { "language_model.lm_head.", "lm_head." } } },
};

static const st_prefix *st_prefixes(const nino_st_header *h)
{
    for (size_t k = 0; k < sizeof(st_dialects) / sizeof(st_dialects[0]); k++)
        for (int i = 0; i < h->n_infos; i++)
            if (!strcmp(h->infos[i].name, st_dialects[k].sign))
                return st_dialects[k].list;
    return NULL;
}

nino_status nino_st_rename(nino_st_header *h, const char *file, nino_error *err)
{
    const st_prefix *list = st_prefixes(h);
    for (int i = 0; list && i < h->n_infos; i++) {
        const char *old = h->infos[i].name;
        const st_prefix *p = list;
        while (p->theirs && strncmp(old, p->theirs, strlen(p->theirs)) != 0)
            p++;
        if (!p->theirs)
            continue;
        const size_t size = strlen(old) - strlen(p->theirs) + strlen(p->here) + 1;
        char *name = nino_arena_alloc(h->arena, size);
        if (!name)
            return nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
        snprintf(name, size, "%s%s", p->here, old + strlen(p->theirs));
        h->infos[i].name = name;
    }
    return NINO_OK;
}
