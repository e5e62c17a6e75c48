// Textual inversions: which file a name means, which tensor counts, and what a prompt makes of
// them.
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/text/embedding.h"
#include "core/text/prompt.h"
#include "tests/text.h"

static nino_error err;
static char dir[] = "/tmp/ninodes-embedding-XXXXXX";
static nino_tokenizer *tok;

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

// A file of f32 tensors: element i of the k-th one is 100 * k + i.
typedef struct tensor {
    const char *name;
    int rank;
    int64_t dim[3];
} tensor;

static void save(const char *file, const tensor *t, int n)
{
    nino_st_entry entries[4] = { 0 };
    nino_array *arrays[4];
    for (int k = 0; k < n; k++) {
        arrays[k] = nino_array_create(NINO_F32, nino_shape_make(t[k].rank, t[k].dim));
        CHECK(arrays[k]);
        for (size_t i = 0; i < arrays[k]->bytes / 4; i++)
            nino_array_f32(arrays[k])[i] = 100.0f * (float) k + (float) i;
        entries[k] = (nino_st_entry){ t[k].name, arrays[k] };
    }
    CHECK_OK(nino_st_save(dir, file, true, entries, n, NULL, 0, &err), err);
    for (int k = 0; k < n; k++)
        nino_array_unref(&arrays[k]);
}

// Zeros of one byte each.
static void save_bytes(const char *file, int64_t rows, int64_t width)
{
    nino_array *a = nino_array_create(NINO_U8, NINO_SHAPE(rows, width));
    const nino_st_entry entry = { "emb_params", a };
    CHECK(a);
    memset(a->data, 0, a->bytes);
    CHECK_OK(nino_st_save(dir, file, true, &entry, 1, NULL, 0, &err), err);
    nino_array_unref(&a);
}

static void finding(void)
{
    char names[][24] = { "a/deep.pt",  "a/x.pt",           "a/x.safetensors",
                         "b/only.bin", "both.bin",         "both.pt",
                         "name.pt",    "x.v2.safetensors", "a/name.safetensors" };
    char *files[sizeof(names) / sizeof(names[0]) + 1] = { NULL };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        files[i] = names[i];
    static const struct {
        const char *name, *file;
    } cases[] = { { "name", "name.pt" },
                  { "name.pt", "name.pt" },
                  { "both", "both.pt" },
                  { "both.bin", "both.bin" },
                  { "x", "a/x.safetensors" },
                  { "a/x", "a/x.safetensors" },
                  { "a/x.pt", "a/x.pt" },
                  { "only", "b/only.bin" },
                  { "deep", "a/deep.pt" },
                  { "x.v2", "x.v2.safetensors" },
                  { "v2", NULL },
                  { "", NULL },
                  { "../x", NULL },
                  { "eep", NULL },
                  { "/x", NULL },
                  { "Name", NULL } };
    char two[][24] = { "a/x.pt", "b/x.safetensors", "c/x" }; // in folders with names of one length
    char *others[] = { two[0], two[1], two[2], NULL };
    CHECK(nino_embedding_find("x", others) == 0 && nino_embedding_find("b/x", others) == 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int k = nino_embedding_find(cases[i].name, files);
        CHECK_STR(k >= 0 ? files[k] : "none", cases[i].file ? cases[i].file : "none");
    }
}

// "rows x width, first value"
static const char *read_as(const char *file, const char *key)
{
    static char out[400];
    nino_weights *w = nino_weights_open(path_of(file), &err);
    nino_embedding e = { 0 };
    CHECK_OK(w ? NINO_OK : err.code, err);
    if (nino_embedding_read(w, key, &e, &err))
        snprintf(out, sizeof(out), "%s", err.kind);
    else
        snprintf(out, sizeof(out), "%dx%d, %g", e.rows, e.width, (double) e.data[0]);
    nino_embedding_release(&e);
    nino_weights_unref(&w);
    return out;
}

static void reading(void)
{
    save("emb_params.safetensors", (tensor[]){ { "emb_params", 2, { 2, 4 } } }, 1);
    CHECK_STR(read_as("emb_params.safetensors", "clip_l"), "2x4, 0");
    save("one.safetensors", (tensor[]){ { "emb_params", 1, { 4 } } }, 1);
    CHECK_STR(read_as("one.safetensors", "clip_l"), "1x4, 0");
    save("three.safetensors", (tensor[]){ { "any", 3, { 3, 2, 4 } } }, 1);
    CHECK_STR(read_as("three.safetensors", "clip_l"), "6x4, 0");
    save("xl.safetensors", (tensor[]){ { "clip_l", 2, { 2, 4 } }, { "clip_g", 2, { 2, 6 } } }, 2);
    CHECK_STR(read_as("xl.safetensors", "clip_l"), "2x4, 0");
    CHECK_STR(read_as("xl.safetensors", "clip_g"), "2x6, 100");
    CHECK_STR(read_as("xl.safetensors", "t5xxl"), "2x4, 0"); // as it is, the first
    save("param.safetensors",
         (tensor[]){ { "clip_l", 2, { 2, 4 } }, { "string_to_param.*", 2, { 3, 4 } } }, 2);
    CHECK_STR(read_as("param.safetensors", "clip_l"), "3x4, 100");
    save("bundle.safetensors",
         (tensor[]){ { "lora.weight", 2, { 1, 1 } },
                     { "bundle_emb.a.string_to_param.*", 2, { 1, 4 } },
                     { "bundle_emb.b.string_to_param.*", 2, { 2, 4 } } },
         3);
    CHECK_STR(read_as("bundle.safetensors", "clip_l"), "3x4, 100");
    save("bundle2.safetensors",
         (tensor[]){ { "bundle_emb.a.clip_g", 2, { 1, 6 } },
                     { "bundle_emb.a.clip_l", 2, { 2, 4 } } },
         2);
    CHECK_STR(read_as("bundle2.safetensors", "clip_l"), "2x4, 100");
    // names with nothing between their ends, and one whose ends are the same dot
    save("tight.safetensors",
         (tensor[]){ { "a", 2, { 3, 4 } }, { "bundle_emb..clip_l", 2, { 2, 4 } } }, 2);
    CHECK_STR(read_as("tight.safetensors", "clip_l"), "2x4, 100");
    save("shared.safetensors",
         (tensor[]){ { "a", 2, { 3, 4 } }, { "bundle_emb.clip_l", 2, { 2, 4 } } }, 2);
    CHECK_STR(read_as("shared.safetensors", "clip_l"), "3x4, 0");
    save("bare.safetensors",
         (tensor[]){ { "a", 2, { 3, 4 } }, { "string_to_param.", 2, { 2, 4 } } }, 2);
    CHECK_STR(read_as("bare.safetensors", "clip_l"), "2x4, 100");
    save("uneven.safetensors",
         (tensor[]){ { "bundle_emb.a.clip_l", 2, { 1, 6 } },
                     { "bundle_emb.b.clip_l", 2, { 2, 4 } } },
         2);
    CHECK_STR(read_as("uneven.safetensors", "clip_l"), "shape");
    CHECK(strstr(err.where, "bundle_emb.b.clip_l"));
    save("scalar.safetensors", (tensor[]){ { "x", 0, { 0 } } }, 1);
    CHECK_STR(read_as("scalar.safetensors", "clip_l"), "shape");
    save("hollow.safetensors", (tensor[]){ { "x", 2, { 2, 0 } } }, 1);
    CHECK_STR(read_as("hollow.safetensors", "clip_l"), "shape");
    save("bundle3.safetensors",
         (tensor[]){ { "bundle_emb.a.string_to_param.*", 0, { 0 } },
                     { "bundle_emb.b.string_to_param.*", 2, { 2, 4 } } },
         2);
    CHECK_STR(read_as("bundle3.safetensors", "clip_l"), "shape"); // the first one's, and no further
    CHECK(strstr(err.where, "bundle_emb.a"));
    nino_weights *w = nino_weights_open(path_of("hollow.safetensors"), &err);
    nino_embedding e = { 0 };
    CHECK(w && nino_embedding_read(w, "clip_l", &e, NULL) == NINO_ERR_FORMAT && !e.data);
    nino_weights_unref(&w);
    nino_embedding_release(NULL);
    save_bytes("wide.safetensors", 1, 1048577);
    CHECK_STR(read_as("wide.safetensors", "clip_l"), "shape");
    save_bytes("high.safetensors", 1048577, 1);
    CHECK_STR(read_as("high.safetensors", "clip_l"), "shape");
    save_bytes("most.safetensors", 1048576, 1);
    CHECK_STR(read_as("most.safetensors", "clip_l"), "1048576x1, 0");
    save("empty.safetensors", (tensor[]){ { "x", 2, { 0, 4 } } }, 1);
    save("none.safetensors", NULL, 0);
    CHECK_STR(read_as("none.safetensors", "clip_l"), "schema");
}

// ---- in prompts ------------------------------------------------------------------------------

static char warnings[1024];

static void warn(void *priv, const char *text)
{
    CHECK(priv == dir);
    const size_t n = strlen(warnings);
    snprintf(warnings + n, sizeof(warnings) - n, "%s%s", n ? "|" : "", text);
}

static nino_status open_embedding(void *priv, const char *name, nino_weights **out, nino_error *e)
{
    char file[128];
    CHECK(priv == dir);
    if (strchr(name, '/') || strstr(name, ".."))
        return e->code = NINO_ERR_RANGE;
    snprintf(file, sizeof(file), "%s.safetensors", name);
    if (access(path_of(file), F_OK))
        return e->code = NINO_ERR_MISSING;
    *out = nino_weights_open(path_of(file), e);
    return *out ? NINO_OK : e->code;
}

// "id id v0 v1 ..." up to the end token; then weights other than 1 as *w
static const char *prompt(const char *text, const char *key, int width, nino_prompt *keep)
{
    static char out[4096];
    size_t at = 0;
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_CLIP_L);
    nino_prompt p;
    r.start = TEXT_START;
    r.end = r.pad = TEXT_END;
    r.key = key;
    r.width = width;
    r.priv = dir;
    r.embedding = open_embedding;
    r.warn = warn;
    warnings[0] = 0;
    CHECK_OK(nino_prompt_build(tok, &r, text, &p, &err), err);
    CHECK(p.n_chunks >= 1 && p.chunk_len == 77 && p.tokens[0].id == TEXT_START);
    out[0] = 0;
    for (int i = 1; p.tokens[i].id != TEXT_END; i++) {
        const nino_token *t = &p.tokens[i];
        CHECK((t->id < 0) == (t->vector >= 0) && t->vector < p.n_vectors && t->attend);
        at += (size_t) snprintf(out + at, sizeof(out) - at, "%s%s%d", at ? " " : "",
                                t->id < 0 ? "v" : "", t->id < 0 ? t->vector : t->id);
        if (t->weight != 1.0f)
            at += (size_t) snprintf(out + at, sizeof(out) - at, "*%.4g", (double) t->weight);
    }
    if (keep)
        *keep = p;
    else
        nino_prompt_release(&p);
    return out;
}

#define L(text) prompt(text, "clip_l", 4, NULL)

static void references(void)
{
    // 513 cat, 515 dog, 267 a comma at the end of a word
    CHECK_STR(L("embedding:emb_params"), "v0 v1");
    CHECK_STR(L("cat embedding:emb_params dog"), "513 v0 v1 515");
    CHECK_STR(L("cat\nembedding:emb_params\ndog"), "513 v0 v1 515");
    CHECK_STR(L("(embedding:emb_params:1.3) cat"), "v0*1.3 v1*1.3 513");
    CHECK_STR(L("embedding:one embedding:emb_params"), "v0 v1 v2");
    CHECK_STR(L("embedding:one, cat"), "v0 267 513"); // the comma is not part of the name
    CHECK_STR(L("embedding:one,"), "v0 267");
    CHECK_STR(warnings, "");
    // Only after a space or at the beginning.
    CHECK_STR(L("(b)embedding:one"), "321*1.1 v0");
    nino_prompt p;
    prompt("b,embedding:one", "clip_l", 4, &p);
    CHECK(p.n_vectors == 0);
    nino_prompt_release(&p);
    // Missing ones go, with what is said about them.
    CHECK_STR(L("cat embedding:nowhere dog"), "513 515");
    CHECK_STR(warnings, "embedding:nowhere does not exist: it is left out");
    CHECK_STR(L("embedding:nowhere, dog"), "267 515");
    CHECK_STR(L("cat embedding: "), "513");
    CHECK_STR(L("embedding:../one cat"), "513");
    CHECK(strstr(warnings, "embedding:../one"));
    // So do those that cannot be read.
    CHECK_STR(L("embedding:none dog"), "515");
    CHECK(strstr(warnings, "embedding:none cannot be read: ") && strstr(warnings, "no vector"));
    // By encoder.
    prompt("embedding:xl", "clip_g", 6, &p);
    CHECK(p.n_vectors == 2 && p.width == 6 && p.vectors[0] == 100.0f && p.vectors[11] == 111.0f);
    CHECK(p.tokens[1].word == 1 && p.tokens[2].word == 1 && !p.is_weighted);
    nino_prompt_release(&p);
}

// Wrong ones leave their places, but their weights stay, as in ComfyUI.
static void wrong_width(void)
{
    nino_prompt p;
    CHECK_STR(prompt("cat embedding:emb_params (dog:1.5)", "clip_l", 5, &p), "513 515");
    CHECK_STR(warnings,
              "embedding:emb_params has 4 columns, the text encoder needs 5: it is left out");
    CHECK(p.is_weighted && p.tokens[4].weight == 1.5f && p.tokens[2].weight == 1.0f);
    CHECK(p.tokens[2].id == TEXT_DOG && p.tokens[3].id == TEXT_END && p.tokens[76].id == TEXT_END);
    CHECK(nino_prompt_attended(&p, 0) == 4 && !p.n_vectors);
    nino_prompt_release(&p);
}

static void chunks(void)
{
    char text[512] = "";
    nino_prompt p;
    // 70 letters, then a group of 7 vectors: it stays whole and moves on.
    save("seven.safetensors", (tensor[]){ { "emb_params", 2, { 7, 4 } } }, 1);
    memset(text, 'b', 70);
    memcpy(text + 70, " embedding:seven", 17);
    prompt(text, "clip_l", 4, &p);
    CHECK(p.n_chunks == 2 && p.tokens[71].id == TEXT_END && p.tokens[78].vector == 0 &&
          p.tokens[84].vector == 6 && p.tokens[85].id == TEXT_END);
    CHECK(nino_prompt_attended(&p, 1) == 9);
    int32_t ids[77];
    nino_prompt_chunk_ids(&p, 1, ids);
    CHECK(ids[0] == TEXT_START && ids[1] == -1 && ids[7] == -1 && ids[8] == TEXT_END);
    nino_prompt_release(&p);
}

// A file of no vectors leaves nothing; as many as tokens are read leave no room for more.
static void many(void)
{
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_T5_BARE);
    nino_prompt p;
    CHECK_STR(L("cat embedding:empty dog"), "513 515");
    CHECK_STR(warnings, "");
    r.priv = dir;
    r.embedding = open_embedding;
    r.keeps_gap = true; // CLIP's words do not show it
    r.width = 1;
    CHECK_OK(nino_prompt_build(tok, &r, "cat embedding:none dog", &p, &err), err);
    CHECK(p.chunk_len == 3 && p.tokens[0].id == TEXT_CAT && p.tokens[1].id == TEXT_DOG);
    nino_prompt_release(&p);
    CHECK(nino_prompt_build(tok, &r, "embedding:most cat", &p, &err) == NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "more than 1048576 tokens") && !p.tokens && !p.vectors);
    CHECK(nino_prompt_build(tok, &r, "embedding:most embedding:most", &p, &err) == NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "more than 1048576 tokens") && !p.tokens && !p.vectors);
    r.width = 2; // of another width they take room, too
    CHECK(nino_prompt_build(tok, &r, "cat embedding:most", &p, &err) == NINO_ERR_RANGE);
    CHECK(!p.tokens && !p.n_vectors);
}

// Without the callback it is text.
static void no_embeddings(void)
{
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_CLIP_L);
    nino_prompt p;
    CHECK_OK(nino_prompt_build(tok, &r, "embedding:one", &p, &err), err);
    CHECK(p.tokens[1].id == text_byte('e', 0) && !p.n_vectors);
    nino_prompt_release(&p);
    r = nino_prompt_rules_of(NINO_PROMPT_UMT5_WAN); // ComfyUI gives it no folder
    r.embedding = open_embedding;
    CHECK_OK(nino_prompt_build(tok, &r, "embedding:one", &p, &err), err);
    CHECK(p.tokens[0].id == text_byte('e', 0) && !p.n_vectors);
    nino_prompt_release(&p);
}

int main(void)
{
    tok = text_open_clip(dir);
    finding();
    reading();
    references();
    wrong_width();
    chunks();
    many();
    no_embeddings();
    nino_tokenizer_unref(&tok);
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}
