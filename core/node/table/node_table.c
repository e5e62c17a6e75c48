// The list of all nodes, and finding them by name. To add a node: write it in a file of its
// family's folder (core/node/image, ...) and add one line here, or, of an extension, in ext_list.h.
#include <ctype.h>
#include <string.h>

#include "core/node/table/known.h"
#include "core/node/table/ext_list.h"
#include <ninodes/node.h>

// clang-format off
#define NODES(X)            \
    X(load_latent)          \
    X(save_latent)          \
    X(empty_latent)         \
    X(empty_sd3_latent)     \
    X(empty_flux2_latent)   \
    X(empty_qwen_layered)   \
    X(empty_video_latent)   \
    X(empty_hunyuan_video)  \
    X(wan_image_to_video)   \
    X(wan_first_last)       \
    X(wan22_latent)         \
    X(trim_video)           \
    X(wan_vace)             \
    X(latent_upscale)       \
    X(latent_upscale_by)    \
    X(load_image)           \
    X(clip_vision_loader)   \
    X(clip_vision_encode)   \
    X(unclip_loader)        \
    X(unclip_cond)          \
    X(style_model_loader)   \
    X(style_model_apply)    \
    X(lotus_conditioning)   \
    X(load_image_mask)      \
    X(load_image_output)    \
    X(control_loader)       \
    X(diff_control_loader)  \
    X(union_control)        \
    X(control_apply)        \
    X(control_apply_advanced)\
    X(control_apply_sd3)    \
    X(control_apply_alimama)\
    X(upscale_loader)       \
    X(image_upscale)        \
    X(image_scale)          \
    X(image_scale_by)       \
    X(image_batch)          \
    X(t5_options)           \
    X(cond_combine)         \
    X(cond_concat)          \
    X(cond_average)         \
    X(cond_area)            \
    X(cond_area_percent)    \
    X(cond_area_strength)   \
    X(cond_mask)            \
    X(cond_range)           \
    X(cond_zero)            \
    X(inpaint_cond)         \
    X(ip2p_cond)            \
    X(reference_latent)     \
    X(comfy_switch)         \
    X(comfy_not)            \
    X(comfy_and)            \
    X(comfy_or)             \
    X(create_list)          \
    X(resize_image_mask)    \
    X(batch_images)         \
    X(batch_masks)          \
    X(batch_latents)        \
    X(split_tiles)          \
    X(merge_tiles)          \
    X(bounding_box)         \
    X(image_crop_box)       \
    X(image_crop_mask)      \
    X(resize_longer)        \
    X(resize_shorter)       \
    X(center_crop)          \
    X(normalize_images)     \
    X(adjust_brightness)    \
    X(adjust_contrast)      \
    X(image_compare)        \
    X(latent_slices)        \
    X(replace_frames)       \
    X(math_expression)      \
    X(number_convert)       \
    X(resolution_selector)  \
    X(seed)                 \
    X(custom_combo)         \
    X(model_device)         \
    X(clip_device)          \
    X(vae_device)           \
    X(manual_sigmas)        \
    X(ltxv_scheduler)       \
    X(regex_match)          \
    X(regex_extract)        \
    X(regex_replace)        \
    X(string_format)        \
    X(json_extract)         \
    X(dictionary_text)      \
    X(array_text)           \
    X(save_text)            \
    X(text_prefix)          \
    X(text_suffix)          \
    X(text_truncate)        \
    X(text_lower)           \
    X(text_upper)           \
    X(text_strip)           \
    X(merge_image_lists)    \
    X(reference_method)     \
    X(vae_encode_inpaint)   \
    X(set_noise_mask)       \
    X(differential)         \
    X(latent_composite)     \
    X(latent_composite_masked)\
    X(latent_crop)          \
    X(latent_flip)          \
    X(latent_rotate)        \
    X(latent_concat)        \
    X(latent_cut)           \
    X(latent_add)           \
    X(latent_subtract)      \
    X(latent_multiply)      \
    X(latent_interpolate)   \
    X(latent_blend)         \
    X(latent_batch)         \
    X(rocm_defragment)      \
    X(rocm_memory_reset)    \
    X(paging)               \
    X(rebatch_latents)      \
    X(merge_simple)         \
    X(merge_blocks)         \
    X(merge_subtract)       \
    X(merge_add)            \
    X(merge_sd1)            \
    X(merge_sd2)            \
    X(merge_sdxl)           \
    X(merge_flux1)          \
    X(merge_sd3)            \
    X(merge_sd35)           \
    X(merge_wan)            \
    X(model_save)           \
    X(clip_save)            \
    X(clip_merge_simple)    \
    X(clip_merge_subtract)  \
    X(clip_merge_add)       \
    X(rebatch_images)       \
    X(latent_from_batch)    \
    X(latent_repeat)        \
    X(latent_seed)          \
    X(solid_mask)           \
    X(invert_mask)          \
    X(threshold_mask)       \
    X(crop_mask)            \
    X(mask_composite)       \
    X(feather_mask)         \
    X(grow_mask)            \
    X(mask_to_image)        \
    X(image_to_mask)        \
    X(color_to_mask)        \
    X(split_alpha)          \
    X(join_alpha)           \
    X(image_composite)      \
    X(porter_duff)          \
    X(empty_image)          \
    X(image_invert)         \
    X(image_crop)           \
    X(image_flip)           \
    X(image_rotate)         \
    X(image_from_batch)     \
    X(image_repeat)         \
    X(image_size)           \
    X(image_pad)            \
    X(image_scale_total)    \
    X(image_scale_longest)  \
    X(kontext_scale)        \
    X(image_resize_pad)     \
    X(image_stitch)         \
    X(image_blend)          \
    X(image_blur)           \
    X(image_sharpen)        \
    X(image_noise)          \
    X(canny)                \
    X(image_quantize)       \
    X(rgb_to_yuv)           \
    X(yuv_to_rgb)           \
    X(morphology)           \
    X(int)                  \
    X(float)                \
    X(bool)                 \
    X(line)                 \
    X(text)                 \
    X(preview_any)          \
    X(string_concat)        \
    X(string_sub)           \
    X(string_length)        \
    X(string_case)          \
    X(string_trim)          \
    X(string_replace)       \
    X(string_contains)      \
    X(string_compare)       \
    X(save_image)           \
    X(save_image_websocket) \
    X(etn_send)             \
    X(etn_save)             \
    X(etn_load)             \
    X(etn_load_image)       \
    X(etn_load_mask)        \
    X(preview_image)        \
    X(mask_preview)         \
    X(vae_loader)           \
    X(checkpoint_loader)    \
    X(checkpoint_config)    \
    X(rocm_checkpoint)      \
    X(clip_loader)          \
    X(dual_clip_loader)     \
    X(triple_clip_loader)   \
    X(clip_text_encode)     \
    X(clip_text_encode_control)\
    X(clip_text_encode_flux)\
    X(clip_text_encode_sdxl)\
    X(clip_text_encode_sdxl_refiner) \
    X(clip_text_encode_sd3) \
    X(clip_set_last_layer)  \
    X(qwen_edit)            \
    X(qwen_edit_plus)       \
    X(unet_loader)          \
    X(rocm_unet_loader)     \
    X(gguf_loader)          \
    X(gguf_loader_advanced) \
    X(rocm_gguf)            \
    X(lora_loader)          \
    X(lora_loader_model)    \
    X(rocm_lora)            \
    X(sampling_flux)        \
    X(sampling_sd3)         \
    X(sampling_aura)        \
    X(sampling_discrete)    \
    X(sampling_edm)         \
    X(sampling_v)           \
    X(rescale_cfg)          \
    X(cfg_norm)             \
    X(cfg_zero_star)        \
    X(mahiro)               \
    X(epsilon_scaling)      \
    X(temporal_rescaling)   \
    X(tcfg)                 \
    X(apg)                  \
    X(fresca)               \
    X(linear_cfg)           \
    X(triangle_cfg)         \
    X(renorm_cfg)           \
    X(cfg_override)         \
    X(easy_cache)           \
    X(lazy_cache)           \
    X(freeu)                \
    X(freeu_v2)             \
    X(pag)                  \
    X(sag)                  \
    X(skip_layer_dit)       \
    X(skip_layer_sd3)       \
    X(skip_layer_simple)    \
    X(add_downscale)        \
    X(hypertile)            \
    X(nag)                  \
    X(self_multiply)        \
    X(cross_multiply)       \
    X(ip_loader)            \
    X(ip_unified)           \
    X(ip_adapter)           \
    X(ip_advanced)          \
    X(patch_loader)         \
    X(qwen_control)         \
    X(zimage_control)       \
    X(model_dtype)          \
    X(vae_decode)           \
    X(vae_decode_tiled)     \
    X(vae_encode)           \
    X(vae_encode_tiled)     \
    X(rocm_vae_decode)      \
    X(rocm_vae_decode_tiled)\
    X(rocm_vae_phase1)      \
    X(rocm_vae_phase2)      \
    X(rocm_vae_phase3)      \
    X(rocm_vae_monitor)     \
    X(rocm_memory)          \
    X(rocm_flux_benchmark)  \
    X(ksampler)             \
    X(ksampler_advanced)    \
    X(sampler_custom)       \
    X(sampler_custom_advanced)\
    X(rocm_ksampler)        \
    X(rocm_ksampler_advanced)\
    X(rocm_sampler_custom)  \
    X(rocm_sampler_benchmark)\
    X(rocm_sampler_monitor) \
    X(basic_guider)         \
    X(cfg_guider)           \
    X(dual_cfg_guider)      \
    X(dual_model_guider)    \
    X(perp_neg_guider)      \
    X(op_tonemap)           \
    X(op_sharpen)           \
    X(apply_operation)      \
    X(apply_operation_cfg)  \
    X(random_noise)         \
    X(disable_noise)        \
    X(add_noise)            \
    X(flux_guidance)        \
    X(flux_no_guidance)     \
    X(ksampler_select)      \
    X(sampler_euler_a)      \
    X(sampler_euler_a_pp)   \
    X(sampler_2s)           \
    X(sampler_3m)           \
    X(sampler_2m)           \
    X(sampler_sde)          \
    X(sampler_lms)          \
    X(sampler_adaptive)     \
    X(sampler_er_sde)       \
    X(sampler_sa)           \
    X(sampler_cfgpp)        \
    X(basic_scheduler)      \
    X(turbo_scheduler)      \
    X(beta_scheduler)       \
    X(karras_scheduler)     \
    X(exponential_scheduler)\
    X(poly_scheduler)       \
    X(laplace_scheduler)    \
    X(vp_scheduler)         \
    X(flux2_scheduler)      \
    X(ays_scheduler)        \
    X(optimal_scheduler)    \
    X(gits_scheduler)       \
    X(split_sigmas)         \
    X(split_sigmas_denoise) \
    X(set_first_sigma)      \
    X(extend_sigmas)        \
    X(flip_sigmas)          \
    X(percent_sigma)        \
    X(latent_preview)       \
    X(create_video)         \
    X(perp_neg)             \
    X(wan_block_swap)       \
    X(flux_kv_cache)        \
    X(attention_backend)    \
    X(torch_compile)        \
    X(tome)                 \
    X(video_slice)          \
    X(load_audio)           \
    X(save_audio)           \
    X(preview_audio)        \
    X(empty_audio)          \
    X(trim_audio)           \
    X(audio_concat)         \
    X(audio_merge)          \
    X(audio_volume)         \
    X(video_components)     \
    X(load_video)           \
    X(save_video)           \
    X(save_webm)            \
    X(save_animated_webp)   \
    X(save_animated_png)    \
    NODES_EXT(X)            \
    X(note)                 \
    X(markdown_note)        \
    X(primitive)            \
    X(reroute)
// clang-format on

#define X(n) extern const nino_node_def nino_node_##n;
NODES(X)
#undef X

#define X(n) &nino_node_##n,
const nino_node_def *const nino_node_defs[] = { NODES(X) NULL };
#undef X

const nino_node_def *nino_node_find(const char *class_type, const nino_alias **alias)
{
    if (alias)
        *alias = NULL;
    for (int i = 0; nino_node_defs[i]; i++) {
        const nino_node_def *d = nino_node_defs[i];
        if (!strcmp(d->key, class_type))
            return d;
        for (const nino_alias *a = d->aliases; a && a->name; a++)
            if (!strcmp(a->name, class_type)) {
                if (alias)
                    *alias = a;
                return d;
            }
    }
    return NULL;
}

bool nino_node_is_known_unsupported(const char *class_type)
{
    return !nino_node_find(class_type, NULL) && nino_known_class_find(class_type);
}

#define MAX_NAME 96

// Edit distance with swapped neighbours (optimal string alignment), upper and lower case alike.
static size_t node_table_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[3][MAX_NAME + 1];
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3];
        const size_t *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        const int ca = tolower((unsigned char) a[i - 1]);
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const int cb = tolower((unsigned char) b[j - 1]);
            size_t best = up[j - 1] + (ca != cb);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && ca == tolower((unsigned char) b[j - 2]) &&
                cb == tolower((unsigned char) a[i - 2]) && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

typedef struct nearest {
    const char *text, *best;
    size_t len, distance;
} nearest;

static void consider(nearest *n, const char *name)
{
    const size_t len = strlen(name);
    const size_t gap = len > n->len ? len - n->len : n->len - len;
    if (len > MAX_NAME || gap >= n->distance)
        return;
    const size_t d = node_table_distance(n->text, n->len, name, len);
    if (d < n->distance) {
        n->distance = d;
        n->best = name;
    }
}

const char *nino_node_nearest(const char *class_type)
{
    const size_t len = strlen(class_type);
    if (!len || len > MAX_NAME)
        return NULL;
    // More than a quarter wrong is another name, not a slip.
    nearest n = { .text = class_type, .len = len, .distance = len / 4 + 2 };
    for (int i = 0; nino_node_defs[i]; i++) { // what runs here wins ties
        consider(&n, nino_node_defs[i]->key);
        for (const nino_alias *a = nino_node_defs[i]->aliases; a && a->name; a++)
            consider(&n, a->name);
    }
    size_t n_known;
    const nino_known_class *known = nino_known_classes(&n_known);
    for (size_t i = 0; i < n_known; i++)
        consider(&n, known[i].name);
    return n.best;
}
