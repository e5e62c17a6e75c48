// From text to conditioning with a language model: templates around the prompt, states of some of
// its layers, the part of them that is about the prompt.
// Rules: ComfyUI text_encoders/{z_image,flux,qwen_image}.py, sd1_clip.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/clip/text_encoder.h"
#include "core/model/llm/llm.h"

#define IM_START "<|im_start|>"
#define IM_END "<|im_end|>"
#define PAD "<|endoftext|>" // and what hides the rest of a prompt
#define ASK IM_END "\n" IM_START "assistant\n"
#define DESCRIBE                                                                                   \
    IM_START "system\nDescribe the image by detailing the color, shape, size, texture, quantity, " \
             "text, spatial relationships of the objects and background:" IM_END "\n" IM_START     \
             "user\n"
#define EDIT                                                                                       \
    IM_START                                                                                       \
    "system\nDescribe the key features of the input image (color, shape, size, texture, objects, " \
    "background), then explain how the user's text instruction should alter or modify the image. " \
    "Generate a new image that meets the user's requirements while maintaining consistency with "  \
    "the original input where appropriate." IM_END "\n" IM_START "user\n"
#define REASON                                                                                     \
    "[SYSTEM_PROMPT]You are an AI that reasons about image descriptions. You give structured "     \
    "responses focusing on object relationships, object\nattribution and actions without "         \
    "speculation.[/SYSTEM_PROMPT][INST]"

typedef struct rule {
    nino_encoder_id id;
    const char *title;
    const char *before, *after; // the prompt
    const char *key;            // in files of textual inversions; NULL: it takes none
    const char *start;          // token in front
    const char *marks[5];       // special tokens of the template that not every tokenizer has
    int min_len;                // padded to it
    int out[NINO_LLM_MAX_OUT];  // layers behind which states are taken; none: `layer` says
    int layer;                  // -1 the last, -2 ..., unless CLIPSetLastLayer says
    bool is_normed;             // the last layer's state
    bool is_cut;                // rows of the system's part are left out, and hidden ones told
} rule;

static const rule rules[] = {
    [NINO_CLIP_Z_IMAGE] = { .id = NINO_ENC_QWEN3,
                            .title = "Z-Image",
                            .before = IM_START "user\n",
                            .after = ASK,
                            .key = "qwen3_4b",
                            .min_len = 1,
                            .layer = -2 },
    [NINO_CLIP_KLEIN] = { .id = NINO_ENC_QWEN3,
                          .title = "FLUX.2 klein",
                          .before = IM_START "user\n",
                          .after = ASK "<think>\n\n</think>\n\n",
                          .key = "qwen3_4b",
                          .min_len = 512,
                          .out = { 9, 18, 27 } },
    [NINO_CLIP_FLUX2_DEV] = { .id = NINO_ENC_MISTRAL3,
                              .title = "FLUX.2",
                              .before = REASON,
                              .after = "[/INST]",
                              .key = "mistral3_24b",
                              .start = "<s>",
                              .marks = { "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[INST]",
                                         "[/INST]" },
                              .min_len = 1,
                              .out = { 10, 20, 30 } },
    [NINO_CLIP_QWEN_IMAGE] = { .id = NINO_ENC_QWEN25_VL,
                               .title = "Qwen-Image",
                               .before = DESCRIBE,
                               .after = ASK,
                               .min_len = 1,
                               .layer = -1,
                               .is_normed = true,
                               .is_cut = true },
};

typedef struct reading { // of one prompt
    nino_stream *s;
    const nino_clip *c;
    const nino_clip_text *text;
    const rule *rule;
    nino_encoder *e;
    nino_error *err;
    nino_prompt prompt;
} reading;

nino_status nino_clip_check_llm(const nino_clip *c, nino_error *err)
{
    const rule *r = &rules[c->type];
    const nino_encoder *e = c->enc[r->id];
    const int last = r->out[NINO_LLM_MAX_OUT - 1];
    if (e->n_layers >= last)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(e->file),
                          "its %s has %d layers; %s takes states up to the one behind layer %d",
                          nino_encoder_titles[e->id], e->n_layers, r->title, last);
}

// ---- tokens ----------------------------------------------------------------------------------

static nino_status special(const reading *x, const char *text, int32_t *id)
{
    *id = nino_tokenizer_special(x->e->tok, text);
    if (*id >= 0)
        return NINO_OK;
    return nino_fail_kind(x->err, NINO_ERR_FORMAT, "model", nino_tokenizer_path(x->e->tok),
                          "this tokenizer has no %s: it is not that of %s", text,
                          nino_encoder_titles[x->e->id]);
}

// The prompt in its template, unless it brings its own.
static void wrap(const reading *x, nino_buf *out)
{
    const char *own = x->text->by_encoder[x->e->id];
    const char *text = own ? own : x->text->all ? x->text->all : "";
    const bool is_whole = x->rule->is_cut && (!strncmp(text, IM_START, strlen(IM_START)) ||
                                              !strncmp(text, "<|start_header_id|>", 19));
    if (!is_whole)
        nino_buf_adds(out, x->text->has_pictures ? EDIT : x->rule->before);
    nino_buf_adds(out, text);
    if (!is_whole)
        nino_buf_adds(out, x->rule->after);
}

static nino_status clip_llm_tokenise(reading *x)
{
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_LLM);
    nino_buf text = { 0 };
    nino_status st = nino_encoder_open_tokenizer(x->c, x->e, x->err);
    if (!st && x->e->id != NINO_ENC_MISTRAL3)
        st = special(x, PAD, &r.pad);
    if (!st && x->rule->start)
        st = special(x, x->rule->start, &r.start);
    for (int32_t i = 0, id; x->rule->marks[i] && !st;
         i++) // else they would be read letter by letter
        st = special(x, x->rule->marks[i], &id);
    if (st)
        return st;
    r.key = x->rule->key;
    r.width = x->e->width;
    r.min_len = x->rule->min_len;
    r.keeps_gap = x->rule->key; // Qwen-Image's encoder, which knows no inversions, does not
    r.priv = x->c->services.priv;
    r.embedding = x->c->services.embedding;
    r.warn = x->c->services.warn;
    wrap(x, &text);
    st = text.failed ? nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory")
                     : nino_prompt_build(x->e->tok, &r, text.data, &x->prompt, x->err);
    nino_buf_release(&text);
    return st;
}

// The first row that is about the prompt: behind the words that begin the user's part, which is the
// second one, or the only one.
static nino_status first_row(const reading *x, int *row)
{
    const nino_token *t = x->prompt.tokens;
    const int n = x->prompt.chunk_len;
    int32_t start, *ids = NULL;
    int n_ids = 0, n_found = 0, e = -1;
    nino_status st = special(x, IM_START, &start);
    if (!st)
        st = nino_tokenizer_ids(x->e->tok, "user\n", &ids, &n_ids, x->err);
    for (int i = 0; i < n && n_found < 2 && !st; i++)
        if (t[i].id == start) {
            e = i;
            n_found++;
        }
    if (!st && e >= 0 && n > e + 3 && n_ids == 2 && t[e + 1].id == ids[0] && t[e + 2].id == ids[1])
        e += 3;
    *row = e < 0 ? n - 1 : e;
    free(ids);
    return st;
}

nino_status nino_clip_prompt_llm(const nino_clip *c, const nino_clip_text *text, nino_prompt *out,
                                 int *first, nino_error *err)
{
    const rule *r = &rules[c->type];
    reading x = { .c = c, .text = text, .rule = r, .e = c->enc[r->id], .err = err };
    nino_status st = clip_llm_tokenise(&x);
    *first = 0;
    if (!st && r->is_cut)
        st = first_row(&x, first);
    if (st)
        nino_prompt_release(&x.prompt);
    *out = x.prompt;
    return st;
}

// ---- pictures --------------------------------------------------------------------------------

typedef struct seen { // a picture where it stands in the prompt
    nino_vision_grid grid;
    nino_array *rows; // f32 [cells,width]
} seen;

static nino_status no_eyes(const reading *x)
{
    const nino_encoder *e = x->e;
    if (e->id != NINO_ENC_QWEN25_VL)
        return nino_fail_kind(x->err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(e->file),
                              "the text encoder of %s, %s, takes no pictures", x->rule->title,
                              nino_encoder_titles[e->id]);
    return nino_fail_kind(x->err, NINO_ERR_MISSING, "model", nino_weights_path(e->file),
                          "it has no vision network (visual.patch_embed ...) to look at the "
                          "picture with; that of a GGUF file is in its mmproj file, which belongs "
                          "beside it");
}

static nino_status look(const reading *x, const nino_array *picture, seen *out)
{
    const nino_llm *net = x->e->net;
    const int64_t *dim = picture->shape.dim;
    if (!nino_vision_grid_make(&out->grid, dim[1], dim[2]))
        return nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
    const int64_t patches = (int64_t) out->grid.rows * out->grid.cols * 4; // of a cell
    const nino_precision before = nino_encoder_set_precision(x->s, patches * net->vision->width);
    const nino_status st =
        nino_vision_see(x->s, net->vision, &out->grid, picture, &out->rows, x->err);
    nino_stream_set_precision(x->s, before);
    return st || out->rows ? st : nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
}

// Puts the rows of picture k, `cells` vectors from number `from` on, in the place of its mark.
static nino_token *put_cells(nino_token *to, const nino_token *mark, int from, int cells)
{
    for (int i = 0; i < cells; i++) {
        *to = *mark;
        to->id = -1;
        to->vector = from + i;
        to++;
    }
    return to;
}

// Marks of pictures, as many as there are pictures. *places: of all tokens, malloc'd.
static nino_status expand(reading *x, const seen *s, int n_seen, int32_t mark,
                          nino_llm_place **places)
{
    nino_prompt *p = &x->prompt;
    size_t cells = 0, n = (size_t) p->chunk_len;
    const size_t width = (size_t) x->e->width, own = (size_t) p->n_vectors;
    for (int i = 0; i < n_seen; i++)
        cells += (size_t) s[i].grid.rows * (size_t) s[i].grid.cols;
    nino_token *tokens = malloc((n + cells) * sizeof(*tokens)), *to = tokens;
    nino_llm_place *place = malloc((n + cells) * sizeof(*place)), *at = place;
    float *vectors = realloc(p->vectors, (own + cells) * width * sizeof(*vectors));
    p->vectors = vectors ? vectors : p->vectors;
    if (!tokens || !place || !vectors) {
        free(tokens);
        free(place);
        return nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
    }
    int32_t next = 0; // words' place
    int k = 0;
    for (size_t i = 0; i < n; i++) {
        if (k == n_seen || p->tokens[i].id != mark) {
            *to++ = p->tokens[i];
            *at++ = (nino_llm_place){ next, next, next };
            next++;
            continue;
        }
        const nino_vision_grid *g = &s[k].grid;
        memcpy(vectors + (size_t) p->n_vectors * width, nino_array_f32(s[k].rows),
               s[k].rows->bytes);
        to = put_cells(to, &p->tokens[i], p->n_vectors, g->rows * g->cols);
        for (int c = 0; c < g->rows * g->cols; c++)
            *at++ = (nino_llm_place){ next, next + c / g->cols, next + c % g->cols };
        next += g->rows > g->cols ? g->rows : g->cols;
        p->n_vectors += g->rows * g->cols;
        k++;
    }
    free(p->tokens);
    p->tokens = tokens;
    p->chunk_len = (int) (to - tokens);
    *places = place;
    return NINO_OK;
}

// Looks at the pictures that have a mark in the prompt, and puts them there.
static nino_status see_pictures(reading *x, nino_llm_place **places)
{
    const nino_llm *net = x->e->net;
    int32_t mark;
    int n_marks = 0, n = 0;
    if (!x->text->n_pictures)
        return NINO_OK;
    if (!net->vision)
        return no_eyes(x);
    nino_status st = special(x, "<|image_pad|>", &mark);
    for (int i = 0; i < x->prompt.chunk_len && !st; i++)
        n_marks += x->prompt.tokens[i].id == mark;
    const int most = n_marks < x->text->n_pictures ? n_marks : x->text->n_pictures;
    seen *s = calloc((size_t) most + 1, sizeof(*s));
    if (!s)
        return nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
    for (; n < most && !st; n++)
        st = look(x, x->text->pictures[n], &s[n]);
    if (!st)
        st = expand(x, s, most, mark, places);
    for (int i = 0; i < n; i++) {
        nino_vision_grid_release(&s[i].grid);
        nino_array_unref(&s[i].rows);
    }
    free(s);
    return st;
}

// ---- states ----------------------------------------------------------------------------------

static nino_status clip_llm_run(const reading *x, const nino_llm_place *places, nino_array **states)
{
    const nino_llm *net = x->e->net;
    const nino_prompt *p = &x->prompt;
    nino_llm_in in = { .stage = nino_encoder_names[x->e->id], .is_normed = x->rule->is_normed };
    nino_array *rows = NULL;
    bool *attend = malloc((size_t) p->chunk_len * sizeof(*attend));
    nino_status st =
        attend ? NINO_OK : nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
    for (int i = 0; i < p->chunk_len && !st; i++)
        attend[i] = p->tokens[i].attend;
    if (!st)
        st = nino_encoder_embed(x->e, p, nino_stream_is_plan(x->s), &rows, x->err);
    if (!st) {
        const int layer = x->c->layer ? x->c->layer : x->rule->layer;
        for (in.n_out = 0; in.n_out < NINO_LLM_MAX_OUT && x->rule->out[in.n_out]; in.n_out++)
            in.out[in.n_out] = x->rule->out[in.n_out];
        if (!in.n_out)
            in.out[in.n_out++] = layer < -net->n_layers ? net->n_layers : net->n_layers + layer + 1;
        in.x = nino_upload(x->s, rows, NINO_F32);
        in.attend = attend;
        in.place = places;
        nino_scope_begin(x->s, NINO_EV_STAGE, in.stage, 1, (uint32_t) p->chunk_len);
        const nino_precision before =
            nino_encoder_set_precision(x->s, nino_shape_count(&rows->shape));
        nino_tensor *t = nino_llm_run(x->s, net, &in);
        nino_stream_set_precision(x->s, before);
        nino_scope_end(x->s);
        *states = nino_download(x->s, t, NINO_F32);
        st = nino_stream_status(x->s, x->err);
    }
    if (!st)
        st = nino_encoder_check_finite(x->c, x->s, *states, x->err);
    nino_array_unref(&rows);
    free(attend);
    return st;
}

// ---- conditioning ----------------------------------------------------------------------------

// Rows `first` ... of the states, and which of them are hidden if any is.
static nino_status cut_rows(const reading *x, const nino_array *states, int first,
                            nino_cond_entry *out)
{
    const int64_t n = states->shape.dim[1] - first, width = states->shape.dim[2];
    const nino_token *t = x->prompt.tokens + first;
    bool hides = false;
    for (int64_t i = 0; i < n; i++)
        hides = hides || !t[i].attend;
    out->context = nino_array_create(NINO_F32, NINO_SHAPE(1, n, width));
    out->context_mask = hides ? nino_array_create(NINO_F32, NINO_SHAPE(1, n)) : NULL;
    if (!out->context || (hides && !out->context_mask))
        return nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
    memcpy(nino_array_f32(out->context), nino_array_f32(states) + first * width,
           (size_t) (n * width) * sizeof(float));
    for (int64_t i = 0; i < n && hides; i++)
        nino_array_f32(out->context_mask)[i] = t[i].attend;
    return NINO_OK;
}

nino_status nino_clip_encode_llm(nino_stream *s, const nino_clip *c, const nino_clip_text *text,
                                 nino_cond_entry *out, nino_error *err)
{
    reading x = { .s = s, .c = c, .text = text, .rule = &rules[c->type], .err = err };
    nino_array *states = NULL;
    nino_llm_place *places = NULL;
    int first = 0;
    x.e = c->enc[x.rule->id];
    nino_status st = nino_clip_prompt_llm(c, text, &x.prompt, &first, err);
    if (!st)
        st = see_pictures(&x, &places);
    if (!st)
        st = clip_llm_run(&x, places, &states);
    if (!st && x.rule->is_cut)
        st = cut_rows(&x, states, first, out);
    else if (!st)
        nino_cond_set_array(&out->context, states);
    free(places);
    nino_array_unref(&states);
    nino_prompt_release(&x.prompt);
    return st;
}
