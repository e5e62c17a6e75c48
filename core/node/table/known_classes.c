// Classes of ComfyUI 0.3.64, of ComfyUI-GGUF and of the original ROCm extension, sorted by byte. A
// workflow that uses one this version cannot run is told "not supported yet" instead of "unknown",
// and its widgets still get their names. Written by data/known_classes.py.
//
// Widgets in the order of widgets_values, each a letter, a mark and its name. The letter: i INT,
// f FLOAT, b BOOLEAN, s STRING, d one with {this|or that}, e a choice, x a value of the editor's
// own. The mark: '+' when a choice of control_after_generate follows, '^' when the entry of an
// upload button does, else ':'.
#include "core/node/table/known.h"

// clang-format off
const nino_known_class nino_known_classes[] = {
    { "APG", 0, "f:eta f:norm_threshold f:momentum" },
    { "AddNoise", 0, "" },
    { "AlignYourStepsScheduler", 0, "e:model_type i:steps f:denoise" },
    { "AudioAdjustVolume", 0, "i:volume" },
    { "AudioConcat", 0, "e:direction" },
    { "AudioEncoderEncode", 0, "" },
    { "AudioEncoderLoader", 0, "e:audio_encoder_name" },
    { "AudioMerge", 0, "e:merge_method" },
    { "BasicGuider", 0, "" },
    { "BasicScheduler", 0, "e:scheduler i:steps f:denoise" },
    { "BetaSamplingScheduler", 0, "i:steps f:alpha f:beta" },
    { "CFGGuider", 0, "f:cfg" },
    { "CFGNorm", 0, "f:strength" },
    { "CFGZeroStar", 0, "" },
    { "CLIPAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "CLIPLoader", 0, "e:clip_name e:type e:device" },
    { "CLIPLoaderGGUF", 0, "e:clip_name e:type" },
    { "CLIPMergeAdd", 0, "" },
    { "CLIPMergeSimple", 0, "f:ratio" },
    { "CLIPMergeSubtract", 0, "f:multiplier" },
    { "CLIPSave", 1, "s:filename_prefix" },
    { "CLIPSetLastLayer", 0, "i:stop_at_clip_layer" },
    { "CLIPTextEncode", 0, "d:text" },
    { "CLIPTextEncodeControlnet", 0, "d:text" },
    { "CLIPTextEncodeFlux", 0, "d:clip_l d:t5xxl f:guidance" },
    { "CLIPTextEncodeHiDream", 0, "d:clip_l d:clip_g d:t5xxl d:llama" },
    { "CLIPTextEncodeHunyuanDiT", 0, "d:bert d:mt5xl" },
    { "CLIPTextEncodeLumina2", 0, "e:system_prompt d:user_prompt" },
    { "CLIPTextEncodePixArtAlpha", 0, "i:width i:height d:text" },
    { "CLIPTextEncodeSD3", 0, "d:clip_l d:clip_g d:t5xxl e:empty_padding" },
    { "CLIPTextEncodeSDXL", 0,
      "i:width i:height i:crop_w i:crop_h i:target_width i:target_height d:text_g d:text_l" },
    { "CLIPTextEncodeSDXLRefiner", 0, "f:ascore i:width i:height d:text" },
    { "CLIPVisionEncode", 0, "e:crop" },
    { "CLIPVisionLoader", 0, "e:clip_name" },
    { "Canny", 0, "f:low_threshold f:high_threshold" },
    { "CaseConverter", 0, "s:string e:mode" },
    { "CheckpointLoader", 0, "e:config_name e:ckpt_name" },
    { "CheckpointLoaderSimple", 0, "e:ckpt_name" },
    { "CheckpointSave", 1, "s:filename_prefix" },
    { "ChromaRadianceOptions", 0,
      "b:preserve_wrapper f:start_sigma f:end_sigma i:nerf_tile_size" },
    { "CombineHooks2", 0, "" },
    { "CombineHooks4", 0, "" },
    { "CombineHooks8", 0, "" },
    { "ConditioningAverage", 0, "f:conditioning_to_strength" },
    { "ConditioningCombine", 0, "" },
    { "ConditioningConcat", 0, "" },
    { "ConditioningSetArea", 0, "i:width i:height i:x i:y f:strength" },
    { "ConditioningSetAreaPercentage", 0, "f:width f:height f:x f:y f:strength" },
    { "ConditioningSetAreaPercentageVideo", 0,
      "f:width f:height f:temporal f:x f:y f:z f:strength" },
    { "ConditioningSetAreaStrength", 0, "f:strength" },
    { "ConditioningSetDefaultCombine", 0, "" },
    { "ConditioningSetMask", 0, "f:strength e:set_cond_area" },
    { "ConditioningSetProperties", 0, "f:strength e:set_cond_area" },
    { "ConditioningSetPropertiesAndCombine", 0, "f:strength e:set_cond_area" },
    { "ConditioningSetTimestepRange", 0, "f:start f:end" },
    { "ConditioningStableAudio", 0, "f:seconds_start f:seconds_total" },
    { "ConditioningTimestepsRange", 0, "f:start_percent f:end_percent" },
    { "ConditioningZeroOut", 0, "" },
    { "ContextWindowsManual", 0,
      "i:context_length i:context_overlap e:context_schedule i:context_stride b:closed_loop "
      "e:fuse_method i:dim" },
    { "ControlNetApply", 0, "f:strength" },
    { "ControlNetApplyAdvanced", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetApplySD3", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetInpaintingAliMamaApply", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetLoader", 0, "e:control_net_name" },
    { "CosmosImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "CosmosPredict2ImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "CreateHookKeyframe", 0, "f:strength_mult f:start_percent" },
    { "CreateHookKeyframesFromFloats", 0, "f:start_percent f:end_percent b:print_keyframes" },
    { "CreateHookKeyframesInterpolated", 0,
      "f:strength_start f:strength_end e:interpolation f:start_percent f:end_percent "
      "i:keyframes_count b:print_keyframes" },
    { "CreateHookLora", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "CreateHookLoraModelOnly", 0, "e:lora_name f:strength_model" },
    { "CreateHookModelAsLora", 0, "e:ckpt_name f:strength_model f:strength_clip" },
    { "CreateHookModelAsLoraModelOnly", 0, "e:ckpt_name f:strength_model" },
    { "CreateVideo", 0, "f:fps" },
    { "CropMask", 0, "i:x i:y i:width i:height" },
    { "DiffControlNetLoader", 0, "e:control_net_name" },
    { "DifferentialDiffusion", 0, "f:strength" },
    { "DiffusersLoader", 0, "e:model_path" },
    { "DisableNoise", 0, "" },
    { "DualCFGGuider", 0, "f:cfg_conds f:cfg_cond2_negative e:style" },
    { "DualCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:type e:device" },
    { "DualCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:type" },
    { "EasyCache", 0, "f:reuse_threshold f:start_percent f:end_percent b:verbose" },
    { "EmptyAceStepLatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyAudio", 0, "f:duration i:sample_rate i:channels" },
    { "EmptyChromaRadianceLatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyCosmosLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyFlux2LatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyHunyuanImageLatent", 0, "i:width i:height i:batch_size" },
    { "EmptyHunyuanLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyImage", 0, "i:width i:height i:batch_size i:color" },
    { "EmptyLTXVLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyLatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyLatentHunyuan3Dv2", 0, "i:resolution i:batch_size" },
    { "EmptyLatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyLatentVideo", 0, "i:width i:height i:batch_size i:frame_count" },
    { "EmptyMochiLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptySD3LatentImage", 0, "i:width i:height i:batch_size" },
    { "Epsilon Scaling", 0, "f:scaling_factor" },
    { "ExponentialScheduler", 0, "i:steps f:sigma_max f:sigma_min" },
    { "ExtendIntermediateSigmas", 0, "i:steps f:start_at_sigma f:end_at_sigma e:spacing" },
    { "FeatherMask", 0, "i:left i:top i:right i:bottom" },
    { "FlipSigmas", 0, "" },
    { "Flux2Scheduler", 0, "i:steps i:width i:height" },
    { "FluxDisableGuidance", 0, "" },
    { "FluxGuidance", 0, "f:guidance" },
    { "FluxKontextImageScale", 0, "" },
    { "FluxKontextMultiReferenceLatentMethod", 0, "e:reference_latents_method" },
    { "FreSca", 0, "f:scale_low f:scale_high i:freq_cutoff" },
    { "FreeU", 0, "f:b1 f:b2 f:s1 f:s2" },
    { "FreeU_V2", 0, "f:b1 f:b2 f:s1 f:s2" },
    { "GITSScheduler", 0, "f:coeff i:steps f:denoise" },
    { "GLIGENLoader", 0, "e:gligen_name" },
    { "GLIGENTextBoxApply", 0, "d:text i:width i:height i:x i:y" },
    { "GetImageSize", 0, "" },
    { "GetVideoComponents", 0, "" },
    { "GrowMask", 0, "i:expand b:tapered_corners" },
    { "Hunyuan3Dv2Conditioning", 0, "" },
    { "Hunyuan3Dv2ConditioningMultiView", 0, "" },
    { "HunyuanImageToVideo", 0, "i:width i:height i:length i:batch_size e:guidance_type" },
    { "HunyuanRefinerLatent", 0, "f:noise_augmentation" },
    { "HyperTile", 0, "i:tile_size i:swap_size i:max_depth b:scale_depth" },
    { "HypernetworkLoader", 0, "e:hypernetwork_name f:strength" },
    { "ImageAddNoise", 0, "i+seed f:strength" },
    { "ImageBatch", 0, "" },
    { "ImageBlend", 0, "f:blend_factor e:blend_mode" },
    { "ImageBlur", 0, "i:blur_radius f:sigma" },
    { "ImageColorToMask", 0, "i:color" },
    { "ImageCompositeMasked", 0, "i:x i:y b:resize_source" },
    { "ImageCrop", 0, "i:width i:height i:x i:y" },
    { "ImageFlip", 0, "e:flip_method" },
    { "ImageFromBatch", 0, "i:batch_index i:length" },
    { "ImageInvert", 0, "" },
    { "ImageOnlyCheckpointLoader", 0, "e:ckpt_name" },
    { "ImageOnlyCheckpointSave", 1, "s:filename_prefix" },
    { "ImagePadForOutpaint", 0, "i:left i:top i:right i:bottom i:feathering" },
    { "ImageQuantize", 0, "i:colors e:dither" },
    { "ImageRGBToYUV", 0, "" },
    { "ImageRotate", 0, "e:rotation" },
    { "ImageScale", 0, "e:upscale_method i:width i:height e:crop" },
    { "ImageScaleBy", 0, "e:upscale_method f:scale_by" },
    { "ImageScaleToMaxDimension", 0, "e:upscale_method i:largest_size" },
    { "ImageScaleToTotalPixels", 0, "e:upscale_method f:megapixels" },
    { "ImageSharpen", 0, "i:sharpen_radius f:sigma f:alpha" },
    { "ImageStitch", 0, "e:direction b:match_image_size i:spacing_width e:spacing_color" },
    { "ImageToMask", 0, "e:channel" },
    { "ImageUpscaleWithModel", 0, "" },
    { "ImageYUVToRGB", 0, "" },
    { "InpaintModelConditioning", 0, "b:noise_mask" },
    { "InstructPixToPixConditioning", 0, "" },
    { "InvertMask", 0, "" },
    { "JoinImageWithAlpha", 0, "" },
    { "KSampler", 0, "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise" },
    { "KSamplerAdvanced", 0,
      "e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
      "i:end_at_step e:return_with_leftover_noise" },
    { "KSamplerSelect", 0, "e:sampler_name" },
    { "KarrasScheduler", 0, "i:steps f:sigma_max f:sigma_min f:rho" },
    { "LTXVAddGuide", 0, "i:frame_idx f:strength" },
    { "LTXVConditioning", 0, "f:frame_rate" },
    { "LTXVCropGuides", 0, "" },
    { "LTXVImgToVideo", 0, "i:width i:height i:length i:batch_size f:strength" },
    { "LTXVPreprocess", 0, "i:img_compression" },
    { "LTXVScheduler", 0, "i:steps f:max_shift f:base_shift b:stretch f:terminal" },
    { "LaplaceScheduler", 0, "i:steps f:sigma_max f:sigma_min f:mu f:beta" },
    { "LatentAdd", 0, "" },
    { "LatentApplyOperation", 0, "" },
    { "LatentApplyOperationCFG", 0, "" },
    { "LatentBatch", 0, "" },
    { "LatentBatchSeedBehavior", 0, "e:seed_behavior" },
    { "LatentBlend", 0, "f:blend_factor" },
    { "LatentComposite", 0, "i:x i:y i:feather" },
    { "LatentCompositeMasked", 0, "i:x i:y b:resize_source" },
    { "LatentConcat", 0, "e:dim" },
    { "LatentCrop", 0, "i:width i:height i:x i:y" },
    { "LatentCut", 0, "e:dim i:index i:amount" },
    { "LatentFlip", 0, "e:flip_method" },
    { "LatentFromBatch", 0, "i:batch_index i:length" },
    { "LatentInterpolate", 0, "f:ratio" },
    { "LatentMultiply", 0, "f:multiplier" },
    { "LatentOperationSharpen", 0, "i:sharpen_radius f:sigma f:alpha" },
    { "LatentOperationTonemapReinhard", 0, "f:multiplier" },
    { "LatentRotate", 0, "e:rotation" },
    { "LatentSubtract", 0, "" },
    { "LatentUpscale", 0, "e:upscale_method i:width i:height e:crop" },
    { "LatentUpscaleBy", 0, "e:upscale_method f:scale_by" },
    { "LazyCache", 0, "f:reuse_threshold f:start_percent f:end_percent b:verbose" },
    { "Load3D", 0, "e^model_file x:image i:width i:height" },
    { "Load3DAnimation", 0, "e^model_file x:image i:width i:height" },
    { "LoadAudio", 0, "e^audio" },
    { "LoadImage", 0, "e^image" },
    { "LoadImageMask", 0, "e^image e:channel" },
    { "LoadImageOutput", 0, "e^image" },
    { "LoadImageSetFromFolderNode", 0, "e:folder e:resize_method" },
    { "LoadImageTextSetFromFolderNode", 0, "e:folder e:resize_method i:width i:height" },
    { "LoadLatent", 0, "e:latent" },
    { "LoadVideo", 0, "e^file" },
    { "LoraLoader", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "LoraLoaderModelOnly", 0, "e:lora_name f:strength_model" },
    { "LoraModelLoader", 0, "f:strength_model" },
    { "LoraSave", 1, "s:filename_prefix i:rank e:lora_type b:bias_diff" },
    { "LossGraphNode", 1, "s:filename_prefix" },
    { "LotusConditioning", 0, "" },
    { "Mahiro", 0, "" },
    { "MaskComposite", 0, "i:x i:y e:operation" },
    { "MaskPreview", 1, "" },
    { "MaskToImage", 0, "" },
    { "ModelComputeDtype", 0, "e:dtype" },
    { "ModelMergeAdd", 0, "" },
    { "ModelMergeAuraflow", 0,
      "f:init_x_linear. f:positional_encoding f:cond_seq_linear. f:register_tokens f:t_embedder. "
      "f:double_layers.0. f:double_layers.1. f:double_layers.2. f:double_layers.3. "
      "f:single_layers.0. f:single_layers.1. f:single_layers.2. f:single_layers.3. "
      "f:single_layers.4. f:single_layers.5. f:single_layers.6. f:single_layers.7. "
      "f:single_layers.8. f:single_layers.9. f:single_layers.10. f:single_layers.11. "
      "f:single_layers.12. f:single_layers.13. f:single_layers.14. f:single_layers.15. "
      "f:single_layers.16. f:single_layers.17. f:single_layers.18. f:single_layers.19. "
      "f:single_layers.20. f:single_layers.21. f:single_layers.22. f:single_layers.23. "
      "f:single_layers.24. f:single_layers.25. f:single_layers.26. f:single_layers.27. "
      "f:single_layers.28. f:single_layers.29. f:single_layers.30. f:single_layers.31. f:modF. "
      "f:final_linear." },
    { "ModelMergeBlocks", 0, "f:input f:middle f:out" },
    { "ModelMergeCosmos14B", 0,
      "f:pos_embedder. f:extra_pos_embedder. f:x_embedder. f:t_embedder. f:affline_norm. "
      "f:blocks.block0. f:blocks.block1. f:blocks.block2. f:blocks.block3. f:blocks.block4. "
      "f:blocks.block5. f:blocks.block6. f:blocks.block7. f:blocks.block8. f:blocks.block9. "
      "f:blocks.block10. f:blocks.block11. f:blocks.block12. f:blocks.block13. f:blocks.block14. "
      "f:blocks.block15. f:blocks.block16. f:blocks.block17. f:blocks.block18. f:blocks.block19. "
      "f:blocks.block20. f:blocks.block21. f:blocks.block22. f:blocks.block23. f:blocks.block24. "
      "f:blocks.block25. f:blocks.block26. f:blocks.block27. f:blocks.block28. f:blocks.block29. "
      "f:blocks.block30. f:blocks.block31. f:blocks.block32. f:blocks.block33. f:blocks.block34. "
      "f:blocks.block35. f:final_layer." },
    { "ModelMergeCosmos7B", 0,
      "f:pos_embedder. f:extra_pos_embedder. f:x_embedder. f:t_embedder. f:affline_norm. "
      "f:blocks.block0. f:blocks.block1. f:blocks.block2. f:blocks.block3. f:blocks.block4. "
      "f:blocks.block5. f:blocks.block6. f:blocks.block7. f:blocks.block8. f:blocks.block9. "
      "f:blocks.block10. f:blocks.block11. f:blocks.block12. f:blocks.block13. f:blocks.block14. "
      "f:blocks.block15. f:blocks.block16. f:blocks.block17. f:blocks.block18. f:blocks.block19. "
      "f:blocks.block20. f:blocks.block21. f:blocks.block22. f:blocks.block23. f:blocks.block24. "
      "f:blocks.block25. f:blocks.block26. f:blocks.block27. f:final_layer." },
    { "ModelMergeCosmosPredict2_14B", 0,
      "f:pos_embedder. f:x_embedder. f:t_embedder. f:t_embedding_norm. f:blocks.0. f:blocks.1. "
      "f:blocks.2. f:blocks.3. f:blocks.4. f:blocks.5. f:blocks.6. f:blocks.7. f:blocks.8. "
      "f:blocks.9. f:blocks.10. f:blocks.11. f:blocks.12. f:blocks.13. f:blocks.14. f:blocks.15. "
      "f:blocks.16. f:blocks.17. f:blocks.18. f:blocks.19. f:blocks.20. f:blocks.21. f:blocks.22. "
      "f:blocks.23. f:blocks.24. f:blocks.25. f:blocks.26. f:blocks.27. f:blocks.28. f:blocks.29. "
      "f:blocks.30. f:blocks.31. f:blocks.32. f:blocks.33. f:blocks.34. f:blocks.35. "
      "f:final_layer." },
    { "ModelMergeCosmosPredict2_2B", 0,
      "f:pos_embedder. f:x_embedder. f:t_embedder. f:t_embedding_norm. f:blocks.0. f:blocks.1. "
      "f:blocks.2. f:blocks.3. f:blocks.4. f:blocks.5. f:blocks.6. f:blocks.7. f:blocks.8. "
      "f:blocks.9. f:blocks.10. f:blocks.11. f:blocks.12. f:blocks.13. f:blocks.14. f:blocks.15. "
      "f:blocks.16. f:blocks.17. f:blocks.18. f:blocks.19. f:blocks.20. f:blocks.21. f:blocks.22. "
      "f:blocks.23. f:blocks.24. f:blocks.25. f:blocks.26. f:blocks.27. f:final_layer." },
    { "ModelMergeFlux1", 0,
      "f:img_in. f:time_in. f:guidance_in f:vector_in. f:txt_in. f:double_blocks.0. "
      "f:double_blocks.1. f:double_blocks.2. f:double_blocks.3. f:double_blocks.4. "
      "f:double_blocks.5. f:double_blocks.6. f:double_blocks.7. f:double_blocks.8. "
      "f:double_blocks.9. f:double_blocks.10. f:double_blocks.11. f:double_blocks.12. "
      "f:double_blocks.13. f:double_blocks.14. f:double_blocks.15. f:double_blocks.16. "
      "f:double_blocks.17. f:double_blocks.18. f:single_blocks.0. f:single_blocks.1. "
      "f:single_blocks.2. f:single_blocks.3. f:single_blocks.4. f:single_blocks.5. "
      "f:single_blocks.6. f:single_blocks.7. f:single_blocks.8. f:single_blocks.9. "
      "f:single_blocks.10. f:single_blocks.11. f:single_blocks.12. f:single_blocks.13. "
      "f:single_blocks.14. f:single_blocks.15. f:single_blocks.16. f:single_blocks.17. "
      "f:single_blocks.18. f:single_blocks.19. f:single_blocks.20. f:single_blocks.21. "
      "f:single_blocks.22. f:single_blocks.23. f:single_blocks.24. f:single_blocks.25. "
      "f:single_blocks.26. f:single_blocks.27. f:single_blocks.28. f:single_blocks.29. "
      "f:single_blocks.30. f:single_blocks.31. f:single_blocks.32. f:single_blocks.33. "
      "f:single_blocks.34. f:single_blocks.35. f:single_blocks.36. f:single_blocks.37. "
      "f:final_layer." },
    { "ModelMergeLTXV", 0,
      "f:patchify_proj. f:adaln_single. f:caption_projection. f:transformer_blocks.0. "
      "f:transformer_blocks.1. f:transformer_blocks.2. f:transformer_blocks.3. "
      "f:transformer_blocks.4. f:transformer_blocks.5. f:transformer_blocks.6. "
      "f:transformer_blocks.7. f:transformer_blocks.8. f:transformer_blocks.9. "
      "f:transformer_blocks.10. f:transformer_blocks.11. f:transformer_blocks.12. "
      "f:transformer_blocks.13. f:transformer_blocks.14. f:transformer_blocks.15. "
      "f:transformer_blocks.16. f:transformer_blocks.17. f:transformer_blocks.18. "
      "f:transformer_blocks.19. f:transformer_blocks.20. f:transformer_blocks.21. "
      "f:transformer_blocks.22. f:transformer_blocks.23. f:transformer_blocks.24. "
      "f:transformer_blocks.25. f:transformer_blocks.26. f:transformer_blocks.27. "
      "f:scale_shift_table f:proj_out." },
    { "ModelMergeMochiPreview", 0,
      "f:pos_frequencies. f:t_embedder. f:t5_y_embedder. f:t5_yproj. f:blocks.0. f:blocks.1. "
      "f:blocks.2. f:blocks.3. f:blocks.4. f:blocks.5. f:blocks.6. f:blocks.7. f:blocks.8. "
      "f:blocks.9. f:blocks.10. f:blocks.11. f:blocks.12. f:blocks.13. f:blocks.14. f:blocks.15. "
      "f:blocks.16. f:blocks.17. f:blocks.18. f:blocks.19. f:blocks.20. f:blocks.21. f:blocks.22. "
      "f:blocks.23. f:blocks.24. f:blocks.25. f:blocks.26. f:blocks.27. f:blocks.28. f:blocks.29. "
      "f:blocks.30. f:blocks.31. f:blocks.32. f:blocks.33. f:blocks.34. f:blocks.35. f:blocks.36. "
      "f:blocks.37. f:blocks.38. f:blocks.39. f:blocks.40. f:blocks.41. f:blocks.42. f:blocks.43. "
      "f:blocks.44. f:blocks.45. f:blocks.46. f:blocks.47. f:final_layer." },
    { "ModelMergeQwenImage", 0,
      "f:pos_embeds. f:img_in. f:txt_norm. f:txt_in. f:time_text_embed. f:transformer_blocks.0. "
      "f:transformer_blocks.1. f:transformer_blocks.2. f:transformer_blocks.3. "
      "f:transformer_blocks.4. f:transformer_blocks.5. f:transformer_blocks.6. "
      "f:transformer_blocks.7. f:transformer_blocks.8. f:transformer_blocks.9. "
      "f:transformer_blocks.10. f:transformer_blocks.11. f:transformer_blocks.12. "
      "f:transformer_blocks.13. f:transformer_blocks.14. f:transformer_blocks.15. "
      "f:transformer_blocks.16. f:transformer_blocks.17. f:transformer_blocks.18. "
      "f:transformer_blocks.19. f:transformer_blocks.20. f:transformer_blocks.21. "
      "f:transformer_blocks.22. f:transformer_blocks.23. f:transformer_blocks.24. "
      "f:transformer_blocks.25. f:transformer_blocks.26. f:transformer_blocks.27. "
      "f:transformer_blocks.28. f:transformer_blocks.29. f:transformer_blocks.30. "
      "f:transformer_blocks.31. f:transformer_blocks.32. f:transformer_blocks.33. "
      "f:transformer_blocks.34. f:transformer_blocks.35. f:transformer_blocks.36. "
      "f:transformer_blocks.37. f:transformer_blocks.38. f:transformer_blocks.39. "
      "f:transformer_blocks.40. f:transformer_blocks.41. f:transformer_blocks.42. "
      "f:transformer_blocks.43. f:transformer_blocks.44. f:transformer_blocks.45. "
      "f:transformer_blocks.46. f:transformer_blocks.47. f:transformer_blocks.48. "
      "f:transformer_blocks.49. f:transformer_blocks.50. f:transformer_blocks.51. "
      "f:transformer_blocks.52. f:transformer_blocks.53. f:transformer_blocks.54. "
      "f:transformer_blocks.55. f:transformer_blocks.56. f:transformer_blocks.57. "
      "f:transformer_blocks.58. f:transformer_blocks.59. f:proj_out." },
    { "ModelMergeSD1", 0,
      "f:time_embed. f:label_emb. f:input_blocks.0. f:input_blocks.1. f:input_blocks.2. "
      "f:input_blocks.3. f:input_blocks.4. f:input_blocks.5. f:input_blocks.6. f:input_blocks.7. "
      "f:input_blocks.8. f:input_blocks.9. f:input_blocks.10. f:input_blocks.11. "
      "f:middle_block.0. f:middle_block.1. f:middle_block.2. f:output_blocks.0. "
      "f:output_blocks.1. f:output_blocks.2. f:output_blocks.3. f:output_blocks.4. "
      "f:output_blocks.5. f:output_blocks.6. f:output_blocks.7. f:output_blocks.8. "
      "f:output_blocks.9. f:output_blocks.10. f:output_blocks.11. f:out." },
    { "ModelMergeSD2", 0,
      "f:time_embed. f:label_emb. f:input_blocks.0. f:input_blocks.1. f:input_blocks.2. "
      "f:input_blocks.3. f:input_blocks.4. f:input_blocks.5. f:input_blocks.6. f:input_blocks.7. "
      "f:input_blocks.8. f:input_blocks.9. f:input_blocks.10. f:input_blocks.11. "
      "f:middle_block.0. f:middle_block.1. f:middle_block.2. f:output_blocks.0. "
      "f:output_blocks.1. f:output_blocks.2. f:output_blocks.3. f:output_blocks.4. "
      "f:output_blocks.5. f:output_blocks.6. f:output_blocks.7. f:output_blocks.8. "
      "f:output_blocks.9. f:output_blocks.10. f:output_blocks.11. f:out." },
    { "ModelMergeSD35_Large", 0,
      "f:pos_embed. f:x_embedder. f:context_embedder. f:y_embedder. f:t_embedder. "
      "f:joint_blocks.0. f:joint_blocks.1. f:joint_blocks.2. f:joint_blocks.3. f:joint_blocks.4. "
      "f:joint_blocks.5. f:joint_blocks.6. f:joint_blocks.7. f:joint_blocks.8. f:joint_blocks.9. "
      "f:joint_blocks.10. f:joint_blocks.11. f:joint_blocks.12. f:joint_blocks.13. "
      "f:joint_blocks.14. f:joint_blocks.15. f:joint_blocks.16. f:joint_blocks.17. "
      "f:joint_blocks.18. f:joint_blocks.19. f:joint_blocks.20. f:joint_blocks.21. "
      "f:joint_blocks.22. f:joint_blocks.23. f:joint_blocks.24. f:joint_blocks.25. "
      "f:joint_blocks.26. f:joint_blocks.27. f:joint_blocks.28. f:joint_blocks.29. "
      "f:joint_blocks.30. f:joint_blocks.31. f:joint_blocks.32. f:joint_blocks.33. "
      "f:joint_blocks.34. f:joint_blocks.35. f:joint_blocks.36. f:joint_blocks.37. f:final_layer." },
    { "ModelMergeSD3_2B", 0,
      "f:pos_embed. f:x_embedder. f:context_embedder. f:y_embedder. f:t_embedder. "
      "f:joint_blocks.0. f:joint_blocks.1. f:joint_blocks.2. f:joint_blocks.3. f:joint_blocks.4. "
      "f:joint_blocks.5. f:joint_blocks.6. f:joint_blocks.7. f:joint_blocks.8. f:joint_blocks.9. "
      "f:joint_blocks.10. f:joint_blocks.11. f:joint_blocks.12. f:joint_blocks.13. "
      "f:joint_blocks.14. f:joint_blocks.15. f:joint_blocks.16. f:joint_blocks.17. "
      "f:joint_blocks.18. f:joint_blocks.19. f:joint_blocks.20. f:joint_blocks.21. "
      "f:joint_blocks.22. f:joint_blocks.23. f:final_layer." },
    { "ModelMergeSDXL", 0,
      "f:time_embed. f:label_emb. f:input_blocks.0 f:input_blocks.1 f:input_blocks.2 "
      "f:input_blocks.3 f:input_blocks.4 f:input_blocks.5 f:input_blocks.6 f:input_blocks.7 "
      "f:input_blocks.8 f:middle_block.0 f:middle_block.1 f:middle_block.2 f:output_blocks.0 "
      "f:output_blocks.1 f:output_blocks.2 f:output_blocks.3 f:output_blocks.4 f:output_blocks.5 "
      "f:output_blocks.6 f:output_blocks.7 f:output_blocks.8 f:out." },
    { "ModelMergeSimple", 0, "f:ratio" },
    { "ModelMergeSubtract", 0, "f:multiplier" },
    { "ModelMergeWAN2_1", 0,
      "f:patch_embedding. f:time_embedding. f:time_projection. f:text_embedding. f:img_emb. "
      "f:blocks.0. f:blocks.1. f:blocks.2. f:blocks.3. f:blocks.4. f:blocks.5. f:blocks.6. "
      "f:blocks.7. f:blocks.8. f:blocks.9. f:blocks.10. f:blocks.11. f:blocks.12. f:blocks.13. "
      "f:blocks.14. f:blocks.15. f:blocks.16. f:blocks.17. f:blocks.18. f:blocks.19. f:blocks.20. "
      "f:blocks.21. f:blocks.22. f:blocks.23. f:blocks.24. f:blocks.25. f:blocks.26. f:blocks.27. "
      "f:blocks.28. f:blocks.29. f:blocks.30. f:blocks.31. f:blocks.32. f:blocks.33. f:blocks.34. "
      "f:blocks.35. f:blocks.36. f:blocks.37. f:blocks.38. f:blocks.39. f:head." },
    { "ModelPatchLoader", 0, "e:name" },
    { "ModelSamplingAuraFlow", 0, "f:shift" },
    { "ModelSamplingContinuousEDM", 0, "e:sampling f:sigma_max f:sigma_min" },
    { "ModelSamplingContinuousV", 0, "e:sampling f:sigma_max f:sigma_min" },
    { "ModelSamplingDiscrete", 0, "e:sampling b:zsnr" },
    { "ModelSamplingFlux", 0, "f:max_shift f:base_shift i:width i:height" },
    { "ModelSamplingLTXV", 0, "f:max_shift f:base_shift" },
    { "ModelSamplingSD3", 0, "f:shift" },
    { "ModelSamplingStableCascade", 0, "f:shift" },
    { "ModelSave", 1, "s:filename_prefix" },
    { "Morphology", 0, "e:operation i:kernel_size" },
    { "OptimalStepsScheduler", 0, "e:model_type i:steps f:denoise" },
    { "PairConditioningCombine", 0, "" },
    { "PairConditioningSetDefaultCombine", 0, "" },
    { "PairConditioningSetProperties", 0, "f:strength e:set_cond_area" },
    { "PairConditioningSetPropertiesAndCombine", 0, "f:strength e:set_cond_area" },
    { "PatchModelAddDownscale", 0,
      "i:block_number f:downscale_factor f:start_percent f:end_percent b:downscale_after_skip "
      "e:downscale_method e:upscale_method" },
    { "PerpNeg", 0, "f:neg_scale" },
    { "PerpNegGuider", 0, "f:cfg f:neg_scale" },
    { "PerturbedAttentionGuidance", 0, "f:scale" },
    { "PhotoMakerEncode", 0, "d:text" },
    { "PhotoMakerLoader", 0, "e:photomaker_model_name" },
    { "PolyexponentialScheduler", 0, "i:steps f:sigma_max f:sigma_min f:rho" },
    { "PorterDuffImageComposite", 0, "e:mode" },
    { "Preview3D", 1, "s:model_file" },
    { "Preview3DAnimation", 1, "s:model_file" },
    { "PreviewAny", 1, "" },
    { "PreviewAudio", 1, "" },
    { "PreviewImage", 1, "" },
    { "PrimitiveBoolean", 0, "b:value" },
    { "PrimitiveFloat", 0, "f:value" },
    { "PrimitiveInt", 0, "i+value" },
    { "PrimitiveString", 0, "s:value" },
    { "PrimitiveStringMultiline", 0, "s:value" },
    { "QuadrupleCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:clip_name3 e:clip_name4" },
    { "QuadrupleCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:clip_name3 e:clip_name4" },
    { "QwenImageDiffsynthControlnet", 0, "f:strength" },
    { "ROCMEmergencyMemoryReset", 0, "" },
    { "ROCMFluxBenchmark", 0,
      "s:test_resolutions i:test_steps s:test_cfg_values b:test_hipblas b:generate_report" },
    { "ROCMLoRALoader", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "ROCMMemoryDefragmenter", 0, "" },
    { "ROCMMemorySafeKSampler", 0,
      "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise e:memory_safety_level" },
    { "ROCMOptimizedKSampler", 0,
      "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise b:optimize_for_video "
      "e:precision_mode b:compatibility_mode" },
    { "ROCMOptimizedKSamplerAdvanced", 0,
      "e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
      "i:end_at_step e:return_with_leftover_noise b:optimize_for_video e:precision_mode "
      "b:compatibility_mode" },
    { "ROCMOptimizedUNetLoader", 0, "e:unet_name e:weight_dtype" },
    { "ROCMSamplerCustomAdvanced", 0, "b:compatibility_mode e:flash_attention" },
    { "ROCMSamplerCustomAdvancedBenchmark", 0, "" },
    { "ROCMSamplerPerformanceMonitor", 0, "i:test_steps" },
    { "ROCmDiffusionLoader", 0, "e:unet_name e:weight_dtype" },
    { "ROCmGGUFLoader", 0, "e:gguf_name" },
    { "ROCmKSampler", 0,
      "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise b:optimize_for_video "
      "e:precision_mode b:compatibility_mode" },
    { "ROCmKSamplerAdvanced", 0,
      "e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
      "i:end_at_step e:return_with_leftover_noise b:optimize_for_video e:precision_mode "
      "b:compatibility_mode" },
    { "ROCmTextGenerateLTX2Prompt", 0,
      "s:prompt i:max_length e:sampling_mode f:temperature i:top_k f:top_p f:min_p "
      "f:repetition_penalty i+seed" },
    { "RandomNoise", 0, "i+noise_seed" },
    { "RebatchImages", 0, "i:batch_size" },
    { "RebatchLatents", 0, "i:batch_size" },
    { "RecordAudio", 0, "x:audio" },
    { "ReferenceLatent", 0, "" },
    { "RegexExtract", 0,
      "s:string s:regex_pattern e:mode b:case_insensitive b:multiline b:dotall i:group_index" },
    { "RegexMatch", 0, "s:string s:regex_pattern b:case_insensitive b:multiline b:dotall" },
    { "RegexReplace", 0,
      "s:string s:regex_pattern s:replace b:case_insensitive b:multiline b:dotall i:count" },
    { "RenormCFG", 0, "f:cfg_trunc f:renorm_cfg" },
    { "RepeatImageBatch", 0, "i:amount" },
    { "RepeatLatentBatch", 0, "i:amount" },
    { "RescaleCFG", 0, "f:multiplier" },
    { "ResizeAndPadImage", 0, "i:target_width i:target_height e:padding_color e:interpolation" },
    { "SDTurboScheduler", 0, "i:steps f:denoise" },
    { "SD_4XUpscale_Conditioning", 0, "f:scale_ratio f:noise_augmentation" },
    { "SV3D_Conditioning", 0, "i:width i:height i:video_frames f:elevation" },
    { "SVD_img2vid_Conditioning", 0,
      "i:width i:height i:video_frames i:motion_bucket_id i:fps f:augmentation_level" },
    { "SamplerCustom", 0, "b:add_noise i+noise_seed f:cfg" },
    { "SamplerCustomAdvanced", 0, "" },
    { "SamplerDPMAdaptative", 0,
      "i:order f:rtol f:atol f:h_init f:pcoeff f:icoeff f:dcoeff f:accept_safety f:eta f:s_noise" },
    { "SamplerDPMPP_2M_SDE", 0, "e:solver_type f:eta f:s_noise e:noise_device" },
    { "SamplerDPMPP_2S_Ancestral", 0, "f:eta f:s_noise" },
    { "SamplerDPMPP_3M_SDE", 0, "f:eta f:s_noise e:noise_device" },
    { "SamplerDPMPP_SDE", 0, "f:eta f:s_noise f:r e:noise_device" },
    { "SamplerER_SDE", 0, "e:solver_type i:max_stage f:eta f:s_noise" },
    { "SamplerEulerAncestral", 0, "f:eta f:s_noise" },
    { "SamplerEulerAncestralCFGPP", 0, "f:eta f:s_noise" },
    { "SamplerEulerCFGpp", 0, "e:version" },
    { "SamplerLCMUpscale", 0, "f:scale_ratio i:scale_steps e:upscale_method" },
    { "SamplerLMS", 0, "i:order" },
    { "SamplerSASolver", 0,
      "f:eta f:sde_start_percent f:sde_end_percent f:s_noise i:predictor_order i:corrector_order "
      "b:use_pece b:simple_order_2" },
    { "SamplingPercentToSigma", 0, "f:sampling_percent b:return_actual_sigma" },
    { "SaveAnimatedPNG", 1, "s:filename_prefix f:fps i:compress_level" },
    { "SaveAnimatedWEBP", 1, "s:filename_prefix f:fps b:lossless i:quality e:method" },
    { "SaveAudio", 1, "s:filename_prefix" },
    { "SaveAudioMP3", 1, "s:filename_prefix e:quality" },
    { "SaveAudioOpus", 1, "s:filename_prefix e:quality" },
    { "SaveGLB", 1, "s:filename_prefix" },
    { "SaveImage", 1, "s:filename_prefix" },
    { "SaveLatent", 1, "s:filename_prefix" },
    { "SaveLoRANode", 1, "s:prefix" },
    { "SaveSVGNode", 1, "s:filename_prefix" },
    { "SaveVideo", 1, "s:filename_prefix e:format e:codec" },
    { "SaveWEBM", 1, "s:filename_prefix e:codec f:fps f:crf" },
    { "SelfAttentionGuidance", 0, "f:scale f:blur_sigma" },
    { "SetClipHooks", 0, "b:apply_to_conds b:schedule_clip" },
    { "SetFirstSigma", 0, "f:sigma" },
    { "SetHookKeyframes", 0, "" },
    { "SetLatentNoiseMask", 0, "" },
    { "SetUnionControlNetType", 0, "e:type" },
    { "SkipLayerGuidanceDiT", 0,
      "s:double_layers s:single_layers f:scale f:start_percent f:end_percent f:rescaling_scale" },
    { "SkipLayerGuidanceDiTSimple", 0,
      "s:double_layers s:single_layers f:start_percent f:end_percent" },
    { "SkipLayerGuidanceSD3", 0, "s:layers f:scale f:start_percent f:end_percent" },
    { "SolidMask", 0, "f:value i:width i:height" },
    { "SplitAudioChannels", 0, "" },
    { "SplitImageWithAlpha", 0, "" },
    { "SplitSigmas", 0, "i:step" },
    { "SplitSigmasDenoise", 0, "f:denoise" },
    { "StableCascade_EmptyLatentImage", 0, "i:width i:height i:compression i:batch_size" },
    { "StableCascade_StageB_Conditioning", 0, "" },
    { "StableCascade_StageC_VAEEncode", 0, "i:compression" },
    { "StableCascade_SuperResolutionControlnet", 0, "" },
    { "StableZero123_Conditioning", 0, "i:width i:height i:batch_size f:elevation f:azimuth" },
    { "StableZero123_Conditioning_Batched", 0,
      "i:width i:height i:batch_size f:elevation f:azimuth f:elevation_batch_increment "
      "f:azimuth_batch_increment" },
    { "StringCompare", 0, "s:string_a s:string_b e:mode b:case_sensitive" },
    { "StringConcatenate", 0, "s:string_a s:string_b s:delimiter" },
    { "StringContains", 0, "s:string s:substring b:case_sensitive" },
    { "StringLength", 0, "s:string" },
    { "StringReplace", 0, "s:string s:find s:replace" },
    { "StringSubstring", 0, "s:string i:start i:end" },
    { "StringTrim", 0, "s:string e:mode" },
    { "StyleModelApply", 0, "f:strength e:strength_type" },
    { "StyleModelLoader", 0, "e:style_model_name" },
    { "T5TokenizerOptions", 0, "i:min_padding i:min_length" },
    { "TCFG", 0, "" },
    { "TextEncodeAceStepAudio", 0, "d:tags d:lyrics f:lyrics_strength" },
    { "TextEncodeHunyuanVideo_ImageToVideo", 0, "d:prompt i:image_interleave" },
    { "TextEncodeQwenImageEdit", 0, "d:prompt" },
    { "TextEncodeQwenImageEditPlus", 0, "d:prompt" },
    { "TextGenerateLTX2Prompt", 0, "" },
    { "ThresholdMask", 0, "f:value" },
    { "TomePatchModel", 0, "f:ratio" },
    { "TorchCompileModel", 0, "e:backend" },
    { "TrainLoraNode", 0,
      "i:batch_size i:grad_accumulation_steps i:steps f:learning_rate i:rank e:optimizer "
      "e:loss_function i+seed e:training_dtype e:lora_dtype e:algorithm b:gradient_checkpointing "
      "e:existing_lora" },
    { "TrimAudioDuration", 0, "f:start_index f:duration" },
    { "TrimVideoLatent", 0, "i:trim_amount" },
    { "TripleCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:clip_name3" },
    { "TripleCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:clip_name3" },
    { "UNETLoader", 0, "e:unet_name e:weight_dtype" },
    { "UNetCrossAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "UNetSelfAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "UNetTemporalAttentionMultiply", 0,
      "f:self_structural f:self_temporal f:cross_structural f:cross_temporal" },
    { "USOStyleReference", 0, "" },
    { "UnetLoaderGGUF", 0, "e:unet_name" },
    { "UnetLoaderGGUFAdvanced", 0, "e:unet_name e:dequant_dtype e:patch_dtype b:patch_on_device" },
    { "UpscaleModelLoader", 0, "e:model_name" },
    { "VAEDecode", 0, "" },
    { "VAEDecodeAudio", 0, "" },
    { "VAEDecodeHunyuan3D", 0, "i:num_chunks i:octree_resolution" },
    { "VAEDecodeTiled", 0, "i:tile_size i:overlap i:temporal_size i:temporal_overlap" },
    { "VAEEncode", 0, "" },
    { "VAEEncodeAudio", 0, "" },
    { "VAEEncodeForInpaint", 0, "i:grow_mask_by" },
    { "VAEEncodeTiled", 0, "i:tile_size i:overlap i:temporal_size i:temporal_overlap" },
    { "VAELoader", 0, "e:vae_name" },
    { "VAESave", 1, "s:filename_prefix" },
    { "VPScheduler", 0, "i:steps f:beta_d f:beta_min f:eps_s" },
    { "VideoLinearCFGGuidance", 0, "f:min_cfg" },
    { "VideoTriangleCFGGuidance", 0, "f:min_cfg" },
    { "VoxelToMesh", 0, "e:algorithm f:threshold" },
    { "VoxelToMeshBasic", 0, "f:threshold" },
    { "Wan22FunControlToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "Wan22ImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "WanAnimateToVideo", 0,
      "i:width i:height i:length i:batch_size i:continue_motion_max_frames i:video_frame_offset" },
    { "WanCameraEmbedding", 0,
      "e:camera_pose i:width i:height i:length f:speed f:fx f:fy f:cx f:cy" },
    { "WanCameraImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanContextWindowsManual", 0,
      "i:context_length i:context_overlap e:context_schedule i:context_stride b:closed_loop "
      "e:fuse_method" },
    { "WanFirstLastFrameToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanFunControlToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanFunInpaintToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanHuMoImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanPhantomSubjectToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanSoundImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanSoundImageToVideoExtend", 0, "i:length" },
    { "WanTrackToVideo", 0,
      "s:tracks i:width i:height i:length i:batch_size f:temperature i:topk" },
    { "WanVaceToVideo", 0, "i:width i:height i:length i:batch_size f:strength" },
    { "WebcamCapture", 0, "x:image i:width i:height b:capture_on_queue" },
    { "WindowsPaginationDiagnostic", 0, "b:check_memory b:check_paging_file b:apply_fixes" },
    { "unCLIPCheckpointLoader", 0, "e:ckpt_name" },
    { "unCLIPConditioning", 0, "f:strength f:noise_augmentation" },
};
// clang-format on

const size_t nino_n_known_classes = sizeof(nino_known_classes) / sizeof(nino_known_classes[0]);
