// Which networks a workflow is made for that this version does not have, as far as it can be told
// without a file: by classes, the type of text encoders, and how files are called that are not here
// (those that are tell it themselves). A network that is added loses its row here.
#include <ctype.h>
#include <string.h>

#include "core/node/node_impl.h"
#include "core/node/param.h"
#include "core/workflow/workflow.h"

enum { MAX_CLUES = 8 };

typedef struct family {
    const char *name;
    const char *types[3];           // of CLIPLoader and its like
    const char *classes[MAX_CLUES]; // that no other network uses
    const char
        *files[MAX_CLUES]; // what names of its files hold: small letters, '_' for - . and blanks
} family;

static const family families[] = {
    { "Qwen-Image-Layered",
      { NULL },
      { "EmptyQwenImageLayeredLatentImage" },
      { "qwen_image_layered" } },
    { "Lumina 2", { NULL }, { "CLIPTextEncodeLumina2" }, { "lumina_2", "lumina2" } },
    { "Z-Image Omni", { NULL }, { "TextEncodeZImageOmni" }, { "z_image_omni" } },
    { "Chroma Radiance",
      { NULL },
      { "ChromaRadianceOptions", "EmptyChromaRadianceLatentImage" },
      { "chroma_radiance", "chroma1_radiance" } },
    { "HunyuanVideo",
      { "hunyuan_video", "hunyuan_video_15" },
      { "HunyuanImageToVideo", "HunyuanVideo15ImageToVideo", "EmptyHunyuanVideo15Latent",
        "TextEncodeHunyuanVideo_ImageToVideo", "CLIPTextEncodeHunyuanDiT" },
      { "hunyuan_video", "hunyuanvideo" } },
    { "HunyuanImage",
      { "hunyuan_image" },
      { "EmptyHunyuanImageLatent" },
      { "hunyuan_image", "hunyuanimage" } },
    { "LTX-Video",
      { "ltxv" },
      { "EmptyLTXVLatentVideo", "LTXVConditioning", "LTXVScheduler", "LTXVImgToVideo",
        "LTXAVTextEncoderLoader", "LTXVAudioVAELoader" },
      { "ltxv", "ltx_video", "ltx_2", "ltx2" } },
    { "Mochi", { "mochi" }, { "EmptyMochiLatentVideo" }, { "mochi" } },
    { "Cosmos",
      { "cosmos" },
      { "EmptyCosmosLatentVideo", "CosmosImageToVideoLatent", "CosmosPredict2ImageToVideoLatent" },
      { "cosmos" } },
    { "HiDream", { "hidream" }, { "CLIPTextEncodeHiDream", "QuadrupleCLIPLoader" }, { "hidream" } },
    { "Stable Cascade",
      { "stable_cascade" },
      { "StableCascade_EmptyLatentImage", "StableCascade_StageB_Conditioning",
        "StableCascade_StageC_VAEEncode" },
      { "stable_cascade" } },
    { "Stable Audio",
      { "stable_audio" },
      { "EmptyLatentAudio", "ConditioningStableAudio" },
      { "stable_audio" } },
    { "ACE-Step",
      { "ace" },
      { "EmptyAceStepLatentAudio", "TextEncodeAceStepAudio" },
      { "ace_step" } },
    { "PixArt", { NULL }, { "CLIPTextEncodePixArtAlpha" }, { "pixart" } },
    { "OmniGen2", { "omnigen2" }, { NULL }, { "omnigen2" } },
    { "Kandinsky 5",
      { "kandinsky5", "kandinsky5_image" },
      { "Kandinsky5ImageToVideo" },
      { "kandinsky5" } },
    { "Krea 2", { "krea2" }, { NULL }, { "krea2", "krea_2" } },
    { "Stable Video Diffusion",
      { NULL },
      { "SVD_img2vid_Conditioning", "ImageOnlyCheckpointLoader" },
      { "svd_" } },
    { "AuraFlow", { NULL }, { NULL }, { "aura_flow", "auraflow" } },
    { "Hunyuan3D",
      { NULL },
      { "EmptyLatentHunyuan3Dv2", "Hunyuan3Dv2Conditioning" },
      { "hunyuan3d", "hunyuan_3d" } },
};

static bool is_family_listed(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n && list[i]; i++)
        if (!strcmp(list[i], word))
            return true;
    return false;
}

// Does the file's own name, without its folders, hold the word?
static bool family_holds(const char *path, const char *word)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\')
            name = c + 1;
    for (; *name; name++) {
        size_t i = 0;
        while (word[i] && name[i] &&
               (word[i] == '_' ? strchr("_-. ", name[i]) != NULL
                               : tolower((unsigned char) name[i]) == word[i]))
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

static bool is_family_file(const family *f, const char *path)
{
    for (int i = 0; i < MAX_CLUES && f->files[i]; i++)
        if (family_holds(path, f->files[i]))
            return true;
    return false;
}

static bool is_family_here(const nino_ctx *ctx, const nino_gnode *n, const char *key,
                           const char *path)
{
    const nino_param *p = ctx && n->def ? nino_param_find(n->def, key) : NULL;
    nino_error e = { 0 };
    return p && p->folder && !nino_services_of(ctx)->check_file(ctx, p->folder, path, &e);
}

// The input that tells, "" for the class itself; NULL: the node says nothing about it.
static const char *family_clue(const family *f, const nino_ctx *ctx, const nino_gnode *n)
{
    static const char *const models[] = { "unet_name", "ckpt_name", "gguf_name", "diffusion_name" };
    const nino_json *in = nino_json_get(n->json, "inputs");
    const char *type = nino_json_str(nino_json_get(in, "type"));
    if (is_family_listed(f->classes, MAX_CLUES, n->class_type))
        return "";
    if (type && strstr(n->class_type, "CLIPLoader") && is_family_listed(f->types, 3, type))
        return "type";
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        const char *path = nino_json_str(nino_json_get(in, models[i]));
        if (path && is_family_file(f, path) && !is_family_here(ctx, n, models[i], path))
            return models[i];
    }
    return NULL;
}

const char *nino_graph_next_family(const nino_graph *g, const nino_ctx *ctx, int *row, int *node,
                                   const char **input)
{
    for (; *row < (int) (sizeof(families) / sizeof(families[0])); ++*row)
        for (int i = 0; i < g->n_nodes; i++) {
            const nino_gnode *n = &g->nodes[i];
            const char *clue = n->is_wanted ? family_clue(&families[*row], ctx, n) : NULL;
            if (!clue)
                continue;
            *node = i;
            *input = *clue ? clue : NULL;
            return families[(*row)++].name;
        }
    return NULL;
}
