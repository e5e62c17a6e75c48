// Classes of ComfyUI 0.33.0 and 0.3.64, of 19 packs of nodes, of the original ROCm extension, and those
// of paid services, sorted by byte. A workflow that uses one this version cannot run is told "not
// supported yet" or "calls a paid service" instead of "unknown", and its widgets still get their
// names. Written by data/known_classes.py; the notation is in known.h.
#include "core/node/table/known.h"

// clang-format off
const nino_known_class nino_known_classes[] = {
    { "ADE_AnimateDiffCombine", 1,
      "i:frame_rate i:loop_count s:filename_prefix e:format b:pingpong b:save_image" },
    { "ADE_AnimateDiffLoRALoader", 0, "e:name f:strength" },
    { "ADE_AnimateDiffLoaderGen1", 0, "e:model_name e:beta_schedule" },
    { "ADE_AnimateDiffLoaderWithContext", 0,
      "e:model_name e:beta_schedule f:motion_scale b:apply_v2_models_properly" },
    { "ADE_AnimateDiffSamplingSettings", 0,
      "i:batch_offset e:noise_type e:seed_gen i:seed_offset b:adapt_denoise_steps" },
    { "ADE_AnimateDiffUniformContextOptions", 0,
      "i:context_length i:context_stride i:context_overlap e:context_schedule b:closed_loop "
      "e:fuse_method b:use_on_equal_length f:start_percent i:guarantee_steps" },
    { "ADE_ApplyAnimateDiffModel", 0, "f:start_percent f:end_percent" },
    { "ADE_EmptyLatentImageLarge", 0, "i:width i:height i:batch_size" },
    { "ADE_LoadAnimateDiffModel", 0, "e:model_name" },
    { "ADE_LoopedUniformContextOptions", 0,
      "i:context_length i:context_stride i:context_overlap b:closed_loop e:fuse_method "
      "b:use_on_equal_length f:start_percent i:guarantee_steps" },
    { "ADE_MultivalDynamic", 0, "f:float_val" },
    { "ADE_StandardUniformContextOptions", 0,
      "i:context_length i:context_stride i:context_overlap e:fuse_method b:use_on_equal_length "
      "f:start_percent i:guarantee_steps" },
    { "ADE_UseEvolvedSampling", 0, "e:beta_schedule" },
    { "AIO_Preprocessor", 0, "e:preprocessor i:resolution" },
    { "APG", 0, "f:eta f:norm_threshold f:momentum" },
    { "ARVideoI2V", 0, "i:width i:height i:length i:batch_size" },
    { "AddLabel", 0,
      "i:text_x i:text_y i:height i:font_size s:font_color s:label_color e:font s:text "
      "e:direction" },
    { "AddLayer", 0,
      "s:name i:x i:y f:opacity e:blend_mode f:rotation i:width i:height i:z_index b:flip_h "
      "b:flip_v" },
    { "AddNoise", 0, "" },
    { "AddTextPrefix", 0, "s:texts s:prefix" },
    { "AddTextSuffix", 0, "s:texts s:suffix" },
    { "AdjustBrightness", 0, "f:factor" },
    { "AdjustContrast", 0, "f:factor" },
    { "AlignYourStepsScheduler", 0, "e:model_type i:steps f:denoise" },
    { "AnimaLLLiteApply", 0, "f:strength f:start_percent f:end_percent" },
    { "AnimalPosePreprocessor", 0, "e:bbox_detector e:pose_estimator i:resolution" },
    { "AnimateDiffLoaderV1", 0, "e:model_name b:unlimited_area_hack e:beta_schedule" },
    { "AnimeFace_SemSegPreprocessor", 0, "b:remove_background_using_abg i:resolution" },
    { "AnimeLineArtPreprocessor", 0, "i:resolution" },
    { "Any Switch (rgthree)", 0, "" },
    { "Any to String (Image Saver)", 0, "" },
    { "AnyLineArtPreprocessor_aux", 0,
      "e:merge_with_lineart i:resolution f:lineart_lower_bound f:lineart_upper_bound "
      "i:object_min_size i:object_connectivity" },
    { "Anything Everywhere", 0, "" },
    { "Anything Everywhere3", 0, "" },
    { "Anything Everywhere?", 0, "s:title_regex s:input_regex s:group_regex" },
    { "ApplyCLIPSeg+", 0, "s:prompt f:threshold i:smooth i:dilate i:blur" },
    { "ApplyTextureToMesh", 0, "" },
    { "AudioAdjustVolume", 0, "i:volume" },
    { "AudioConcat", 0, "e:direction" },
    { "AudioEncoderEncode", 0, "" },
    { "AudioEncoderLoader", 0, "e:audio_encoder_name" },
    { "AudioEqualizer3Band", 0,
      "f:low_gain_dB i:low_freq f:mid_gain_dB i:mid_freq f:mid_q f:high_gain_dB i:high_freq" },
    { "AudioMerge", 0, "e:merge_method" },
    { "BAE-NormalMapPreprocessor", 0, "i:resolution" },
    { "BakeAmbientOcclusion", 0, "i:resolution i:samples f:max_distance f:strength f:bias" },
    { "BakeNormalMapFromMesh", 0, "i:resolution f:cage_distance b:ignore_backfaces" },
    { "BakeTextureFromVoxel", 0, "i:texture_size" },
    { "BasicGuider", 0, "" },
    { "BasicScheduler", 0, "e:scheduler i:steps f:denoise" },
    { "BatchCLIPSeg", 0,
      "s:text f:threshold b:binary_mask b:combine_mask b:use_cuda f:blur_sigma f:image_bg_level "
      "b:invert" },
    { "BatchCount+", 0, "" },
    { "BatchCropFromMaskAdvanced", 0, "f:crop_size_mult f:bbox_smooth_alpha" },
    { "BatchImagesNode", 0, "" },
    { "BatchLatentsNode", 0, "" },
    { "BatchMasksNode", 0, "" },
    { "BatchUncropAdvanced", 0,
      "f:border_blending f:crop_rescale b:use_combined_mask b:use_square_mask" },
    { "BboxVisualize", 0, "i:line_width e:bbox_format" },
    { "BeebleSwitchXImageEdit", 2, "" },
    { "BeebleSwitchXVideoEdit", 2, "" },
    { "BerniniConditioning", 0, "i:width i:height i:length i:batch_size i:ref_max_size" },
    { "BetaSamplingScheduler", 0, "i:steps f:alpha f:beta" },
    { "BinaryPreprocessor", 0, "i:bin_threshold i:resolution" },
    { "BlockifyMask", 0, "i:block_size e:device" },
    { "BriaEraser", 2, "" },
    { "BriaExpandImage", 2, "" },
    { "BriaGenFill", 2, "" },
    { "BriaImageEditNode", 2, "" },
    { "BriaIncreaseResolution", 2, "" },
    { "BriaRemoveImageBackground", 2, "" },
    { "BriaRemoveVideoBackground", 2, "" },
    { "BriaTransparentVideoBackground", 2, "" },
    { "BriaVideoGreenScreen", 2, "" },
    { "BriaVideoReplaceBackground", 2, "" },
    { "BuildJsonPromptIdeogram", 0,
      "s:high_level_description s:background c:style{|none|photo s:style.photo|art_style "
      "s:style.art_style} s:aesthetics s:lighting s:medium x:color_palette" },
    { "Bus Node", 0, "" },
    { "ByteDance2FirstLastFrameNode", 2, "" },
    { "ByteDance2ReferenceNode", 2, "" },
    { "ByteDance2ReferenceNodeV2", 2, "" },
    { "ByteDance2TextToVideoNode", 2, "" },
    { "ByteDanceCreateImageAsset", 2, "" },
    { "ByteDanceCreateVideoAsset", 2, "" },
    { "ByteDanceFirstLastFrameNode", 2, "" },
    { "ByteDanceImageNode", 2, "" },
    { "ByteDanceImageReferenceNode", 2, "" },
    { "ByteDanceImageToVideoNode", 2, "" },
    { "ByteDanceSeedAudio", 2, "" },
    { "ByteDanceSeedNode", 2, "" },
    { "ByteDanceSeedreamLayerSeparationNode", 2, "" },
    { "ByteDanceSeedreamNode", 2, "" },
    { "ByteDanceSeedreamNodeV2", 2, "" },
    { "ByteDanceSeedreamNodeV3", 2, "" },
    { "ByteDanceTextToVideoNode", 2, "" },
    { "ByteDanceVideoEnhanceNode", 2, "" },
    { "CFGGuider", 0, "f:cfg" },
    { "CFGNorm", 0, "f:strength b:pre_cfg" },
    { "CFGOverride", 0, "f:cfg f:start_percent f:end_percent" },
    { "CFGZeroStar", 0, "" },
    { "CFGZeroStarAndInit", 0, "b:use_zero_init i:zero_init_steps" },
    { "CLIPAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "CLIPLoader", 0, "e:clip_name e:type e:device" },
    { "CLIPLoaderGGUF", 0, "e:clip_name e:type" },
    { "CLIPMergeAdd", 0, "" },
    { "CLIPMergeSimple", 0, "f:ratio" },
    { "CLIPMergeSubtract", 0, "f:multiplier" },
    { "CLIPSave", 1, "s:filename_prefix" },
    { "CLIPSeg Masking", 0, "s:text" },
    { "CLIPSeg Model Loader", 0, "s:model" },
    { "CLIPSetLastLayer", 0, "i:stop_at_clip_layer" },
    { "CLIPTextEncode", 0, "d:text" },
    { "CLIPTextEncodeControlnet", 0, "d:text" },
    { "CLIPTextEncodeFlux", 0, "d:clip_l d:t5xxl f:guidance" },
    { "CLIPTextEncodeHiDream", 0, "d:clip_l d:clip_g d:t5xxl d:llama" },
    { "CLIPTextEncodeHunyuanDiT", 0, "d:bert d:mt5xl" },
    { "CLIPTextEncodeKandinsky5", 0, "d:clip_l d:qwen25_7b" },
    { "CLIPTextEncodeLumina2", 0, "e:system_prompt d:user_prompt" },
    { "CLIPTextEncodePixArtAlpha", 0, "i:width i:height d:text" },
    { "CLIPTextEncodeSD3", 0, "d:clip_l d:clip_g d:t5xxl e:empty_padding" },
    { "CLIPTextEncodeSDXL", 0,
      "i:width i:height i:crop_w i:crop_h i:target_width i:target_height d:text_g d:text_l" },
    { "CLIPTextEncodeSDXL+", 0, "i:width i:height i:size_cond_factor d:text" },
    { "CLIPTextEncodeSDXLRefiner", 0, "f:ascore i:width i:height d:text" },
    { "CLIPVisionEncode", 0, "e:crop" },
    { "CLIPVisionLoader", 0, "e:clip_name" },
    { "CM_BoolBinaryOperation", 0, "e:op b:a b:b" },
    { "CM_BoolToInt", 0, "b:a" },
    { "CM_BoolUnaryOperation", 0, "e:op b:a" },
    { "CM_BreakoutVec2", 0, "" },
    { "CM_BreakoutVec3", 0, "" },
    { "CM_BreakoutVec4", 0, "" },
    { "CM_ComposeVec2", 0, "f:x f:y" },
    { "CM_ComposeVec3", 0, "f:x f:y f:z" },
    { "CM_ComposeVec4", 0, "f:x f:y f:z f:w" },
    { "CM_FloatBinaryCondition", 0, "e:op f:a f:b" },
    { "CM_FloatBinaryOperation", 0, "e:op f:a f:b" },
    { "CM_FloatToInt", 0, "f:a" },
    { "CM_FloatToNumber", 0, "f:a" },
    { "CM_FloatUnaryCondition", 0, "e:op f:a" },
    { "CM_FloatUnaryOperation", 0, "e:op f:a" },
    { "CM_IntBinaryCondition", 0, "e:op i:a i:b" },
    { "CM_IntBinaryOperation", 0, "e:op i:a i:b" },
    { "CM_IntToBool", 0, "i:a" },
    { "CM_IntToFloat", 0, "i:a" },
    { "CM_IntToNumber", 0, "i:a" },
    { "CM_IntUnaryCondition", 0, "e:op i:a" },
    { "CM_IntUnaryOperation", 0, "e:op i:a" },
    { "CM_NearestSDXLExtendedResolution", 0, "" },
    { "CM_NearestSDXLResolution", 0, "" },
    { "CM_NumberBinaryCondition", 0, "e:op" },
    { "CM_NumberBinaryOperation", 0, "e:op" },
    { "CM_NumberToFloat", 0, "" },
    { "CM_NumberToInt", 0, "" },
    { "CM_NumberUnaryCondition", 0, "e:op" },
    { "CM_NumberUnaryOperation", 0, "e:op" },
    { "CM_SDXLExtendedResolution", 0, "e:resolution" },
    { "CM_SDXLResolution", 0, "e:resolution" },
    { "CM_Vec2BinaryCondition", 0, "e:op" },
    { "CM_Vec2BinaryOperation", 0, "e:op" },
    { "CM_Vec2ScalarOperation", 0, "e:op f:b" },
    { "CM_Vec2ToScalarBinaryOperation", 0, "e:op" },
    { "CM_Vec2ToScalarUnaryOperation", 0, "e:op" },
    { "CM_Vec2UnaryCondition", 0, "e:op" },
    { "CM_Vec2UnaryOperation", 0, "e:op" },
    { "CM_Vec3BinaryCondition", 0, "e:op" },
    { "CM_Vec3BinaryOperation", 0, "e:op" },
    { "CM_Vec3ScalarOperation", 0, "e:op f:b" },
    { "CM_Vec3ToScalarBinaryOperation", 0, "e:op" },
    { "CM_Vec3ToScalarUnaryOperation", 0, "e:op" },
    { "CM_Vec3UnaryCondition", 0, "e:op" },
    { "CM_Vec3UnaryOperation", 0, "e:op" },
    { "CM_Vec4BinaryCondition", 0, "e:op" },
    { "CM_Vec4BinaryOperation", 0, "e:op" },
    { "CM_Vec4ScalarOperation", 0, "e:op f:b" },
    { "CM_Vec4ToScalarBinaryOperation", 0, "e:op" },
    { "CM_Vec4ToScalarUnaryOperation", 0, "e:op" },
    { "CM_Vec4UnaryCondition", 0, "e:op" },
    { "CM_Vec4UnaryOperation", 0, "e:op" },
    { "CR Apply ControlNet", 0, "e:switch f:strength" },
    { "CR Apply LoRA Stack", 0, "" },
    { "CR Aspect Ratio", 0,
      "i:width i:height e:aspect_ratio e:swap_dimensions f:upscale_factor f:prescale_factor "
      "i:batch_size" },
    { "CR Aspect Ratio Social Media", 0,
      "i:width i:height e:aspect_ratio e:swap_dimensions f:upscale_factor f:prescale_factor "
      "i:batch_size" },
    { "CR Batch Process Switch", 0, "e:Input" },
    { "CR Clip Input Switch", 0, "i:Input" },
    { "CR Color Panel", 0, "i:panel_width i:panel_height e:fill_color s:fill_color_hex" },
    { "CR Color Tint", 0, "f:strength e:mode s:tint_color_hex" },
    { "CR Conditioning Input Switch", 0, "i:Input" },
    { "CR ControlNet Input Switch", 0, "i:Input" },
    { "CR Float To Integer", 0, "" },
    { "CR Image Input Switch", 0, "i:Input" },
    { "CR Image Input Switch (4 way)", 0, "i:Input" },
    { "CR Image Output", 1,
      "e:output_type s:filename_prefix e:prefix_presets e:file_format b:trigger" },
    { "CR Image Pipe In", 0, "i:width i:height f:upscale_factor" },
    { "CR Image Pipe Out", 0, "" },
    { "CR Image Size", 0, "i:width i:height f:upscale_factor" },
    { "CR Integer Multiple", 0, "i:integer f:multiple" },
    { "CR Integer To String", 0, "" },
    { "CR Latent Input Switch", 0, "i:Input" },
    { "CR LoRA Stack", 0,
      "e:switch_1 e:lora_name_1 f:model_weight_1 f:clip_weight_1 e:switch_2 e:lora_name_2 "
      "f:model_weight_2 f:clip_weight_2 e:switch_3 e:lora_name_3 f:model_weight_3 f:clip_weight_3" },
    { "CR Load LoRA", 0, "e:switch e:lora_name f:strength_model f:strength_clip" },
    { "CR Model Input Switch", 0, "i:Input" },
    { "CR Module Input", 0, "" },
    { "CR Module Output", 0, "i+seed" },
    { "CR Module Pipe Loader", 0, "i+seed" },
    { "CR Prompt List", 0,
      "s:prepend_text s:multiline_text s:append_text i:start_index i:max_rows" },
    { "CR Prompt Text", 0, "s:prompt" },
    { "CR SDXL Aspect Ratio", 0,
      "i:width i:height e:aspect_ratio e:swap_dimensions f:upscale_factor i:batch_size" },
    { "CR Seed to Int", 0, "" },
    { "CR Simple Image Compare", 0,
      "s:text1 s:text2 i:footer_height e:font_name i:font_size e:mode i:border_thickness" },
    { "CR Text", 0, "s:text" },
    { "CR Text Concatenate", 0, "s:separator" },
    { "CR Text Replace", 0, "s:find1 s:replace1 s:find2 s:replace2 s:find3 s:replace3" },
    { "Canny", 0, "f:low_threshold f:high_threshold" },
    { "CannyEdgePreprocessor", 0, "i:low_threshold i:high_threshold i:resolution" },
    { "CaseConverter", 0, "s:string e:mode" },
    { "CenterCropImages", 0, "i:width i:height" },
    { "Cfg Literal (Image Saver)", 0, "f:cfg" },
    { "Checkpoint Loader (Simple)", 0, "e:ckpt_name" },
    { "Checkpoint Loader with Name (Image Saver)", 0, "e:ckpt_name" },
    { "CheckpointLoader", 0, "e:config_name e:ckpt_name" },
    { "CheckpointLoaderKJ", 0,
      "e:ckpt_name e:weight_dtype e:compute_dtype b:patch_cublaslinear e:sage_attention "
      "b:enable_fp16_accumulation" },
    { "CheckpointLoaderSimple", 0, "e:ckpt_name" },
    { "CheckpointLoaderSimpleWithNoiseSelect", 0,
      "e:ckpt_name e:beta_schedule b:use_custom_scale_factor f:scale_factor" },
    { "CheckpointLoader|pysssss", 0, "e:ckpt_name" },
    { "CheckpointSave", 1, "s:filename_prefix" },
    { "ChromaRadianceOptions", 0,
      "b:preserve_wrapper f:start_sigma f:end_sigma i:nerf_tile_size b:force_sequential_txt_ids" },
    { "Civitai Hash Fetcher (Image Saver)", 0, "s:username s:model_name s:version" },
    { "ClaudeNode", 2, "" },
    { "ColorMatch", 0, "e:method f:strength b:multithread" },
    { "ColorPreprocessor", 0, "i:resolution" },
    { "ColorToMask", 0, "b:invert i:red i:green i:blue i:threshold i:per_batch" },
    { "ColorToRGBInt", 0, "s:color" },
    { "ColorTransfer", 0,
      "e:method c:source_stats{|per_frame|uniform|target_frame i:source_stats.target_index} "
      "f:strength" },
    { "CombineHooks2", 0, "" },
    { "CombineHooks4", 0, "" },
    { "CombineHooks8", 0, "" },
    { "Combo Clone", 0, "e:combo" },
    { "ComfyAndNode", 0, "" },
    { "ComfyMathExpression", 0, "s:expression" },
    { "ComfyNotNode", 0, "" },
    { "ComfyNumberConvert", 0, "" },
    { "ComfyOrNode", 0, "" },
    { "ComfySwitchNode", 0, "b:switch" },
    { "Conditioning Concat Optional (Image Saver)", 0, "" },
    { "ConditioningAverage", 0, "f:conditioning_to_strength" },
    { "ConditioningCombine", 0, "" },
    { "ConditioningCombineMultiple+", 0, "" },
    { "ConditioningConcat", 0, "" },
    { "ConditioningMultiply", 0, "f:multiplier" },
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
    { "ConsoleDebug+", 1, "s:prefix" },
    { "ConstrainImageforVideo|pysssss", 0,
      "i:max_width i:max_height i:min_width i:min_height e:crop_if_required" },
    { "ConstrainImage|pysssss", 0,
      "i:max_width i:max_height i:min_width i:min_height e:crop_if_required" },
    { "Context (rgthree)", 0, "" },
    { "Context Big (rgthree)", 0, "" },
    { "Context Merge (rgthree)", 0, "" },
    { "Context Merge Big (rgthree)", 0, "" },
    { "Context Switch (rgthree)", 0, "" },
    { "Context Switch Big (rgthree)", 0, "" },
    { "ContextWindowsManual", 0,
      "i:context_length i:context_overlap e:context_schedule i:context_stride b:closed_loop "
      "e:fuse_method i:dim b:freenoise s:cond_retain_index_list b:split_conds_to_windows "
      "s:latent_retain_index_list b:causal_window_fix" },
    { "ControlNetApply", 0, "f:strength" },
    { "ControlNetApplyAdvanced", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetApplySD3", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetInpaintingAliMamaApply", 0, "f:strength f:start_percent f:end_percent" },
    { "ControlNetLoader", 0, "e:control_net_name" },
    { "ConvertArrayToString", 0, "i:indent" },
    { "ConvertDictionaryToString", 0, "i:indent" },
    { "CosmosImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "CosmosPredict2ImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "CreateBoundingBoxes", 1, "i:width i:height x:editor_state x:last_incoming" },
    { "CreateCameraInfo", 0,
      "c:mode{|orbit f:mode.yaw f:mode.pitch f:mode.distance|look_at f:mode.position_x "
      "f:mode.position_y f:mode.position_z|quaternion f:mode.position_x f:mode.position_y "
      "f:mode.position_z f:mode.quat_x f:mode.quat_y f:mode.quat_z f:mode.quat_w} f:target_x "
      "f:target_y f:target_z f:roll f:fov f:zoom e:camera_type" },
    { "CreateFadeMaskAdvanced", 0,
      "s:points_string b:invert i:frames i:width i:height e:interpolation" },
    { "CreateHookKeyframe", 0, "f:strength_mult f:start_percent" },
    { "CreateHookKeyframesFromFloats", 0, "f:start_percent f:end_percent b:print_keyframes" },
    { "CreateHookKeyframesInterpolated", 0,
      "f:strength_start f:strength_end e:interpolation f:start_percent f:end_percent "
      "i:keyframes_count b:print_keyframes" },
    { "CreateHookLora", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "CreateHookLoraModelOnly", 0, "e:lora_name f:strength_model" },
    { "CreateHookModelAsLora", 0, "e:ckpt_name f:strength_model f:strength_clip" },
    { "CreateHookModelAsLoraModelOnly", 0, "e:ckpt_name f:strength_model" },
    { "CreateList", 0, "" },
    { "CreateShapeMask", 0,
      "e:shape i:frames i:location_x i:location_y i:grow i:frame_width i:frame_height "
      "i:shape_width i:shape_height" },
    { "CreateVideo", 0, "f:fps i:bit_depth" },
    { "CropByBBoxes", 0, "i:output_width i:output_height i:padding e:keep_aspect" },
    { "CropMask", 0, "i:x i:y i:width i:height" },
    { "CurveEditor", 0, "x:curve" },
    { "CustomCombo", 0, "e:choice" },
    { "DA3GeometryToMesh", 0,
      "i:batch_index i:decimation f:discontinuity_threshold f:confidence_threshold b:use_sky_mask "
      "b:texture" },
    { "DA3Inference", 0,
      "i:resolution e:resize_method c:mode{|mono|multiview e:mode.ref_view_strategy "
      "e:mode.pose_method}" },
    { "DA3Render", 0,
      "c:output{|depth e:output.normalization b:output.apply_sky_clip|depth_colored "
      "e:output.normalization b:output.apply_sky_clip|sky_mask b:output.colored|confidence "
      "b:output.colored}" },
    { "DWPreprocessor", 0,
      "e:detect_hand e:detect_body e:detect_face i:resolution e:bbox_detector e:pose_estimator "
      "e:scale_stick_for_xinsr_cn" },
    { "DebugTensorShape+", 1, "" },
    { "DecimateMesh", 0,
      "i:target_face_count c:placement_mode{|midpoint|qem f:placement_mode.line_quadric_weight "
      "f:placement_mode.feature_edge_quadric_weight "
      "f:placement_mode.feature_edge_min_dihedral_deg b:placement_mode.clamp_v_to_edge}" },
    { "DensePosePreprocessor", 0, "e:model e:cmap i:resolution" },
    { "DepthAnythingPreprocessor", 0, "e:ckpt_name i:resolution" },
    { "DepthAnythingV2Preprocessor", 0, "e:ckpt_name i:resolution" },
    { "DiffControlNetLoader", 0, "e:control_net_name" },
    { "DifferentialDiffusion", 0, "f:strength" },
    { "DiffusersLoader", 0, "e:model_path" },
    { "DiffusionModelLoaderKJ", 0,
      "e:model_name e:weight_dtype e:compute_dtype b:patch_cublaslinear e:sage_attention "
      "b:enable_fp16_accumulation" },
    { "DisableNoise", 0, "" },
    { "Display Any (rgthree)", 1, "" },
    { "Display Int (rgthree)", 1, "" },
    { "DisplayAny", 1, "e:mode" },
    { "DownloadAndLoadCLIPSeg", 0, "e:model" },
    { "DownloadAndLoadFlorence2Lora", 0, "e:model" },
    { "DownloadAndLoadFlorence2Model", 0,
      "e:model e:precision e:attention b:convert_to_safetensors" },
    { "DrawBBoxes", 0, "" },
    { "DrawMaskOnImage", 0, "s:color e:device" },
    { "DualCFGGuider", 0, "f:cfg_conds f:cfg_cond2_negative e:style" },
    { "DualCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:type e:device" },
    { "DualCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:type" },
    { "DualModelGuider", 0, "f:cfg" },
    { "EasyCache", 0, "f:reuse_threshold f:start_percent f:end_percent b:verbose" },
    { "Edit Image Saver Pipe", 0,
      "s:filename s:path s:modelname s:positive s:negative s:additional_hashes s:custom" },
    { "ElevenLabsAudioIsolation", 2, "" },
    { "ElevenLabsInstantVoiceClone", 2, "" },
    { "ElevenLabsSpeechToSpeech", 2, "" },
    { "ElevenLabsSpeechToText", 2, "" },
    { "ElevenLabsTextToDialogue", 2, "" },
    { "ElevenLabsTextToSoundEffects", 2, "" },
    { "ElevenLabsTextToSpeech", 2, "" },
    { "ElevenLabsVoiceSelector", 2, "" },
    { "EmptyARVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyAceStep1.5LatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyAceStepLatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyAudio", 0, "f:duration i:sample_rate i:channels" },
    { "EmptyChromaRadianceLatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyCosmosLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyFlux2LatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyHiDreamO1LatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyHunyuanImageLatent", 0, "i:width i:height i:batch_size" },
    { "EmptyHunyuanLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyHunyuanVideo15Latent", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyImage", 0, "i:width i:height i:batch_size i:color" },
    { "EmptyLTXVLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyLatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyLatentHunyuan3Dv2", 0, "i:resolution i:batch_size" },
    { "EmptyLatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyLatentVideo", 0, "i:width i:height i:batch_size i:frame_count" },
    { "EmptyMiniMaxH3LatentAV", 0, "i:width i:height i:length" },
    { "EmptyMiniMaxMusic3LatentAudio", 0, "f:seconds i:batch_size" },
    { "EmptyMochiLatentVideo", 0, "i:width i:height i:length i:batch_size" },
    { "EmptyQwenImageLayeredLatentImage", 0, "i:width i:height i:layers i:batch_size" },
    { "EmptySD3LatentImage", 0, "i:width i:height i:batch_size" },
    { "EmptyTrellis2LatentStructure", 0, "i:batch_size" },
    { "Epsilon Scaling", 0, "f:scaling_factor" },
    { "ExponentialScheduler", 0, "i:steps f:sigma_max f:sigma_min" },
    { "ExtendIntermediateSigmas", 0, "i:steps f:start_at_sigma f:end_at_sigma e:spacing" },
    { "FacialPartColoringFromPoseKps", 0,
      "e:mode s:skin s:left_eye s:right_eye s:nose s:upper_lip s:inner_mouth s:lower_lip" },
    { "FakeScribblePreprocessor", 0, "e:safe i:resolution" },
    { "FeatherMask", 0, "i:left i:top i:right i:bottom" },
    { "File3DToSplat", 0, "" },
    { "FillHoles", 0, "f:max_perimeter f:weld_epsilon_rel i:max_vertices b:fill_chains" },
    { "FishAudioInstantVoiceClone", 2, "" },
    { "FishAudioSpeechToText", 2, "" },
    { "FishAudioTextToSpeech", 2, "" },
    { "FishAudioVoiceSelector", 2, "" },
    { "FlipSigmas", 0, "" },
    { "Float Literal (Image Saver)", 0, "f:float" },
    { "FloatConstant", 0, "f:value" },
    { "FloatToSigmas", 0, "" },
    { "Florence2ModelLoader", 0, "e:model e:precision e:attention b:convert_to_safetensors" },
    { "Florence2Run", 0,
      "s:text_input e:task b:fill_mask b:keep_model_loaded i:max_new_tokens i:num_beams "
      "b:do_sample s:output_mask_select i+seed" },
    { "Flux2ImageNode", 2, "" },
    { "Flux2Scheduler", 0, "i:steps i:width i:height" },
    { "Flux3ImageToVideoNode", 2, "" },
    { "Flux3TextToVideoNode", 2, "" },
    { "Flux3VideoContinuationNode", 2, "" },
    { "FluxAttentionSeeker+", 0,
      "b:apply_to_query b:apply_to_key b:apply_to_value b:apply_to_out f:clip_l_0 f:clip_l_1 "
      "f:clip_l_2 f:clip_l_3 f:clip_l_4 f:clip_l_5 f:clip_l_6 f:clip_l_7 f:clip_l_8 f:clip_l_9 "
      "f:clip_l_10 f:clip_l_11 f:t5xxl_0 f:t5xxl_1 f:t5xxl_2 f:t5xxl_3 f:t5xxl_4 f:t5xxl_5 "
      "f:t5xxl_6 f:t5xxl_7 f:t5xxl_8 f:t5xxl_9 f:t5xxl_10 f:t5xxl_11 f:t5xxl_12 f:t5xxl_13 "
      "f:t5xxl_14 f:t5xxl_15 f:t5xxl_16 f:t5xxl_17 f:t5xxl_18 f:t5xxl_19 f:t5xxl_20 f:t5xxl_21 "
      "f:t5xxl_22 f:t5xxl_23" },
    { "FluxBlocksBuster+", 0, "d:blocks" },
    { "FluxDisableGuidance", 0, "" },
    { "FluxEraseNode", 2, "" },
    { "FluxGuidance", 0, "f:guidance" },
    { "FluxKVCache", 0, "" },
    { "FluxKontextImageScale", 0, "" },
    { "FluxKontextMultiReferenceLatentMethod", 0, "e:reference_latents_method" },
    { "FluxProExpandNode", 2, "" },
    { "FluxProFillNode", 2, "" },
    { "FluxProUltraImageNode", 2, "" },
    { "FluxSamplerParams+", 0,
      "s:seed s:sampler s:scheduler s:steps s:guidance s:max_shift s:base_shift s:denoise" },
    { "FluxVTONode", 2, "" },
    { "FluxVideoUpscaleNode", 2, "" },
    { "FrameInterpolate", 0, "i:multiplier" },
    { "FrameInterpolationModelLoader", 0, "e:model_name" },
    { "FreSca", 0, "f:scale_low f:scale_high i:freq_cutoff" },
    { "FreeU", 0, "f:b1 f:b2 f:s1 f:s2" },
    { "FreeU_V2", 0, "f:b1 f:b2 f:s1 f:s2" },
    { "GGUFLoaderKJ", 0,
      "e:model_name e:extra_model_name e:dequant_dtype e:patch_dtype b:patch_on_device "
      "b:enable_fp16_accumulation e:attention_override" },
    { "GITSScheduler", 0, "f:coeff i:steps f:denoise" },
    { "GLIGENLoader", 0, "e:gligen_name" },
    { "GLIGENTextBoxApply", 0, "d:text i:width i:height i:x i:y" },
    { "GLSLShader", 0,
      "s:fragment_shader c:size_mode{|from_input|custom i:size_mode.width i:size_mode.height}" },
    { "GeminiImage2Node", 2, "" },
    { "GeminiImageNode", 2, "" },
    { "GeminiInputFiles", 2, "" },
    { "GeminiNanoBanana2", 2, "" },
    { "GeminiNanoBanana2V2", 2, "" },
    { "GeminiNode", 2, "" },
    { "GeminiNodeV2", 2, "" },
    { "GeminiVideoOmni", 2, "" },
    { "GenerateTracks", 0,
      "i:width i:height f:start_x f:start_y f:end_x f:end_y i:num_frames i:num_tracks "
      "f:track_spread b:bezier f:mid_x f:mid_y e:interpolation" },
    { "GetICLoRAParameters", 0, "" },
    { "GetImageRangeFromBatch", 0, "i:start_index i:num_frames" },
    { "GetImageSize", 0, "" },
    { "GetImageSize+", 0, "" },
    { "GetImageSizeAndCount", 0, "" },
    { "GetLatentRangeFromBatch", 0, "i:start_index i:num_frames" },
    { "GetLatentSizeAndCount", 0, "" },
    { "GetMeshInfo", 0, "" },
    { "GetSplatCount", 0, "" },
    { "GetVideoComponents", 0, "" },
    { "GrokImageEditNode", 2, "" },
    { "GrokImageEditNodeV2", 2, "" },
    { "GrokImageNode", 2, "" },
    { "GrokVideoEditNode", 2, "" },
    { "GrokVideoExtendNode", 2, "" },
    { "GrokVideoNode", 2, "" },
    { "GrokVideoReferenceNode", 2, "" },
    { "GrowMask", 0, "i:expand b:tapered_corners" },
    { "GrowMaskWithBlur", 0,
      "i:expand f:incremental_expandrate b:tapered_corners b:flip_input f:blur_radius "
      "f:lerp_alpha f:decay_factor b:fill_holes" },
    { "GuidanceTimestepping+", 0, "f:value f:start_at f:end_at" },
    { "GuiderParameters", 0,
      "e:modality f:cfg f:stg b:perturb_attn f:rescale f:modality_scale i:skip_step b:cross_attn" },
    { "HEDPreprocessor", 0, "e:safe i:resolution" },
    { "HappyHorseImageToVideoApi", 2, "" },
    { "HappyHorseReferenceVideoApi", 2, "" },
    { "HappyHorseTextToVideoApi", 2, "" },
    { "HappyHorseVideoEditApi", 2, "" },
    { "HeyGenAvatarVideoNode", 2, "" },
    { "HeyGenCreateAvatarNode", 2, "" },
    { "HeyGenTalkingPhotoNode", 2, "" },
    { "HeyGenTextToSpeechNode", 2, "" },
    { "HeyGenVideoTranslateNode", 2, "" },
    { "HiDreamO1PatchSeamSmoothing", 0,
      "f:start_percent f:end_percent e:pattern e:passes e:blend f:strength" },
    { "HiDreamO1ReferenceImages", 0, "" },
    { "HitPawGeneralImageEnhance", 2, "" },
    { "HitPawVideoEnhance", 2, "" },
    { "Hunyuan3Dv2Conditioning", 0, "" },
    { "Hunyuan3Dv2ConditioningMultiView", 0, "" },
    { "HunyuanImageToVideo", 0, "i:width i:height i:length i:batch_size e:guidance_type" },
    { "HunyuanRefinerLatent", 0, "f:noise_augmentation" },
    { "HunyuanVideo15ImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "HunyuanVideo15LatentUpscaleWithModel", 0, "e:upscale_method i:width i:height e:crop" },
    { "HunyuanVideo15SuperResolution", 0, "f:noise_augmentation" },
    { "HyperTile", 0, "i:tile_size i:swap_size i:max_depth b:scale_depth" },
    { "HypernetworkLoader", 0, "e:hypernetwork_name f:strength" },
    { "INTConstant", 0, "i:value" },
    { "IPAdapter", 0, "f:weight f:start_at f:end_at e:weight_type" },
    { "IPAdapterAdvanced", 0,
      "f:weight e:weight_type e:combine_embeds f:start_at f:end_at e:embeds_scaling" },
    { "IPAdapterBatch", 0,
      "f:weight e:weight_type f:start_at f:end_at e:embeds_scaling i:encode_batch_size" },
    { "IPAdapterClipVisionEnhancer", 0,
      "f:weight e:weight_type e:combine_embeds f:start_at f:end_at e:embeds_scaling "
      "i:enhance_tiles f:enhance_ratio" },
    { "IPAdapterCombineEmbeds", 0, "e:method" },
    { "IPAdapterCombineParams", 0, "" },
    { "IPAdapterEmbeds", 0, "f:weight e:weight_type f:start_at f:end_at e:embeds_scaling" },
    { "IPAdapterEncoder", 0, "f:weight" },
    { "IPAdapterFaceID", 0,
      "f:weight f:weight_faceidv2 e:weight_type e:combine_embeds f:start_at f:end_at "
      "e:embeds_scaling" },
    { "IPAdapterFaceIDKolors", 0,
      "f:weight f:weight_faceidv2 f:weight_kolors e:weight_type e:combine_embeds f:start_at "
      "f:end_at e:embeds_scaling" },
    { "IPAdapterFromParams", 0, "e:combine_embeds e:embeds_scaling" },
    { "IPAdapterInsightFaceLoader", 0, "e:provider e:model_name" },
    { "IPAdapterMS", 0,
      "f:weight f:weight_faceidv2 e:weight_type e:combine_embeds f:start_at f:end_at "
      "e:embeds_scaling s:layer_weights" },
    { "IPAdapterModelLoader", 0, "e:ipadapter_file" },
    { "IPAdapterNoise", 0, "e:type f:strength i:blur" },
    { "IPAdapterPreciseComposition", 0,
      "f:weight f:composition_boost e:combine_embeds f:start_at f:end_at e:embeds_scaling" },
    { "IPAdapterRegionalConditioning", 0,
      "f:image_weight f:prompt_weight e:weight_type f:start_at f:end_at" },
    { "IPAdapterStyleComposition", 0,
      "f:weight_style f:weight_composition b:expand_style e:combine_embeds f:start_at f:end_at "
      "e:embeds_scaling" },
    { "IPAdapterTiled", 0,
      "f:weight e:weight_type e:combine_embeds f:start_at f:end_at f:sharpening e:embeds_scaling" },
    { "IPAdapterUnifiedLoader", 0, "e:preset" },
    { "IPAdapterUnifiedLoaderFaceID", 0, "e:preset f:lora_strength e:provider" },
    { "IPAdapterWeights", 0,
      "s:weights e:timing i:frames i:start_frame i:end_frame i:add_starting_frames "
      "i:add_ending_frames e:method" },
    { "Ideogram4Scheduler", 0, "i:steps i:width i:height f:mu f:std" },
    { "IdeogramPImage", 2, "" },
    { "IdeogramV3", 2, "" },
    { "IdeogramV4", 2, "" },
    { "Image Blending Mode", 0, "e:mode f:blend_percentage" },
    { "Image Bloom Filter", 0, "f:radius f:intensity" },
    { "Image Comparer (rgthree)", 1, "" },
    { "Image Crop Face", 0, "f:crop_padding_factor e:cascade_xml" },
    { "Image Crop Location", 0, "i:top i:left i:right i:bottom" },
    { "Image Film Grain", 0, "f:density f:intensity f:highlights i:supersample_factor" },
    { "Image Filter Adjustments", 0,
      "f:brightness f:contrast f:saturation f:sharpness i:blur f:gaussian_blur f:edge_enhance "
      "e:detail_enhance" },
    { "Image Flip", 0, "e:mode" },
    { "Image Generate Gradient", 0, "i:width i:height e:direction i:tolerance s:gradient_stops" },
    { "Image Gradient Map", 0, "e:flip_left_right" },
    { "Image Inset Crop (rgthree)", 0, "e:measurement i:left i:right i:top i:bottom" },
    { "Image Levels Adjustment", 0, "f:black_level f:mid_level f:white_level" },
    { "Image Lucy Sharpen", 0, "i:iterations i:kernel_size" },
    { "Image Padding", 0,
      "i:feathering e:feather_second_pass i:left_padding i:right_padding i:top_padding "
      "i:bottom_padding" },
    { "Image Paste Face", 0, "f:crop_blending i:crop_sharpening" },
    { "Image Perlin Noise", 0, "i:width i:height i:scale i:octaves f:persistence i+seed" },
    { "Image Perlin Power Fractal", 0,
      "i:width i:height i:scale i:octaves f:persistence f:lacunarity f:exponent i+seed" },
    { "Image Pixelate", 0,
      "f:pixelation_size f:num_colors e:init_mode f:max_iterations e:dither e:dither_mode "
      "e:color_palette_mode e:reverse_palette" },
    { "Image Power Noise", 0, "i:width i:height f:frequency f:attenuation e:noise_type i+seed" },
    { "Image Rembg (Remove Background)", 0,
      "b:transparency e:model b:post_processing b:only_mask b:alpha_matting "
      "i:alpha_matting_foreground_threshold i:alpha_matting_background_threshold "
      "i:alpha_matting_erode_size e:background_color" },
    { "Image Resize", 0,
      "e:mode e:supersample e:resampling f:rescale_factor i:resize_width i:resize_height" },
    { "Image Resize (rgthree)", 0, "e:measurement i:width i:height e:fit e:method" },
    { "Image Save", 1,
      "s:output_path s:filename_prefix s:filename_delimiter i:filename_number_padding "
      "e:filename_number_start e:extension i:dpi i:quality e:optimize_image e:lossless_webp "
      "e:overwrite_mode e:show_history e:show_history_by_prefix e:embed_workflow e:show_previews" },
    { "Image Saver", 1,
      "s:filename s:path e:extension i:steps f:cfg s:modelname s:sampler_name s:scheduler_name "
      "s:positive s:negative i:seed_value i:width i:height b:lossless_webp i:quality_jpeg_or_webp "
      "b:optimize_png i:counter f:denoise i:clip_skip s:time_format b:save_workflow_as_json "
      "b:embed_workflow s:additional_hashes b:download_civitai_data b:easy_remix b:show_preview "
      "s:custom" },
    { "Image Saver (From Pipe)", 1, "b:show_preview" },
    { "Image Saver Metadata", 0,
      "s:modelname s:positive s:negative i:width i:height i:seed_value i:steps f:cfg "
      "s:sampler_name s:scheduler_name f:denoise i:clip_skip s:additional_hashes "
      "b:download_civitai_data b:easy_remix s:custom" },
    { "Image Saver Simple", 1,
      "s:filename s:path e:extension b:lossless_webp i:quality_jpeg_or_webp b:optimize_png "
      "b:embed_workflow b:save_workflow_as_json i:counter s:time_format b:show_preview" },
    { "Image Size to Number", 0, "" },
    { "Image Style Filter", 0, "e:style" },
    { "Image or Latent Size (rgthree)", 0, "" },
    { "ImageAddNoise", 0, "i+seed f:strength" },
    { "ImageAndMaskPreview", 1, "f:mask_opacity s:mask_color b:pass_through" },
    { "ImageApplyLUT+", 0, "e:lut_file b:gamma_correction b:clip_values f:strength" },
    { "ImageBatch", 0, "" },
    { "ImageBatchExtendWithOverlap", 0, "i:overlap e:overlap_side e:overlap_mode" },
    { "ImageBatchMulti", 0, "i:inputcount" },
    { "ImageBatchMultiple+", 0, "e:method" },
    { "ImageBatchToList+", 0, "" },
    { "ImageBlend", 0, "f:blend_factor e:blend_mode" },
    { "ImageBlur", 0, "i:blur_radius f:sigma" },
    { "ImageCASharpening+", 0, "f:amount" },
    { "ImageColorMatch+", 0, "e:color_space f:factor e:device i:batch_size" },
    { "ImageColorMatchAdobe+", 0,
      "e:color_space f:luminance_factor f:color_intensity_factor f:fade_factor "
      "f:neutralization_factor e:device" },
    { "ImageColorToMask", 0, "i:color" },
    { "ImageCompare", 1, "x:compare_view" },
    { "ImageComposite+", 0, "i:x i:y i:offset_x i:offset_y" },
    { "ImageCompositeFromMaskBatch+", 0, "" },
    { "ImageCompositeMasked", 0, "i:x i:y b:resize_source" },
    { "ImageCompositor", 1, "x:compositor" },
    { "ImageConcanate", 0, "e:direction b:match_image_size" },
    { "ImageConcatMulti", 0, "i:inputcount e:direction b:match_image_size" },
    { "ImageCrop", 0, "i:width i:height i:x i:y" },
    { "ImageCrop+", 0, "i:width i:height e:position i:x_offset i:y_offset" },
    { "ImageCropByMask", 0, "" },
    { "ImageCropByMaskAndResize", 0,
      "i:base_resolution i:padding i:min_crop_resolution i:max_crop_resolution" },
    { "ImageCropToMask", 0, "i:width i:height f:pad_factor i:grow_mask s:background" },
    { "ImageCropV2", 0, "x#crop_region" },
    { "ImageDeduplication", 0, "f:similarity_threshold" },
    { "ImageDesaturate+", 0, "f:factor e:method" },
    { "ImageEnhanceDifference+", 0, "f:exponent" },
    { "ImageExpandBatch+", 0, "i:size e:method" },
    { "ImageFlip", 0, "e:flip_method" },
    { "ImageFlip+", 0, "e:axis" },
    { "ImageFromBatch", 0, "i:batch_index i:length" },
    { "ImageFromBatch+", 0, "i:start i:length" },
    { "ImageGrid", 0, "i:columns i:cell_width i:cell_height i:padding" },
    { "ImageHistogram", 0, "" },
    { "ImageHistogramMatch+", 0, "e:method f:factor e:device" },
    { "ImageInvert", 0, "" },
    { "ImageListToBatch+", 0, "" },
    { "ImageMergeTileList", 0, "i:final_width i:final_height i:overlap" },
    { "ImageNoiseAugmentation", 0, "f:noise_aug_strength i+seed" },
    { "ImageOnlyCheckpointLoader", 0, "e:ckpt_name" },
    { "ImageOnlyCheckpointSave", 1, "s:filename_prefix" },
    { "ImagePadForOutpaint", 0, "i:left i:top i:right i:bottom i:feathering" },
    { "ImagePadForOutpaintTargetSize", 0,
      "i:target_width i:target_height i:feathering e:upscale_method" },
    { "ImagePadKJ", 0, "i:left i:right i:top i:bottom i:extra_padding e:pad_mode s:color" },
    { "ImagePosterize+", 0, "f:threshold" },
    { "ImagePreviewFromLatent+", 1, "i:tile_size e:image" },
    { "ImageQuantize", 0, "i:colors e:dither" },
    { "ImageRGBToYUV", 0, "" },
    { "ImageRandomTransform+", 0, "i+seed i:repeat f:variation" },
    { "ImageRemoveAlpha+", 0, "" },
    { "ImageRemoveBackground+", 0, "" },
    { "ImageResize+", 0, "i:width i:height e:interpolation e:method e:condition i:multiple_of" },
    { "ImageResizeKJ", 0,
      "i:width i:height e:upscale_method b:keep_proportion i:divisible_by e:crop" },
    { "ImageResizeKJv2", 0,
      "i:width i:height e:upscale_method e:keep_proportion s:pad_color e:crop_position "
      "i:divisible_by e:device" },
    { "ImageRotate", 0, "e:rotation" },
    { "ImageScale", 0, "e:upscale_method i:width i:height e:crop" },
    { "ImageScaleBy", 0, "e:upscale_method f:scale_by" },
    { "ImageScaleToMaxDimension", 0, "e:upscale_method i:largest_size" },
    { "ImageScaleToTotalPixels", 0, "e:upscale_method f:megapixels i:resolution_steps" },
    { "ImageSeamCarving+", 0, "i:width i:height e:energy e:order" },
    { "ImageSharpen", 0, "i:sharpen_radius f:sigma f:alpha" },
    { "ImageSmartSharpen+", 0, "i:noise_radius f:preserve_edges f:sharpen f:ratio" },
    { "ImageStitch", 0, "e:direction b:match_image_size i:spacing_width e:spacing_color" },
    { "ImageTile+", 0, "i:rows i:cols f:overlap i:overlap_x i:overlap_y" },
    { "ImageToDevice+", 0, "e:device" },
    { "ImageToMask", 0, "e:channel" },
    { "ImageUntile+", 0, "i:overlap_x i:overlap_y i:rows i:cols" },
    { "ImageUpscaleWithModel", 0, "" },
    { "ImageUpscaleWithModelBatched", 0,
      "i:per_batch f:downscale_ratio e:downscale_method e:precision" },
    { "ImageYUVToRGB", 0, "" },
    { "Images to RGB", 0, "" },
    { "InjectLatentNoise+", 0, "i+noise_seed f:noise_strength e:normalize" },
    { "InpaintModelConditioning", 0, "b:noise_mask" },
    { "InpaintPreprocessor", 0, "b:black_pixel_for_xinsir_cn" },
    { "Input Parameters (Image Saver)", 0,
      "i+seed i:steps f:cfg e:sampler e:scheduler f:denoise" },
    { "InstructPixToPixConditioning", 0, "" },
    { "Int Literal (Image Saver)", 0, "i:int" },
    { "Integer place counter", 0, "i:int_input" },
    { "InvertMask", 0, "" },
    { "JoinAudioChannels", 0, "" },
    { "JoinImageWithAlpha", 0, "" },
    { "JoinStringMulti", 0, "i:inputcount s:delimiter b:return_list" },
    { "JoinStrings", 0, "s:delimiter" },
    { "JsonExtractString", 0, "s:json_string s:key" },
    { "KSampler", 0, "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise" },
    { "KSampler (WAS)", 0, "i:steps f:cfg e:sampler_name e:scheduler f:denoise" },
    { "KSampler Config (rgthree)", 0,
      "i:steps_total i:refiner_step f:cfg e:sampler_name e:scheduler" },
    { "KSamplerAdvanced", 0,
      "e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
      "i:end_at_step e:return_with_leftover_noise" },
    { "KSamplerSelect", 0, "e:sampler_name" },
    { "KSamplerVariationsStochastic+", 0,
      "i+noise_seed i:steps f:cfg e:sampler e:scheduler f:variation_strength f:cfg_scale" },
    { "KSamplerVariationsWithNoise+", 0,
      "i:steps f:cfg e:sampler_name e:scheduler f:variation_strength f:denoise" },
    { "Kandinsky5ImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "KarrasScheduler", 0, "i:steps f:sigma_max f:sigma_min f:rho" },
    { "KlingAvatarNode", 2, "" },
    { "KlingFirstLastFrameNode", 2, "" },
    { "KlingImage2VideoNode", 2, "" },
    { "KlingImageGenerationNode", 2, "" },
    { "KlingImageToVideoWithAudio", 2, "" },
    { "KlingLipSyncAudioToVideoNode", 2, "" },
    { "KlingLipSyncTextToVideoNode", 2, "" },
    { "KlingMotionControl", 2, "" },
    { "KlingOmniProEditVideoNode", 2, "" },
    { "KlingOmniProFirstLastFrameNode", 2, "" },
    { "KlingOmniProImageNode", 2, "" },
    { "KlingOmniProImageToVideoNode", 2, "" },
    { "KlingOmniProTextToVideoNode", 2, "" },
    { "KlingOmniProVideoToVideoNode", 2, "" },
    { "KlingStartEndFrameNode", 2, "" },
    { "KlingTextToVideoNode", 2, "" },
    { "KlingTextToVideoWithAudio", 2, "" },
    { "KlingVideoExtendNode", 2, "" },
    { "KlingVideoNode", 2, "" },
    { "Krea2ImageNode", 2, "" },
    { "Krea2StyleReferenceNode", 2, "" },
    { "LTX2AttentionTunerPatch", 0,
      "s:blocks f:video_scale f:audio_scale f:audio_to_video_scale f:video_to_audio_scale "
      "b:triton_kernels" },
    { "LTX2MemoryEfficientSageAttentionPatch", 0, "b:triton_kernels" },
    { "LTX2SamplingPreviewOverride", 0, "f:preview_rate" },
    { "LTX2_NAG", 0, "f:nag_scale f:nag_alpha f:nag_tau b:inplace" },
    { "LTXAVTextEncoderLoader", 0, "e:text_encoder e:ckpt_name e:device" },
    { "LTXAddVideoICLoRAGuide", 0,
      "i:frame_idx f:strength f:latent_downscale_factor e:crop b:use_tiled_encode i:tile_size "
      "i:tile_overlap" },
    { "LTXAddVideoICLoRAGuideAdvanced", 0,
      "i:frame_idx f:strength f:latent_downscale_factor e:crop b:use_tiled_encode i:tile_size "
      "i:tile_overlap f:attention_strength" },
    { "LTXFloatToInt", 0, "f:a" },
    { "LTXICLoRALoaderModelOnly", 0, "e:lora_name f:strength_model" },
    { "LTXVAdainLatent", 0, "f:factor b:per_frame" },
    { "LTXVAddGuide", 0, "i:frame_idx f:strength" },
    { "LTXVAddGuideMulti", 0,
      "c:num_guides{|1 i:num_guides.frame_idx_1 f:num_guides.strength_1|2 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2|3 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3|4 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4|5 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5|6 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6|7 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7|8 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5 i:num_guides.frame_idx_6 f:num_guides.strength_6 "
      "i:num_guides.frame_idx_7 f:num_guides.strength_7 i:num_guides.frame_idx_8 "
      "f:num_guides.strength_8|9 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9|10 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10|11 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5 i:num_guides.frame_idx_6 f:num_guides.strength_6 "
      "i:num_guides.frame_idx_7 f:num_guides.strength_7 i:num_guides.frame_idx_8 "
      "f:num_guides.strength_8 i:num_guides.frame_idx_9 f:num_guides.strength_9 "
      "i:num_guides.frame_idx_10 f:num_guides.strength_10 i:num_guides.frame_idx_11 "
      "f:num_guides.strength_11|12 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12|13 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12 i:num_guides.frame_idx_13 f:num_guides.strength_13|14 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5 i:num_guides.frame_idx_6 f:num_guides.strength_6 "
      "i:num_guides.frame_idx_7 f:num_guides.strength_7 i:num_guides.frame_idx_8 "
      "f:num_guides.strength_8 i:num_guides.frame_idx_9 f:num_guides.strength_9 "
      "i:num_guides.frame_idx_10 f:num_guides.strength_10 i:num_guides.frame_idx_11 "
      "f:num_guides.strength_11 i:num_guides.frame_idx_12 f:num_guides.strength_12 "
      "i:num_guides.frame_idx_13 f:num_guides.strength_13 i:num_guides.frame_idx_14 "
      "f:num_guides.strength_14|15 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12 i:num_guides.frame_idx_13 f:num_guides.strength_13 "
      "i:num_guides.frame_idx_14 f:num_guides.strength_14 i:num_guides.frame_idx_15 "
      "f:num_guides.strength_15|16 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12 i:num_guides.frame_idx_13 f:num_guides.strength_13 "
      "i:num_guides.frame_idx_14 f:num_guides.strength_14 i:num_guides.frame_idx_15 "
      "f:num_guides.strength_15 i:num_guides.frame_idx_16 f:num_guides.strength_16|17 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5 i:num_guides.frame_idx_6 f:num_guides.strength_6 "
      "i:num_guides.frame_idx_7 f:num_guides.strength_7 i:num_guides.frame_idx_8 "
      "f:num_guides.strength_8 i:num_guides.frame_idx_9 f:num_guides.strength_9 "
      "i:num_guides.frame_idx_10 f:num_guides.strength_10 i:num_guides.frame_idx_11 "
      "f:num_guides.strength_11 i:num_guides.frame_idx_12 f:num_guides.strength_12 "
      "i:num_guides.frame_idx_13 f:num_guides.strength_13 i:num_guides.frame_idx_14 "
      "f:num_guides.strength_14 i:num_guides.frame_idx_15 f:num_guides.strength_15 "
      "i:num_guides.frame_idx_16 f:num_guides.strength_16 i:num_guides.frame_idx_17 "
      "f:num_guides.strength_17|18 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12 i:num_guides.frame_idx_13 f:num_guides.strength_13 "
      "i:num_guides.frame_idx_14 f:num_guides.strength_14 i:num_guides.frame_idx_15 "
      "f:num_guides.strength_15 i:num_guides.frame_idx_16 f:num_guides.strength_16 "
      "i:num_guides.frame_idx_17 f:num_guides.strength_17 i:num_guides.frame_idx_18 "
      "f:num_guides.strength_18|19 i:num_guides.frame_idx_1 f:num_guides.strength_1 "
      "i:num_guides.frame_idx_2 f:num_guides.strength_2 i:num_guides.frame_idx_3 "
      "f:num_guides.strength_3 i:num_guides.frame_idx_4 f:num_guides.strength_4 "
      "i:num_guides.frame_idx_5 f:num_guides.strength_5 i:num_guides.frame_idx_6 "
      "f:num_guides.strength_6 i:num_guides.frame_idx_7 f:num_guides.strength_7 "
      "i:num_guides.frame_idx_8 f:num_guides.strength_8 i:num_guides.frame_idx_9 "
      "f:num_guides.strength_9 i:num_guides.frame_idx_10 f:num_guides.strength_10 "
      "i:num_guides.frame_idx_11 f:num_guides.strength_11 i:num_guides.frame_idx_12 "
      "f:num_guides.strength_12 i:num_guides.frame_idx_13 f:num_guides.strength_13 "
      "i:num_guides.frame_idx_14 f:num_guides.strength_14 i:num_guides.frame_idx_15 "
      "f:num_guides.strength_15 i:num_guides.frame_idx_16 f:num_guides.strength_16 "
      "i:num_guides.frame_idx_17 f:num_guides.strength_17 i:num_guides.frame_idx_18 "
      "f:num_guides.strength_18 i:num_guides.frame_idx_19 f:num_guides.strength_19|20 "
      "i:num_guides.frame_idx_1 f:num_guides.strength_1 i:num_guides.frame_idx_2 "
      "f:num_guides.strength_2 i:num_guides.frame_idx_3 f:num_guides.strength_3 "
      "i:num_guides.frame_idx_4 f:num_guides.strength_4 i:num_guides.frame_idx_5 "
      "f:num_guides.strength_5 i:num_guides.frame_idx_6 f:num_guides.strength_6 "
      "i:num_guides.frame_idx_7 f:num_guides.strength_7 i:num_guides.frame_idx_8 "
      "f:num_guides.strength_8 i:num_guides.frame_idx_9 f:num_guides.strength_9 "
      "i:num_guides.frame_idx_10 f:num_guides.strength_10 i:num_guides.frame_idx_11 "
      "f:num_guides.strength_11 i:num_guides.frame_idx_12 f:num_guides.strength_12 "
      "i:num_guides.frame_idx_13 f:num_guides.strength_13 i:num_guides.frame_idx_14 "
      "f:num_guides.strength_14 i:num_guides.frame_idx_15 f:num_guides.strength_15 "
      "i:num_guides.frame_idx_16 f:num_guides.strength_16 i:num_guides.frame_idx_17 "
      "f:num_guides.strength_17 i:num_guides.frame_idx_18 f:num_guides.strength_18 "
      "i:num_guides.frame_idx_19 f:num_guides.strength_19 i:num_guides.frame_idx_20 "
      "f:num_guides.strength_20}" },
    { "LTXVApplySTG", 0, "s:block_indices" },
    { "LTXVAudioOnlyEmptyVideoLatent", 0, "" },
    { "LTXVAudioOnlyModel", 0, "" },
    { "LTXVAudioVAEDecode", 0, "" },
    { "LTXVAudioVAEEncode", 0, "" },
    { "LTXVAudioVAELoader", 0, "e:ckpt_name" },
    { "LTXVAudioVideoMask", 0,
      "f:video_fps f:video_start_time f:video_end_time f:audio_start_time f:audio_end_time "
      "e:max_length e:existing_mask_mode" },
    { "LTXVBaseSampler", 0,
      "i:width i:height i:num_frames s:optional_cond_indices f:strength e:crop i:crf i:blur" },
    { "LTXVChunkFeedForward", 0, "i:chunks i:dim_threshold" },
    { "LTXVConcatAVLatent", 0, "" },
    { "LTXVConditioning", 0, "f:frame_rate" },
    { "LTXVContextWindows", 0,
      "i:context_length i:context_overlap e:context_schedule i:context_stride b:closed_loop "
      "e:fuse_method b:freenoise b:retain_first_frame b:split_conds_to_windows" },
    { "LTXVCropGuides", 0, "" },
    { "LTXVDilateVideoMask", 0, "i:spatial_radius i:temporal_radius" },
    { "LTXVDrawTracks", 0, "s:tracks i:width i:height" },
    { "LTXVDualCFGGuider", 0, "f:video_cfg f:audio_cfg" },
    { "LTXVDurationPredictor", 0, "f:frame_rate f:min_seconds f:max_seconds" },
    { "LTXVEmptyLatentAudio", 0, "i:frames_number f:frame_rate i:batch_size" },
    { "LTXVGemmaCLIPModelLoader", 0, "e:gemma_path e:ltxv_path i:max_length" },
    { "LTXVGemmaEnhancePrompt", 1, "s:prompt s:system_prompt i:max_tokens b:bypass_i2v i+seed" },
    { "LTXVHDRDecodePostprocess", 1,
      "f:exposure b:save_exr s:output_dir s:filename_prefix b:half_precision" },
    { "LTXVImgToVideo", 0, "i:width i:height i:length i:batch_size f:strength" },
    { "LTXVImgToVideoConditionOnly", 0, "f:strength b:bypass" },
    { "LTXVImgToVideoInplace", 0, "f:strength b:bypass" },
    { "LTXVImgToVideoInplaceKJ", 0,
      "c:num_images{|1 f:num_images.strength_1 i:num_images.index_1|2 f:num_images.strength_1 "
      "f:num_images.strength_2 i:num_images.index_1 i:num_images.index_2|3 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3|4 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 i:num_images.index_4|5 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 i:num_images.index_1 i:num_images.index_2 "
      "i:num_images.index_3 i:num_images.index_4 i:num_images.index_5|6 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "f:num_images.strength_5 f:num_images.strength_6 i:num_images.index_1 i:num_images.index_2 "
      "i:num_images.index_3 i:num_images.index_4 i:num_images.index_5 i:num_images.index_6|7 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7|8 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 i:num_images.index_1 i:num_images.index_2 "
      "i:num_images.index_3 i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 "
      "i:num_images.index_7 i:num_images.index_8|9 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "f:num_images.strength_5 f:num_images.strength_6 f:num_images.strength_7 "
      "f:num_images.strength_8 f:num_images.strength_9 i:num_images.index_1 i:num_images.index_2 "
      "i:num_images.index_3 i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 "
      "i:num_images.index_7 i:num_images.index_8 i:num_images.index_9|10 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "f:num_images.strength_5 f:num_images.strength_6 f:num_images.strength_7 "
      "f:num_images.strength_8 f:num_images.strength_9 f:num_images.strength_10 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 i:num_images.index_4 "
      "i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 i:num_images.index_8 "
      "i:num_images.index_9 i:num_images.index_10|11 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "f:num_images.strength_5 f:num_images.strength_6 f:num_images.strength_7 "
      "f:num_images.strength_8 f:num_images.strength_9 f:num_images.strength_10 "
      "f:num_images.strength_11 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11|12 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 i:num_images.index_4 "
      "i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 i:num_images.index_8 "
      "i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 i:num_images.index_12|13 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "f:num_images.strength_13 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 "
      "i:num_images.index_12 i:num_images.index_13|14 f:num_images.strength_1 "
      "f:num_images.strength_2 f:num_images.strength_3 f:num_images.strength_4 "
      "f:num_images.strength_5 f:num_images.strength_6 f:num_images.strength_7 "
      "f:num_images.strength_8 f:num_images.strength_9 f:num_images.strength_10 "
      "f:num_images.strength_11 f:num_images.strength_12 f:num_images.strength_13 "
      "f:num_images.strength_14 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 "
      "i:num_images.index_12 i:num_images.index_13 i:num_images.index_14|15 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "f:num_images.strength_13 f:num_images.strength_14 f:num_images.strength_15 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 i:num_images.index_4 "
      "i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 i:num_images.index_8 "
      "i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 i:num_images.index_12 "
      "i:num_images.index_13 i:num_images.index_14 i:num_images.index_15|16 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "f:num_images.strength_13 f:num_images.strength_14 f:num_images.strength_15 "
      "f:num_images.strength_16 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 "
      "i:num_images.index_12 i:num_images.index_13 i:num_images.index_14 i:num_images.index_15 "
      "i:num_images.index_16|17 f:num_images.strength_1 f:num_images.strength_2 "
      "f:num_images.strength_3 f:num_images.strength_4 f:num_images.strength_5 "
      "f:num_images.strength_6 f:num_images.strength_7 f:num_images.strength_8 "
      "f:num_images.strength_9 f:num_images.strength_10 f:num_images.strength_11 "
      "f:num_images.strength_12 f:num_images.strength_13 f:num_images.strength_14 "
      "f:num_images.strength_15 f:num_images.strength_16 f:num_images.strength_17 "
      "i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 i:num_images.index_4 "
      "i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 i:num_images.index_8 "
      "i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 i:num_images.index_12 "
      "i:num_images.index_13 i:num_images.index_14 i:num_images.index_15 i:num_images.index_16 "
      "i:num_images.index_17|18 f:num_images.strength_1 f:num_images.strength_2 "
      "f:num_images.strength_3 f:num_images.strength_4 f:num_images.strength_5 "
      "f:num_images.strength_6 f:num_images.strength_7 f:num_images.strength_8 "
      "f:num_images.strength_9 f:num_images.strength_10 f:num_images.strength_11 "
      "f:num_images.strength_12 f:num_images.strength_13 f:num_images.strength_14 "
      "f:num_images.strength_15 f:num_images.strength_16 f:num_images.strength_17 "
      "f:num_images.strength_18 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 "
      "i:num_images.index_12 i:num_images.index_13 i:num_images.index_14 i:num_images.index_15 "
      "i:num_images.index_16 i:num_images.index_17 i:num_images.index_18|19 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "f:num_images.strength_13 f:num_images.strength_14 f:num_images.strength_15 "
      "f:num_images.strength_16 f:num_images.strength_17 f:num_images.strength_18 "
      "f:num_images.strength_19 i:num_images.index_1 i:num_images.index_2 i:num_images.index_3 "
      "i:num_images.index_4 i:num_images.index_5 i:num_images.index_6 i:num_images.index_7 "
      "i:num_images.index_8 i:num_images.index_9 i:num_images.index_10 i:num_images.index_11 "
      "i:num_images.index_12 i:num_images.index_13 i:num_images.index_14 i:num_images.index_15 "
      "i:num_images.index_16 i:num_images.index_17 i:num_images.index_18 i:num_images.index_19|20 "
      "f:num_images.strength_1 f:num_images.strength_2 f:num_images.strength_3 "
      "f:num_images.strength_4 f:num_images.strength_5 f:num_images.strength_6 "
      "f:num_images.strength_7 f:num_images.strength_8 f:num_images.strength_9 "
      "f:num_images.strength_10 f:num_images.strength_11 f:num_images.strength_12 "
      "f:num_images.strength_13 f:num_images.strength_14 f:num_images.strength_15 "
      "f:num_images.strength_16 f:num_images.strength_17 f:num_images.strength_18 "
      "f:num_images.strength_19 f:num_images.strength_20 i:num_images.index_1 "
      "i:num_images.index_2 i:num_images.index_3 i:num_images.index_4 i:num_images.index_5 "
      "i:num_images.index_6 i:num_images.index_7 i:num_images.index_8 i:num_images.index_9 "
      "i:num_images.index_10 i:num_images.index_11 i:num_images.index_12 i:num_images.index_13 "
      "i:num_images.index_14 i:num_images.index_15 i:num_images.index_16 i:num_images.index_17 "
      "i:num_images.index_18 i:num_images.index_19 i:num_images.index_20}" },
    { "LTXVInpaintPreprocess", 0, "" },
    { "LTXVLaplacianPyramidBlend", 0, "b:trim_to_shortest i:mask_low_res_dilation" },
    { "LTXVLatentUpsampler", 0, "" },
    { "LTXVLoopingSampler", 0,
      "i:temporal_tile_size i:temporal_overlap f:guiding_strength "
      "f:temporal_overlap_cond_strength f:cond_image_strength i:horizontal_tiles i:vertical_tiles "
      "i:spatial_overlap f:adain_factor i:guiding_start_step i:guiding_end_step "
      "s:optional_cond_image_indices" },
    { "LTXVModalityGuidance", 0, "f:modality_scale f:start_percent f:end_percent" },
    { "LTXVPreprocess", 0, "i:img_compression" },
    { "LTXVReferenceAudio", 0, "f:identity_guidance_scale f:start_percent f:end_percent" },
    { "LTXVScheduler", 0, "i:steps f:max_shift f:base_shift b:stretch f:terminal" },
    { "LTXVSeparateAVLatent", 0, "" },
    { "LTXVSetAudioRefTokens", 0, "" },
    { "LTXVSetAudioVideoMaskByTime", 0,
      "f:start_time f:end_time f:video_fps b:mask_video b:mask_audio f:mask_init_value_video "
      "f:mask_init_value_audio i:slope_len" },
    { "LTXVSparseTrackEditor", 1, "s:points_store s:coordinates i:points_to_sample" },
    { "LTXVSpatioTemporalGuidance", 0, "f:scale s:blocks f:start_percent f:end_percent" },
    { "LTXVSpatioTemporalTiledVAEDecode", 0,
      "i:spatial_tiles i:spatial_overlap i:temporal_tile_length i:temporal_overlap "
      "b:last_frame_fix e:working_device e:working_dtype" },
    { "LTXVTiledSampler", 0,
      "i:horizontal_tiles i:vertical_tiles i:overlap f:latents_cond_strength "
      "b:boost_latent_similarity e:crop s:optional_cond_indices s:images_cond_strengths" },
    { "LTXVTiledVAEDecode", 0,
      "i:horizontal_tiles i:vertical_tiles i:overlap b:last_frame_fix e:working_device "
      "e:working_dtype" },
    { "LaplaceScheduler", 0, "i:steps f:sigma_max f:sigma_min f:mu f:beta" },
    { "Latent Upscale by Factor (WAS)", 0, "e:mode f:factor e:align" },
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
    { "LatentCutToBatch", 0, "e:dim i:slice_size" },
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
    { "LatentUpscaleModelLoader", 0, "e:model_name" },
    { "LayersFromBoundingBoxes", 0, "b:crop_to_content i:canvas_width i:canvas_height" },
    { "LazyCache", 0, "f:reuse_threshold f:start_percent f:end_percent b:verbose" },
    { "LazySwitchKJ", 0, "b:switch" },
    { "LeReS-DepthMapPreprocessor", 0, "f:rm_nearest f:rm_background e:boost i:resolution" },
    { "LeapfusionHunyuanI2VPatcher", 0, "i:index f:start_percent f:end_percent f:strength" },
    { "LineArtPreprocessor", 0, "e:coarse i:resolution" },
    { "Load Image Batch", 0,
      "e:mode i+seed i:index s:label s:path s:pattern e:allow_RGBA_output "
      "e:filename_text_extension" },
    { "Load Lora", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "Load Text File", 0, "s:file_path s:dictionary_name" },
    { "Load3D", 0, "e^model_file x:image i:width i:height" },
    { "Load3DAdvanced", 0, "e^model_file x:viewport_state i:width i:height" },
    { "Load3DAnimation", 0, "e^model_file x:image i:width i:height" },
    { "LoadAndResizeImage", 0,
      "e^image b:resize i:width i:height i:repeat b:keep_proportion i:divisible_by e:mask_channel "
      "s:background_color" },
    { "LoadAudio", 0, "e^audio" },
    { "LoadBackgroundRemovalModel", 0, "e:bg_removal_name" },
    { "LoadCLIPSegModels+", 0, "" },
    { "LoadDA3Model", 0, "e:model_name e:weight_dtype" },
    { "LoadImage", 0, "e^image" },
    { "LoadImageDataSetFromFolder", 0, "e:folder" },
    { "LoadImageMask", 0, "e^image e:channel" },
    { "LoadImageOutput", 0, "e^image" },
    { "LoadImageSetFromFolderNode", 0, "e:folder e:resize_method" },
    { "LoadImageTextDataSetFromFolder", 0, "e:folder" },
    { "LoadImageTextSetFromFolderNode", 0, "e:folder e:resize_method i:width i:height" },
    { "LoadLatent", 0, "e:latent" },
    { "LoadMediaPipeFaceLandmarker", 0, "e:model_name" },
    { "LoadMoGeModel", 0, "e:model_name" },
    { "LoadText|pysssss", 0, "e:root_dir e:file" },
    { "LoadTrainingDataset", 0, "e:folder_name" },
    { "LoadVideo", 0, "e^file" },
    { "LoadVideoDataSetFromFolder", 0, "e:folder" },
    { "LoadVideoTextDataSetFromFolder", 0, "e:folder" },
    { "LoadWanVideoClipTextEncoder", 0, "e:model_name e:precision e:load_device" },
    { "LoadWanVideoT5TextEncoder", 0, "e:model_name e:precision e:load_device e:quantization" },
    { "Logic Comparison AND", 0, "b:boolean_a b:boolean_b" },
    { "Logic Comparison XOR", 0, "b:boolean_a b:boolean_b" },
    { "Lora Loader", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "Lora Loader Stack (rgthree)", 0,
      "e:lora_01 f:strength_01 e:lora_02 f:strength_02 e:lora_03 f:strength_03 e:lora_04 "
      "f:strength_04" },
    { "LoraLoader", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "LoraLoaderBypass", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "LoraLoaderBypassModelOnly", 0, "e:lora_name f:strength_model" },
    { "LoraLoaderModelOnly", 0, "e:lora_name f:strength_model" },
    { "LoraLoader|pysssss", 0, "e:lora_name f:strength_model f:strength_clip" },
    { "LoraModelLoader", 0, "f:strength_model b:bypass" },
    { "LoraSave", 1, "s:filename_prefix i:rank e:lora_type b:bias_diff" },
    { "LorasForFluxParams+", 0, "e:lora_1 s:strength_model_1" },
    { "LossGraphNode", 1, "s:filename_prefix" },
    { "LotusConditioning", 0, "" },
    { "LowVRAMAudioVAELoader", 0, "e:ckpt_name" },
    { "LowVRAMCheckpointLoader", 0, "e:ckpt_name" },
    { "LowVRAMLatentUpscaleModelLoader", 0, "e:model_name" },
    { "LtxApi25AudioToVideo", 2, "" },
    { "LtxApi25ImageToVideo", 2, "" },
    { "LtxApi25TextToVideo", 2, "" },
    { "LtxvApiImageToVideo", 2, "" },
    { "LtxvApiTextToVideo", 2, "" },
    { "LumaConceptsNode", 2, "" },
    { "LumaImageEditNode2", 2, "" },
    { "LumaImageModifyNode", 2, "" },
    { "LumaImageNode", 2, "" },
    { "LumaImageNode2", 2, "" },
    { "LumaImageToVideoNode", 2, "" },
    { "LumaRay32ExtendVideoNode", 2, "" },
    { "LumaRay32ImageToVideoNode", 2, "" },
    { "LumaRay32KeyframeNode", 2, "" },
    { "LumaRay32KeyframesToVideoNode", 2, "" },
    { "LumaRay32TextToVideoNode", 2, "" },
    { "LumaRay32VideoEditNode", 2, "" },
    { "LumaRay32VideoReframeNode", 2, "" },
    { "LumaReferenceNode", 2, "" },
    { "LumaVideoNode", 2, "" },
    { "M-LSDPreprocessor", 0, "f:score_threshold f:dist_threshold i:resolution" },
    { "MagnificImageRelightNode", 2, "" },
    { "MagnificImageSkinEnhancerNode", 2, "" },
    { "MagnificImageStyleTransferNode", 2, "" },
    { "MagnificImageUpscalerCreativeNode", 2, "" },
    { "MagnificImageUpscalerPreciseV2Node", 2, "" },
    { "Mahiro", 0, "" },
    { "Make Image Saver Metadata Config", 0,
      "s:modelname s:positive s:negative i:width i:height i+seed i:steps f:cfg e:sampler_name "
      "e:scheduler_name f:denoise i:clip_skip s:additional_hashes b:download_civitai_data "
      "b:easy_remix s:custom" },
    { "Make Image Saver Pipe", 0, "" },
    { "Make Image Saver Simple Config", 0,
      "s:filename s:path e:extension b:lossless_webp i:quality_jpeg_or_webp b:optimize_png "
      "b:embed_workflow b:save_workflow_as_json i:counter s:time_format" },
    { "MakeTrainingDataset", 0, "" },
    { "Manga2Anime_LineArt_Preprocessor", 0, "i:resolution" },
    { "ManualSigmas", 0, "s:sigmas" },
    { "Mask Crop Region", 0, "i:padding e:region_type" },
    { "Mask Dominant Region", 0, "i:threshold" },
    { "Mask Gaussian Region", 0, "f:radius" },
    { "Mask Invert", 0, "" },
    { "MaskBatch+", 0, "" },
    { "MaskBlur+", 0, "i:amount e:device" },
    { "MaskBoundingBox+", 0, "i:padding i:blur" },
    { "MaskComposite", 0, "i:x i:y e:operation" },
    { "MaskExpandBatch+", 0, "i:size e:method" },
    { "MaskFix+", 0, "i:erode_dilate i:fill_holes i:remove_isolated_pixels i:smooth i:blur" },
    { "MaskFlip+", 0, "e:axis" },
    { "MaskFromBatch+", 0, "i:start i:length" },
    { "MaskFromColor+", 0, "i:red i:green i:blue i:threshold" },
    { "MaskFromList+", 0, "i:width i:height s:str_values" },
    { "MaskFromRGBCMYBW+", 0, "f:threshold_r f:threshold_g f:threshold_b" },
    { "MaskFromSegmentation+", 0,
      "i:segments i:remove_isolated_pixels f:remove_small_masks b:fill_holes" },
    { "MaskPreview", 1, "" },
    { "MaskPreview+", 1, "" },
    { "MaskSmooth+", 0, "i:amount" },
    { "MaskToImage", 0, "" },
    { "Masks Add", 0, "" },
    { "MathExpression|pysssss", 1, "s:expression" },
    { "MediaPipe-FaceMeshPreprocessor", 0, "i:max_faces f:min_confidence i:resolution" },
    { "MediaPipeFaceLandmarker", 0,
      "e:detector_variant i:num_faces f:min_confidence e:missing_frame_fallback" },
    { "MediaPipeFaceMask", 0,
      "c:regions{|all|custom b:regions.face_oval b:regions.lips b:regions.left_eye "
      "b:regions.right_eye b:regions.irises}" },
    { "MediaPipeFaceMeshVisualize", 0,
      "c:connections{|all|fill|custom b:connections.face_oval b:connections.lips "
      "b:connections.left_eye b:connections.right_eye b:connections.left_eyebrow "
      "b:connections.right_eyebrow b:connections.irises b:connections.nose "
      "b:connections.tesselation} s:color i:thickness i:point_size" },
    { "MergeImageLists", 0, "" },
    { "MergeMeshes", 0, "" },
    { "MergeSplat", 0, "" },
    { "MergeTextLists", 0, "s:texts" },
    { "MeshGraphormer-DepthMapPreprocessor", 0,
      "i:mask_bbox_padding i:resolution e:mask_type i:mask_expand i:rand_seed f:detect_thr "
      "f:presence_thr" },
    { "MeshSmoothNormals", 0, "f:crease_angle" },
    { "MeshTextureToImage", 0, "" },
    { "MeshToFile3D", 0, "" },
    { "MeshyAnimateModelNode", 2, "" },
    { "MeshyImageToModelNode", 2, "" },
    { "MeshyMultiImageToModelNode", 2, "" },
    { "MeshyRefineNode", 2, "" },
    { "MeshyRigModelNode", 2, "" },
    { "MeshyTextToModelNode", 2, "" },
    { "MeshyTextureNode", 2, "" },
    { "Metric3D-DepthMapPreprocessor", 0, "e:backbone i:fx i:fy i:resolution" },
    { "Metric3D-NormalMapPreprocessor", 0, "e:backbone i:fx i:fy i:resolution" },
    { "MiDaS-DepthMapPreprocessor", 0, "f:a f:bg_threshold i:resolution" },
    { "MiDaS-NormalMapPreprocessor", 0, "f:a f:bg_threshold i:resolution" },
    { "MiniMaxH3AddGuide", 0, "i:frame_idx" },
    { "MiniMaxH3ImageToVideo", 0, "d:prompt i:width i:height i:length" },
    { "MiniMaxH3ReferenceToVideo", 0, "d:prompt i:width i:height i:length e:ref_image_size" },
    { "MiniMaxH3SigmaShift", 0, "f:shift_video f:shift_audio" },
    { "MiniMaxMusic3TextEncode", 0,
      "d:caption d:lyrics i+seed f:max_duration f:cfg_scale i:top_k" },
    { "MinimaxHailuo03ContextIRNode", 2, "" },
    { "MinimaxHailuo03FirstLastFrameNode", 2, "" },
    { "MinimaxHailuo03ReferenceNode", 2, "" },
    { "MinimaxHailuo03RegenerateNode", 2, "" },
    { "MinimaxHailuo03TextToVideoNode", 2, "" },
    { "MinimaxHailuoVideoNode", 2, "" },
    { "MinimaxImageToVideoNode", 2, "" },
    { "MinimaxSubjectToVideoNode", 2, "" },
    { "MinimaxTextToVideoNode", 2, "" },
    { "MoGeGeometryToFOV", 0, "e:axis e:unit" },
    { "MoGeInference", 0,
      "i:resolution_level f:fov_x_degrees i:batch_size b:force_projection b:apply_mask" },
    { "MoGePanoramaInference", 0,
      "i:resolution_level i:split_resolution i:merge_resolution i:batch_size" },
    { "MoGePointMapToMesh", 0, "i:batch_index i:decimation f:discontinuity_threshold b:texture" },
    { "MoGeRender", 0, "e:output" },
    { "ModelAttentionBackend", 0, "e:attention" },
    { "ModelCompile+", 0, "b:fullgraph b:dynamic e:mode" },
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
    { "ModelMergeKrea2", 0,
      "f:first. f:tmlp. f:txtmlp. f:tproj. f:txtfusion.layerwise_blocks.0. "
      "f:txtfusion.layerwise_blocks.1. f:txtfusion.projector. f:txtfusion.refiner_blocks.0. "
      "f:txtfusion.refiner_blocks.1. f:blocks.0. f:blocks.1. f:blocks.2. f:blocks.3. f:blocks.4. "
      "f:blocks.5. f:blocks.6. f:blocks.7. f:blocks.8. f:blocks.9. f:blocks.10. f:blocks.11. "
      "f:blocks.12. f:blocks.13. f:blocks.14. f:blocks.15. f:blocks.16. f:blocks.17. f:blocks.18. "
      "f:blocks.19. f:blocks.20. f:blocks.21. f:blocks.22. f:blocks.23. f:blocks.24. f:blocks.25. "
      "f:blocks.26. f:blocks.27. f:last." },
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
    { "ModelNoiseScale", 0, "f:noise_scale" },
    { "ModelPatchLoader", 0, "e:name" },
    { "ModelPatchTorchSettings", 0, "b:enable_fp16_accumulation" },
    { "ModelSamplingAuraFlow", 0, "f:shift" },
    { "ModelSamplingContinuousEDM", 0, "e:sampling f:sigma_max f:sigma_min" },
    { "ModelSamplingContinuousV", 0, "e:sampling f:sigma_max f:sigma_min" },
    { "ModelSamplingDiscrete", 0, "e:sampling b:zsnr" },
    { "ModelSamplingFlux", 0, "f:max_shift f:base_shift i:width i:height" },
    { "ModelSamplingLTXV", 0, "f:max_shift f:base_shift" },
    { "ModelSamplingSD3", 0, "f:shift" },
    { "ModelSamplingSD3Advanced+", 0, "f:shift f:cut_off f:shift_multiplier" },
    { "ModelSamplingStableCascade", 0, "f:shift" },
    { "ModelSave", 1, "s:filename_prefix" },
    { "Morphology", 0, "e:operation i:kernel_size" },
    { "MultiGPU_WorkUnits", 0, "i:max_gpus" },
    { "MultimodalGuider", 0, "s:skip_blocks" },
    { "NAGuidance", 0, "f:nag_scale f:nag_alpha f:nag_tau" },
    { "NoiseFromImage+", 0,
      "f:noise_strenght f:noise_size f:color_noise f:mask_strength f:mask_scale_diff "
      "f:mask_contrast f:saturation f:contrast f:blur" },
    { "NormalizeImages", 0, "f:mean f:std" },
    { "NormalizeVideoLatentStart", 0, "i:start_frame_count i:reference_frame_count" },
    { "Number to Int", 0, "" },
    { "OneFormer-ADE20K-SemSegPreprocessor", 0, "i:resolution" },
    { "OneFormer-COCO-SemSegPreprocessor", 0, "i:resolution" },
    { "OpenAIChatConfig", 2, "" },
    { "OpenAIChatNode", 2, "" },
    { "OpenAIDalle2", 2, "" },
    { "OpenAIDalle3", 2, "" },
    { "OpenAIGPTImage1", 2, "" },
    { "OpenAIGPTImageNodeV2", 2, "" },
    { "OpenAIInputFiles", 2, "" },
    { "OpenAIVideoSora2", 2, "" },
    { "OpenRouterLLMNode", 2, "" },
    { "OpenposePreprocessor", 0,
      "e:detect_hand e:detect_body e:detect_face i:resolution e:scale_stick_for_xinsr_cn" },
    { "OpticalFlowLoader", 0, "e:model_name" },
    { "OptimalStepsScheduler", 0, "e:model_type i:steps f:denoise" },
    { "PaintMesh", 0, "" },
    { "Painter", 0, "s:bg_color" },
    { "PairConditioningCombine", 0, "" },
    { "PairConditioningSetDefaultCombine", 0, "" },
    { "PairConditioningSetProperties", 0, "f:strength e:set_cond_area" },
    { "PairConditioningSetPropertiesAndCombine", 0, "f:strength e:set_cond_area" },
    { "PatchModelAddDownscale", 0,
      "i:block_number f:downscale_factor f:start_percent f:end_percent b:downscale_after_skip "
      "e:downscale_method e:upscale_method" },
    { "PatchModelPatcherOrder", 0, "e:patch_order e:full_load" },
    { "PathchSageAttentionKJ", 0, "e:sage_attention b:allow_compile" },
    { "PerpNeg", 0, "f:neg_scale" },
    { "PerpNegGuider", 0, "f:cfg f:neg_scale" },
    { "PerturbedAttentionGuidance", 0, "f:scale" },
    { "PhotoMakerEncode", 0, "d:text" },
    { "PhotoMakerLoader", 0, "e:photomaker_model_name" },
    { "PiDConditioning", 0, "e:latent_format f:degrade_sigma" },
    { "PiDiNetPreprocessor", 0, "e:safe i:resolution" },
    { "Pixal3DConditioning", 0, "f:camera_angle_x" },
    { "PixelOEPixelize+", 0,
      "e:downscale_mode i:target_size i:patch_size i:thickness b:color_matching b:upscale" },
    { "PixelPerfectResolution", 0, "i:image_gen_width i:image_gen_height e:resize_mode" },
    { "PixverseImageToVideoNode", 2, "" },
    { "PixverseTemplateNode", 2, "" },
    { "PixverseTextToVideoNode", 2, "" },
    { "PixverseTransitionVideoNode", 2, "" },
    { "PlaySound|pysssss", 1, "e:mode f:volume s:file" },
    { "PlotParameters+", 0, "e:order_by e:cols_value i:cols_num e:add_prompt e:add_params" },
    { "PointsEditor", 0,
      "s:points_store s:coordinates s:neg_coordinates s:bbox_store s:bboxes e:bbox_format i:width "
      "i:height b:normalize" },
    { "PolyexponentialScheduler", 0, "i:steps f:sigma_max f:sigma_min f:rho" },
    { "PorterDuffImageComposite", 0, "e:mode" },
    { "Power Lora Loader (rgthree)", 0, "" },
    { "Power Primitive (rgthree)", 0, "" },
    { "Power Prompt (rgthree)", 0, "d:prompt e:insert_lora e:insert_embedding e:insert_saved" },
    { "Power Prompt - Simple (rgthree)", 0, "d:prompt e:insert_embedding e:insert_saved" },
    { "Power Puter (rgthree)", 0, "" },
    { "PrepImageForClipVision", 0, "e:interpolation e:crop_position f:sharpening" },
    { "Preview3D", 1, "s:model_file" },
    { "Preview3DAdvanced", 1, "x:viewport_state i:width i:height" },
    { "Preview3DAnimation", 1, "s:model_file" },
    { "PreviewAnimation", 1, "f:fps" },
    { "PreviewAny", 1, "" },
    { "PreviewAudio", 1, "" },
    { "PreviewGaussianSplat", 1, "x:viewport_state i:width i:height" },
    { "PreviewImage", 1, "" },
    { "PreviewPointCloud", 1, "x:viewport_state i:width i:height" },
    { "PrimitiveBoolean", 0, "b:value" },
    { "PrimitiveBoundingBox", 0, "i:x i:y i:width i:height" },
    { "PrimitiveFloat", 0, "f:value" },
    { "PrimitiveInt", 0, "i+value" },
    { "PrimitiveString", 0, "s:value" },
    { "PrimitiveStringMultiline", 0, "s:value" },
    { "Prompts Everywhere", 0, "" },
    { "QuadrupleCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:clip_name3 e:clip_name4" },
    { "QuadrupleCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:clip_name3 e:clip_name4" },
    { "QuiverImageToSVGNode", 2, "" },
    { "QuiverTextToSVGNode", 2, "" },
    { "QwenImageDiffsynthControlnet", 0, "f:strength" },
    { "QwenImageEditApi", 2, "" },
    { "QwenImageTextToImageApi", 2, "" },
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
    { "RTDETR_detect", 0, "f:threshold e:class_name i:max_detections" },
    { "Random Artist Picker (Image Saver)", 0,
      "s:file_path i:count s:delimiter b:replace_underscore b:escape_parens b:trailing_comma "
      "b:weight_by_count i+seed s:prefix s:exclude s:filter" },
    { "Random Character Picker (Image Saver)", 0,
      "s:file_path i:count s:delimiter b:replace_underscore b:escape_parens b:trailing_comma "
      "b:weight_by_count i+seed b:include_core_tags b:include_copyright s:exclude s:filter" },
    { "Random Tag Picker (Image Saver)", 0,
      "s:file_path i:count s:delimiter b:replace_underscore b:escape_parens b:trailing_comma "
      "b:weight_by_count i+seed s:exclude s:filter" },
    { "RandomCropImages", 0, "i:width i:height i+seed" },
    { "RandomNoise", 0, "i+noise_seed" },
    { "RandomShapeGenerator", 0,
      "i:width i:height e:bg_color e:fg_color e:shape_type i+seed s:bg_color_override "
      "s:fg_color_override" },
    { "Read Image Saver Pipe", 0, "" },
    { "RebatchImages", 0, "i:batch_size" },
    { "RebatchLatents", 0, "i:batch_size" },
    { "RecordAudio", 0, "x:audio" },
    { "RecraftColorRGB", 2, "" },
    { "RecraftControls", 2, "" },
    { "RecraftCreateStyleNode", 2, "" },
    { "RecraftCreativeUpscaleNode", 2, "" },
    { "RecraftCrispUpscaleNode", 2, "" },
    { "RecraftImageInpaintingNode", 2, "" },
    { "RecraftImageToImageNode", 2, "" },
    { "RecraftRemoveBackgroundNode", 2, "" },
    { "RecraftReplaceBackgroundNode", 2, "" },
    { "RecraftStyleV3DigitalIllustration", 2, "" },
    { "RecraftStyleV3InfiniteStyleLibrary", 2, "" },
    { "RecraftStyleV3LogoRaster", 2, "" },
    { "RecraftStyleV3RealisticImage", 2, "" },
    { "RecraftStyleV3VectorIllustrationNode", 2, "" },
    { "RecraftTextToImageNode", 2, "" },
    { "RecraftTextToVectorNode", 2, "" },
    { "RecraftV4TextToImageNode", 2, "" },
    { "RecraftV4TextToVectorNode", 2, "" },
    { "RecraftVectorizeImageNode", 2, "" },
    { "ReferenceLatent", 0, "" },
    { "ReferenceTimbreAudio", 0, "" },
    { "RegexExtract", 0,
      "s:string s:regex_pattern e:mode b:case_insensitive b:multiline b:dotall i:group_index" },
    { "RegexMatch", 0, "s:string s:regex_pattern b:case_insensitive b:multiline b:dotall" },
    { "RegexReplace", 0,
      "s:string s:regex_pattern s:replace b:case_insensitive b:multiline b:dotall i:count" },
    { "RemBGSession+", 0, "e:model e:providers" },
    { "RemapMaskRange", 0, "f:min f:max" },
    { "RemeshMesh", 0,
      "i:resolution c:sign_mode{|udf b:sign_mode.qef b:sign_mode.drop_inverted_components "
      "b:sign_mode.drop_enclosed_components|sdf b:sign_mode.qef b:sign_mode.manifold} f:band "
      "f:project_back b:fix_poles i:smooth_iters f:drop_small_components i:precluster_max_verts" },
    { "RemoveBackground", 0, "" },
    { "RemoveLatentMask+", 0, "" },
    { "RenderMesh", 0, "e:mode i:width i:height s:background" },
    { "RenderSplat", 0,
      "i:width i:height i:frames f:splat_scale f:sharpen f:headlight_shading f:opacity_threshold "
      "e:render_style s:background" },
    { "RenderUVAtlas", 0, "i:resolution" },
    { "RenormCFG", 0, "f:cfg_trunc f:renorm_cfg" },
    { "RepeatImageBatch", 0, "i:amount" },
    { "RepeatLatentBatch", 0, "i:amount" },
    { "Repeater|pysssss", 0, "i:repeats e:output e:node_mode" },
    { "ReplaceImagesInBatch", 0, "i:start_index" },
    { "ReplaceText", 0, "s:texts s:find s:replace" },
    { "ReplaceVideoLatentFrames", 0, "i:index" },
    { "ReroutePrimitive|pysssss", 0, "" },
    { "RescaleCFG", 0, "f:multiplier" },
    { "ResizeAndPadImage", 0, "i:target_width i:target_height e:padding_color e:interpolation" },
    { "ResizeImageMaskNode", 0,
      "c:resize_type{|scale~dimensions i:resize_type.width i:resize_type.height "
      "e:resize_type.crop|scale~by~multiplier f:resize_type.multiplier|scale~longer~dimension "
      "i:resize_type.longer_size|scale~shorter~dimension i:resize_type.shorter_size|scale~width "
      "i:resize_type.width|scale~height i:resize_type.height|scale~total~pixels "
      "f:resize_type.megapixels|match~size e:resize_type.crop|scale~to~multiple "
      "i:resize_type.multiple} e:scale_method" },
    { "ResizeImagesByLongerEdge", 0, "i:longer_edge" },
    { "ResizeImagesByShorterEdge", 0, "i:shorter_edge" },
    { "ResizeMask", 0, "i:width i:height b:keep_proportions e:upscale_method e:crop" },
    { "ResolutionBucket", 0, "" },
    { "ResolutionSelector", 0, "e:aspect_ratio f:megapixels i:multiple" },
    { "ReveImageCreateNode", 2, "" },
    { "ReveImageEditNode", 2, "" },
    { "ReveImageRemixNode", 2, "" },
    { "ReverseImageBatch", 0, "" },
    { "Rodin3D_Detail", 2, "" },
    { "Rodin3D_Gen2", 2, "" },
    { "Rodin3D_Gen25_Image", 2, "" },
    { "Rodin3D_Gen25_Text", 2, "" },
    { "Rodin3D_Regular", 2, "" },
    { "Rodin3D_Sketch", 2, "" },
    { "Rodin3D_Smooth", 2, "" },
    { "RotateMesh", 0,
      "c:mode{|euler_xyz f:mode.angle_x f:mode.angle_y f:mode.angle_z|quaternion f:mode.qw "
      "f:mode.qx f:mode.qy f:mode.qz}" },
    { "RunwayAleph2KeyframeNode", 2, "" },
    { "RunwayAleph2PromptImageNode", 2, "" },
    { "RunwayAleph2VideoToVideoNode", 2, "" },
    { "RunwayFirstLastFrameNode", 2, "" },
    { "RunwayImageToVideoNodeGen3a", 2, "" },
    { "RunwayImageToVideoNodeGen4", 2, "" },
    { "RunwayTextToImageNode", 2, "" },
    { "SAM3_Detect", 0, "f:threshold i:refine_iterations b:individual_masks" },
    { "SAM3_TrackPreview", 1, "f:opacity f:fps" },
    { "SAM3_TrackToMask", 0, "s:object_indices" },
    { "SAM3_VideoTrack", 0, "f:detection_threshold i:max_objects i:detect_interval" },
    { "SAMPreprocessor", 0, "i:resolution" },
    { "SCAIL2ColoredMask", 0, "s:object_indices e:sort_by b:replacement_mode" },
    { "SD3AttentionSeekerLG+", 0,
      "b:apply_to_query b:apply_to_key b:apply_to_value b:apply_to_out f:clip_l_0 f:clip_l_1 "
      "f:clip_l_2 f:clip_l_3 f:clip_l_4 f:clip_l_5 f:clip_l_6 f:clip_l_7 f:clip_l_8 f:clip_l_9 "
      "f:clip_l_10 f:clip_l_11 f:clip_g_0 f:clip_g_1 f:clip_g_2 f:clip_g_3 f:clip_g_4 f:clip_g_5 "
      "f:clip_g_6 f:clip_g_7 f:clip_g_8 f:clip_g_9 f:clip_g_10 f:clip_g_11 f:clip_g_12 "
      "f:clip_g_13 f:clip_g_14 f:clip_g_15 f:clip_g_16 f:clip_g_17 f:clip_g_18 f:clip_g_19 "
      "f:clip_g_20 f:clip_g_21 f:clip_g_22 f:clip_g_23 f:clip_g_24 f:clip_g_25 f:clip_g_26 "
      "f:clip_g_27 f:clip_g_28 f:clip_g_29 f:clip_g_30 f:clip_g_31" },
    { "SD3AttentionSeekerT5+", 0,
      "b:apply_to_query b:apply_to_key b:apply_to_value b:apply_to_out f:t5xxl_0 f:t5xxl_1 "
      "f:t5xxl_2 f:t5xxl_3 f:t5xxl_4 f:t5xxl_5 f:t5xxl_6 f:t5xxl_7 f:t5xxl_8 f:t5xxl_9 f:t5xxl_10 "
      "f:t5xxl_11 f:t5xxl_12 f:t5xxl_13 f:t5xxl_14 f:t5xxl_15 f:t5xxl_16 f:t5xxl_17 f:t5xxl_18 "
      "f:t5xxl_19 f:t5xxl_20 f:t5xxl_21 f:t5xxl_22 f:t5xxl_23" },
    { "SD3NegativeConditioning+", 0, "f:end" },
    { "SDPoseDrawKeypoints", 0,
      "b:draw_body b:draw_hands b:draw_face b:draw_feet i:stick_width i:face_point_size "
      "f:score_threshold b:draw_head" },
    { "SDPoseFaceBBoxes", 0, "f:scale b:force_square" },
    { "SDPoseKeypointExtractor", 0, "i:batch_size" },
    { "SDTurboScheduler", 0, "i:steps f:denoise" },
    { "SDXL Empty Latent Image (rgthree)", 0, "e:dimensions f:clip_scale i:batch_size" },
    { "SDXL Power Prompt - Positive (rgthree)", 0,
      "d:prompt_g d:prompt_l e:insert_lora e:insert_embedding e:insert_saved i:target_width "
      "i:target_height i:crop_width i:crop_height" },
    { "SDXL Power Prompt - Simple / Negative (rgthree)", 0,
      "d:prompt_g d:prompt_l e:insert_embedding e:insert_saved i:target_width i:target_height "
      "i:crop_width i:crop_height" },
    { "SDXLEmptyLatentSizePicker+", 0,
      "e:resolution i:batch_size i:width_override i:height_override" },
    { "SD_4XUpscale_Conditioning", 0, "f:scale_ratio f:noise_augmentation" },
    { "STGAdvancedPresets", 0, "e:preset" },
    { "STGGuider", 0, "f:cfg f:stg f:rescale" },
    { "STGGuiderAdvanced", 0,
      "f:skip_steps_sigma_threshold b:cfg_star_rescale s:sigmas s:cfg_values s:stg_scale_values "
      "s:stg_rescale_values s:stg_layers_indices b:apply_apg f:apg_cfg_scale f:eta "
      "f:norm_threshold" },
    { "SUPIRApply", 0, "f:strength_start f:strength_end f:restore_cfg f:restore_cfg_s_tmin" },
    { "SV3D_Conditioning", 0, "i:width i:height i:video_frames f:elevation" },
    { "SVD_img2vid_Conditioning", 0,
      "i:width i:height i:video_frames i:motion_bucket_id i:fps f:augmentation_level" },
    { "Sampler Selector (Image Saver)", 0, "e:sampler_name" },
    { "SamplerARVideo", 0, "i:num_frame_per_block" },
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
    { "SamplerLCM", 0, "f:s_noise f:s_noise_end f:noise_clip_std" },
    { "SamplerLCMUpscale", 0, "f:scale_ratio i:scale_steps e:upscale_method" },
    { "SamplerLMS", 0, "i:order" },
    { "SamplerSASolver", 0,
      "f:eta f:sde_start_percent f:sde_end_percent f:s_noise i:predictor_order i:corrector_order "
      "b:use_pece b:simple_order_2" },
    { "SamplerSEEDS2", 0, "e:solver_type f:eta f:s_noise f:r" },
    { "SamplerSelectHelper+", 0,
      "b:euler b:euler_cfg_pp b:euler_ancestral b:euler_ancestral_cfg_pp b:heun b:heunpp2 "
      "b:exp_heun_2_x0 b:exp_heun_2_x0_sde b:dpm_2 b:dpm_2_ancestral b:lms b:dpm_fast "
      "b:dpm_adaptive b:dpmpp_2s_ancestral b:dpmpp_2s_ancestral_cfg_pp b:dpmpp_sde "
      "b:dpmpp_sde_gpu b:dpmpp_2m b:dpmpp_2m_cfg_pp b:dpmpp_2m_sde b:dpmpp_2m_sde_gpu "
      "b:dpmpp_2m_sde_heun b:dpmpp_2m_sde_heun_gpu b:dpmpp_3m_sde b:dpmpp_3m_sde_gpu b:ddpm b:lcm "
      "b:ipndm b:ipndm_v b:deis b:res_multistep b:res_multistep_cfg_pp b:res_multistep_ancestral "
      "b:res_multistep_ancestral_cfg_pp b:gradient_estimation b:gradient_estimation_cfg_pp "
      "b:er_sde b:seeds_2 b:seeds_3 b:sa_solver b:sa_solver_pece b:ddim b:uni_pc b:uni_pc_bh2" },
    { "SamplingPercentToSigma", 0, "f:sampling_percent b:return_actual_sigma" },
    { "Save3DAdvanced", 1, "s:filename_prefix x:viewport_state i:width i:height" },
    { "SaveAnimatedPNG", 1, "s:filename_prefix f:fps i:compress_level" },
    { "SaveAnimatedWEBP", 1, "s:filename_prefix f:fps b:lossless i:quality e:method" },
    { "SaveAudio", 1, "s:filename_prefix" },
    { "SaveAudioAdvanced", 1,
      "s:filename_prefix c:format{|flac|mp3 e:format.quality|opus e:format.quality}" },
    { "SaveAudioMP3", 1, "s:filename_prefix e:quality" },
    { "SaveAudioOpus", 1, "s:filename_prefix e:quality" },
    { "SaveGLB", 1, "s:filename_prefix" },
    { "SaveGaussianSplat", 1, "s:filename_prefix x:viewport_state i:width i:height" },
    { "SaveImage", 1, "s:filename_prefix" },
    { "SaveImageAdvanced", 1,
      "s:filename_prefix c:format{|png e:format.bit_depth e:format.input_color_space|exr "
      "e:format.bit_depth e:format.input_color_space}" },
    { "SaveImageDataSetToFolder", 1, "s:folder_name s:filename_prefix e:mode" },
    { "SaveImageTextDataSetToFolder", 1, "s:folder_name s:filename_prefix e:mode" },
    { "SaveLatent", 1, "s:filename_prefix" },
    { "SaveLoRA", 1, "s:prefix i:steps" },
    { "SaveLoRANode", 1, "s:prefix" },
    { "SavePointCloud", 1, "s:filename_prefix x:viewport_state i:width i:height" },
    { "SavePoseKpsAsJsonFile", 1, "s:filename_prefix" },
    { "SaveSVGNode", 1, "s:filename_prefix" },
    { "SaveText", 1, "s:filename_prefix e:format" },
    { "SaveText|pysssss", 1, "e:root_dir s:file e:append b:insert" },
    { "SaveTrainingDataset", 1, "s:folder_name i:shard_size" },
    { "SaveVideo", 1,
      "s:filename_prefix c:format{|auto c:format.codec{|auto|h264 "
      "c:format.codec.encoding{|auto|re-encode f:format.codec.encoding.crf "
      "e:format.codec.encoding.color_space}|av1 c:format.codec.encoding{|auto|re-encode "
      "f:format.codec.encoding.crf e:format.codec.encoding.color_space}}|mp4 "
      "c:format.codec{|auto|h264 c:format.codec.encoding{|auto|re-encode "
      "f:format.codec.encoding.crf e:format.codec.encoding.color_space}|av1 "
      "c:format.codec.encoding{|auto|re-encode f:format.codec.encoding.crf "
      "e:format.codec.encoding.color_space}}|mkv c:format.codec{|auto|h264 "
      "c:format.codec.encoding{|auto|re-encode f:format.codec.encoding.crf "
      "e:format.codec.encoding.color_space}|av1 c:format.codec.encoding{|auto|re-encode "
      "f:format.codec.encoding.crf e:format.codec.encoding.color_space}}|webm "
      "c:format.codec{|auto|av1 c:format.codec.encoding{|auto|re-encode "
      "f:format.codec.encoding.crf e:format.codec.encoding.color_space}}}" },
    { "SaveWEBM", 1, "s:filename_prefix e:codec f:fps f:crf" },
    { "ScaleROPE", 0, "f:scale_x f:shift_x f:scale_y f:shift_y f:scale_t f:shift_t" },
    { "ScheduledCFGGuidance", 0, "f:cfg f:start_percent f:end_percent" },
    { "Scheduler Selector (Eff.) (Image Saver)", 0, "e:scheduler" },
    { "Scheduler Selector (Image Saver)", 0, "e:scheduler" },
    { "Scheduler Selector (inspire) (Image Saver)", 0, "e:scheduler" },
    { "SchedulerSelectHelper+", 0,
      "b:simple b:sgm_uniform b:karras b:exponential b:ddim_uniform b:beta b:normal "
      "b:linear_quadratic b:kl_optimal" },
    { "ScribblePreprocessor", 0, "i:resolution" },
    { "Scribble_XDoG_Preprocessor", 0, "i:threshold i:resolution" },
    { "Seed", 0, "i+seed" },
    { "Seed (rgthree)", 0, "i+seed" },
    { "Seed Everywhere", 0, "i+seed" },
    { "Seed Generator (Image Saver)", 0, "i+seed i:increment" },
    { "SeedNode", 0, "i+seed" },
    { "SeedVR2Conditioning", 0, "" },
    { "SeedVR2PostProcessing", 0, "e:color_correction_method" },
    { "SeedVR2Preprocess", 0, "" },
    { "SeedVR2TemporalChunk", 0,
      "i:temporal_overlap c:chunking_mode{|auto|manual i:chunking_mode.frames_per_chunk}" },
    { "SeedVR2TemporalMerge", 0, "" },
    { "SelectCLIPDevice", 0, "e:device" },
    { "SelectModelDevice", 0, "e:device" },
    { "SelectVAEDevice", 0, "e:device" },
    { "SelfAttentionGuidance", 0, "f:scale f:blur_sigma" },
    { "SemSegPreprocessor", 0, "i:resolution" },
    { "Set VAE Decoder Noise", 0, "f:timestep f:scale i+seed" },
    { "SetClipHooks", 0, "b:apply_to_conds b:schedule_clip" },
    { "SetFirstSigma", 0, "f:sigma" },
    { "SetHookKeyframes", 0, "" },
    { "SetLatentNoiseMask", 0, "" },
    { "SetUnionControlNetType", 0, "e:type" },
    { "ShowText|pysssss", 1, "" },
    { "ShuffleDataset", 0, "i+seed" },
    { "ShuffleImageTextDataset", 0, "i+seed" },
    { "ShufflePreprocessor", 0, "i:resolution i+seed" },
    { "ShuffleVideoDataset", 0, "i+seed" },
    { "ShuffleVideoTextDataset", 0, "s:texts i+seed" },
    { "Simple String", 0, "s:string" },
    { "SimpleCalculatorKJ", 0, "s:expression" },
    { "SimpleComparison+", 0, "e:comparison" },
    { "SimpleCondition+", 0, "" },
    { "SimpleMath+", 0, "s:value" },
    { "SimpleMathBoolean+", 0, "b:value" },
    { "SimpleMathCondition+", 0, "s:on_true s:on_false" },
    { "SimpleMathDual+", 0, "s:value_1 s:value_2" },
    { "SimpleMathFloat+", 0, "f:value" },
    { "SimpleMathInt+", 0, "i:value" },
    { "SimpleMathPercent+", 0, "f:value" },
    { "SimpleMathSlider+", 0, "f:value f:min f:max i:rounding" },
    { "SimpleMathSliderLowRes+", 0, "i:value f:min f:max i:rounding" },
    { "SkipLayerGuidanceDiT", 0,
      "s:double_layers s:single_layers f:scale f:start_percent f:end_percent f:rescaling_scale" },
    { "SkipLayerGuidanceDiTSimple", 0,
      "s:double_layers s:single_layers f:start_percent f:end_percent" },
    { "SkipLayerGuidanceSD3", 0, "s:layers f:scale f:start_percent f:end_percent" },
    { "SkipLayerGuidanceWanVideo", 0, "s:blocks f:start_percent f:end_percent" },
    { "SolidMask", 0, "f:value i:width i:height" },
    { "SomethingToString", 0, "s:prefix s:suffix" },
    { "SoniloTextToMusic", 2, "" },
    { "SoniloVideoToMusic", 2, "" },
    { "SplatToFile3D", 0, "e:format" },
    { "SplatToMesh", 0,
      "i:resolution i:kernel i:smooth f:level i:min_component f:min_opacity f:color_sharpen" },
    { "SplitAudioChannels", 0, "" },
    { "SplitImageToTileList", 0, "i:tile_width i:tile_height i:overlap" },
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
    { "String Literal (Image Saver)", 0, "s:string" },
    { "String to Text", 0, "s:string" },
    { "StringCompare", 0, "s:string_a s:string_b e:mode b:case_sensitive" },
    { "StringConcatenate", 0, "s:string_a s:string_b s:delimiter" },
    { "StringConstantMultiline", 0, "s:string b:strip_newlines" },
    { "StringContains", 0, "s:string s:substring b:case_sensitive" },
    { "StringFormat", 0, "s:f_string" },
    { "StringFunction|pysssss", 1, "e:action e:tidy_tags s:text_a s:text_b s:text_c" },
    { "StringLength", 0, "s:string" },
    { "StringReplace", 0, "s:string s:find s:replace" },
    { "StringSubstring", 0, "s:string i:start i:end" },
    { "StringToFloatList", 0, "s:string" },
    { "StringTrim", 0, "s:string e:mode" },
    { "StripWhitespace", 0, "s:texts" },
    { "StyleModelApply", 0, "f:strength e:strength_type" },
    { "StyleModelLoader", 0, "e:style_model_name" },
    { "SyncLipSyncNode", 2, "" },
    { "SyncTalkingImageNode", 2, "" },
    { "SystemNotification|pysssss", 1, "s:message e:mode" },
    { "T5TokenizerOptions", 0, "i:min_padding i:min_length" },
    { "TCFG", 0, "" },
    { "TemporalScoreRescaling", 0, "f:tsr_k f:tsr_sigma" },
    { "Tencent3DPartNode", 2, "" },
    { "Tencent3DTextureEditNode", 2, "" },
    { "TencentImageToModelNode", 2, "" },
    { "TencentModelTo3DUVNode", 2, "" },
    { "TencentSmartTopologyNode", 2, "" },
    { "TencentTextToModelNode", 2, "" },
    { "Text Add Token by Input", 1, "e:print_current_tokens" },
    { "Text Concatenate", 0, "s:delimiter e:clean_whitespace" },
    { "Text Contains", 0, "s:text s:sub_text b:case_insensitive" },
    { "Text Find and Replace", 0, "s:find s:replace" },
    { "Text Find and Replace Input", 0, "" },
    { "Text Multiline", 0, "d:text" },
    { "Text Parse Tokens", 0, "" },
    { "Text Random Line", 0, "i+seed" },
    { "Text String", 0, "s:text s:text_b s:text_c s:text_d" },
    { "Text to Conditioning", 0, "" },
    { "Text to Console", 1, "s:label" },
    { "Text to Number", 0, "" },
    { "Text to String", 0, "" },
    { "TextEncodeAceStepAudio", 0, "d:tags d:lyrics f:lyrics_strength" },
    { "TextEncodeAceStepAudio1.5", 0,
      "d:tags d:lyrics i+seed i:bpm f:duration e:timesignature e:language e:keyscale "
      "b:generate_audio_codes f:cfg_scale f:temperature f:top_p i:top_k f:min_p" },
    { "TextEncodeBooguEdit", 0, "d:prompt d:negative_prompt" },
    { "TextEncodeForSamplerParams+", 0, "d:text" },
    { "TextEncodeHunyuanVideo_ImageToVideo", 0, "d:prompt i:image_interleave" },
    { "TextEncodeJoyImageEdit", 0, "d:prompt" },
    { "TextEncodeMageFlowEdit", 0, "d:prompt d:negative_prompt i:width i:height i:batch_size" },
    { "TextEncodeQwenImageEdit", 0, "d:prompt" },
    { "TextEncodeQwenImageEditPlus", 0, "d:prompt" },
    { "TextEncodeZImageOmni", 0, "d:prompt b:auto_resize_images" },
    { "TextGenerate", 0,
      "d:prompt i:max_length c:sampling_mode{|on f:sampling_mode.temperature "
      "i:sampling_mode.top_k f:sampling_mode.top_p f:sampling_mode.min_p "
      "f:sampling_mode.repetition_penalty i:sampling_mode.seed "
      "f:sampling_mode.presence_penalty|off} b:thinking b:use_default_template" },
    { "TextGenerateLTX2Prompt", 0,
      "d:prompt i:max_length c:sampling_mode{|on f:sampling_mode.temperature "
      "i:sampling_mode.top_k f:sampling_mode.top_p f:sampling_mode.min_p "
      "f:sampling_mode.repetition_penalty i:sampling_mode.seed "
      "f:sampling_mode.presence_penalty|off} b:thinking b:use_default_template" },
    { "TextOverlay", 0, "s:text f:font_size s:color e:position e:align b:outline" },
    { "TextToLowercase", 0, "s:texts" },
    { "TextToUppercase", 0, "s:texts" },
    { "ThresholdMask", 0, "f:value" },
    { "TilePreprocessor", 0, "i:pyrUp_iters i:resolution" },
    { "TomePatchModel", 0, "f:ratio" },
    { "TopazImageEnhance", 2, "" },
    { "TopazImageEnhanceV2", 2, "" },
    { "TopazVideoEnhance", 2, "" },
    { "TopazVideoEnhanceV2", 2, "" },
    { "TorchCompileLTXModel", 0, "" },
    { "TorchCompileModel", 0, "e:backend" },
    { "TorchCompileModelFluxAdvanced", 0, "" },
    { "TorchCompileModelQwenImage", 0, "" },
    { "TorchCompileModelWanVideo", 0, "" },
    { "TorchCompileModelWanVideoV2", 0,
      "e:backend b:fullgraph e:mode b:dynamic b:compile_transformer_blocks_only "
      "i:dynamo_cache_size_limit b:force_parameter_static_shapes" },
    { "TorchCompileVAE", 0, "e:backend b:fullgraph e:mode b:compile_encoder b:compile_decoder" },
    { "TrainLoraNode", 0,
      "i:batch_size i:grad_accumulation_steps i:steps f:learning_rate i:rank e:optimizer "
      "e:loss_function i+seed e:training_dtype e:lora_dtype b:quantized_backward e:algorithm "
      "b:gradient_checkpointing i:checkpoint_depth b:offloading e:existing_lora b:bucket_mode "
      "b:bypass_mode" },
    { "TransformSplat", 0,
      "f:translate_x f:translate_y f:translate_z f:rotate_x f:rotate_y f:rotate_z f:scale_x "
      "f:scale_y f:scale_z" },
    { "TransitionMask+", 0,
      "i:width i:height i:frames i:start_frame i:end_frame e:transition_type e:timing_function" },
    { "TransparentBGSession+", 0, "e:mode b:use_jit" },
    { "Trellis2Conditioning", 0, "" },
    { "Trellis2ShapeStage", 0, "" },
    { "Trellis2TextureStage", 0, "" },
    { "Trellis2UpsampleStage", 0, "i:target_resolution" },
    { "TrimAudioDuration", 0, "f:start_index f:duration" },
    { "TrimVideoLatent", 0, "i:trim_amount" },
    { "TripleCLIPLoader", 0, "e:clip_name1 e:clip_name2 e:clip_name3" },
    { "TripleCLIPLoaderGGUF", 0, "e:clip_name1 e:clip_name2 e:clip_name3" },
    { "TripoConversionNode", 2, "" },
    { "TripoImageToModelNode", 2, "" },
    { "TripoImportModelNode", 2, "" },
    { "TripoMultiviewToModelNode", 2, "" },
    { "TripoP1ImageToModelNode", 2, "" },
    { "TripoP1MultiviewToModelNode", 2, "" },
    { "TripoP1TextToModelNode", 2, "" },
    { "TripoRefineNode", 2, "" },
    { "TripoRetargetNode", 2, "" },
    { "TripoRigNode", 2, "" },
    { "TripoSplatConditioning", 0, "" },
    { "TripoSplatPreprocessImage", 0, "i:erode_radius i:size" },
    { "TripoSplatSamplingPreview", 0,
      "i:octree_level i:num_gaussians f:yaw f:pitch i:point_size" },
    { "TripoTextToModelNode", 2, "" },
    { "TripoTextureNode", 2, "" },
    { "TruncateText", 0, "s:texts i:max_length" },
    { "UNETLoader", 0, "e:unet_name e:weight_dtype" },
    { "UNet loader with Name (Image Saver)", 0, "e:unet_name e:weight_dtype" },
    { "UNetCrossAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "UNetSelfAttentionMultiply", 0, "f:q f:k f:v f:out" },
    { "UNetTemporalAttentionMultiply", 0,
      "f:self_structural f:self_temporal f:cross_structural f:cross_temporal" },
    { "USOStyleReference", 0, "" },
    { "UnetLoaderGGUF", 0, "e:unet_name" },
    { "UnetLoaderGGUFAdvanced", 0, "e:unet_name e:dequant_dtype e:patch_dtype b:patch_on_device" },
    { "UniFormer-SemSegPreprocessor", 0, "i:resolution" },
    { "UnwrapMesh", 0, "e:segmenter i:resolution i:padding f:weld_distance" },
    { "UpscaleModelLoader", 0, "e:model_name" },
    { "VAEDecode", 0, "" },
    { "VAEDecodeAudio", 0, "" },
    { "VAEDecodeAudioTiled", 0, "i:tile_size i:overlap" },
    { "VAEDecodeHunyuan3D", 0, "i:num_chunks i:octree_resolution" },
    { "VAEDecodeTiled", 0, "i:tile_size i:overlap i:temporal_size i:temporal_overlap" },
    { "VAEDecodeTripoSplat", 0, "i:num_gaussians i+seed" },
    { "VAEEncode", 0, "" },
    { "VAEEncodeAudio", 0, "" },
    { "VAEEncodeForInpaint", 0, "i:grow_mask_by" },
    { "VAEEncodeTiled", 0, "i:tile_size i:overlap i:temporal_size i:temporal_overlap" },
    { "VAELoader", 0, "e:vae_name" },
    { "VAELoaderKJ", 0, "e:vae_name e:device e:weight_dtype" },
    { "VAESave", 1, "s:filename_prefix" },
    { "VHS_AudioToVHSAudio", 0, "" },
    { "VHS_BatchManager", 0, "i:frames_per_batch" },
    { "VHS_DuplicateImages", 0, "i:multiply_by" },
    { "VHS_DuplicateLatents", 0, "i:multiply_by" },
    { "VHS_DuplicateMasks", 0, "i:multiply_by" },
    { "VHS_GetImageCount", 0, "" },
    { "VHS_GetLatentCount", 0, "" },
    { "VHS_GetMaskCount", 0, "" },
    { "VHS_LoadAudio", 0, "s:audio_file" },
    { "VHS_LoadAudioUpload", 0, "e:audio" },
    { "VHS_LoadImagePath", 0, "s:image i:custom_width i:custom_height" },
    { "VHS_LoadImages", 0, "e:directory i:image_load_cap i:skip_first_images i:select_every_nth" },
    { "VHS_LoadImagesPath", 0,
      "s:directory i:image_load_cap i:skip_first_images i:select_every_nth" },
    { "VHS_LoadVideo", 0,
      "e:video f:force_rate i:custom_width i:custom_height i:frame_load_cap i:skip_first_frames "
      "i:select_every_nth e:format" },
    { "VHS_LoadVideoFFmpeg", 0,
      "e:video f:force_rate i:custom_width i:custom_height i:frame_load_cap e:format" },
    { "VHS_LoadVideoFFmpegPath", 0,
      "s:video f:force_rate i:custom_width i:custom_height i:frame_load_cap e:format" },
    { "VHS_LoadVideoPath", 0,
      "s:video f:force_rate i:custom_width i:custom_height i:frame_load_cap i:skip_first_frames "
      "i:select_every_nth e:format" },
    { "VHS_MergeImages", 0, "e:merge_strategy e:scale_method e:crop" },
    { "VHS_MergeLatents", 0, "e:merge_strategy e:scale_method e:crop" },
    { "VHS_MergeMasks", 0, "e:merge_strategy e:scale_method e:crop" },
    { "VHS_PruneOutputs", 1, "e:options" },
    { "VHS_SelectEveryNthImage", 0, "i:select_every_nth i:skip_first_images" },
    { "VHS_SelectEveryNthLatent", 0, "i:select_every_nth i:skip_first_latents" },
    { "VHS_SelectEveryNthMask", 0, "i:select_every_nth i:skip_first_masks" },
    { "VHS_SelectFilename", 0, "i:index" },
    { "VHS_SelectImages", 0, "s:indexes b:err_if_missing b:err_if_empty" },
    { "VHS_SelectLatents", 0, "s:indexes b:err_if_missing b:err_if_empty" },
    { "VHS_SelectLatest", 0, "s:filename_prefix s:filename_postfix" },
    { "VHS_SelectMasks", 0, "s:indexes b:err_if_missing b:err_if_empty" },
    { "VHS_SplitImages", 0, "i:split_index" },
    { "VHS_SplitLatents", 0, "i:split_index" },
    { "VHS_SplitMasks", 0, "i:split_index" },
    { "VHS_Unbatch", 0, "" },
    { "VHS_VAEDecodeBatched", 0, "i:per_batch" },
    { "VHS_VAEEncodeBatched", 0, "i:per_batch" },
    { "VHS_VHSAudioToAudio", 0, "" },
    { "VHS_VideoCombine", 1,
      "f:frame_rate i:loop_count s:filename_prefix e:format b:pingpong b:save_output" },
    { "VHS_VideoInfo", 0, "" },
    { "VHS_VideoInfoLoaded", 0, "" },
    { "VHS_VideoInfoSource", 0, "" },
    { "VOIDInpaintConditioning", 0, "i:width i:height i:length i:batch_size" },
    { "VOIDQuadmaskPreprocess", 0, "i:dilate_width" },
    { "VOIDSampler", 0, "" },
    { "VOIDWarpedNoise", 0, "i:width i:height i:length i:batch_size" },
    { "VOIDWarpedNoiseSource", 0, "" },
    { "VPScheduler", 0, "i:steps f:beta_d f:beta_min f:eps_s" },
    { "VRAM_Debug", 0, "b:empty_cache b:gc_collect b:unload_all_models" },
    { "VaeDecodeShapeTrellis", 0, "" },
    { "VaeDecodeStructureTrellis2", 0, "e:resolution" },
    { "VaeDecodeTextureTrellis", 0, "" },
    { "Veo3FirstLastFrameNode", 2, "" },
    { "Veo3VideoGenerationNode", 2, "" },
    { "VeoVideoGenerationNode", 2, "" },
    { "Video Slice", 0, "f:start_time f:duration b:strict_duration" },
    { "VideoFrameSample", 0, "i:num_frames e:strategy i+seed" },
    { "VideoLinearCFGGuidance", 0, "f:min_cfg" },
    { "VideoRandomTemporalCrop", 0, "i:length i+seed" },
    { "VideoTemporalCrop", 0, "i:start_frame i:length" },
    { "VideoTriangleCFGGuidance", 0, "f:min_cfg" },
    { "Vidu2ImageToVideoNode", 2, "" },
    { "Vidu2ReferenceVideoNode", 2, "" },
    { "Vidu2StartEndToVideoNode", 2, "" },
    { "Vidu2TextToVideoNode", 2, "" },
    { "Vidu3ImageToVideoNode", 2, "" },
    { "Vidu3StartEndToVideoNode", 2, "" },
    { "Vidu3TextToVideoNode", 2, "" },
    { "ViduExtendVideoNode", 2, "" },
    { "ViduImageToVideoNode", 2, "" },
    { "ViduMultiFrameVideoNode", 2, "" },
    { "ViduReferenceVideoNode", 2, "" },
    { "ViduStartEndToVideoNode", 2, "" },
    { "ViduTextToVideoNode", 2, "" },
    { "VisualizeSigmasKJ", 0, "i:start_step i:end_step" },
    { "VoxelToMesh", 0, "e:algorithm f:threshold" },
    { "VoxelToMeshBasic", 0, "f:threshold" },
    { "Wan22FunControlToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "Wan22ImageToVideoLatent", 0, "i:width i:height i:length i:batch_size" },
    { "Wan2ImageToVideoApi", 2, "" },
    { "Wan2ReferenceVideoApi", 2, "" },
    { "Wan2TextToVideoApi", 2, "" },
    { "Wan2VideoContinuationApi", 2, "" },
    { "Wan2VideoEditApi", 2, "" },
    { "WanAnimate2Cache", 0, "e:device e:dtype" },
    { "WanAnimate2ToVideo", 0,
      "i:width i:height i:length i:batch_size i:video_frame_offset f:pose_strength "
      "f:pose_start_percent f:pose_end_percent f:reference_image_strength" },
    { "WanAnimateToVideo", 0,
      "i:width i:height i:length i:batch_size i:continue_motion_max_frames i:video_frame_offset" },
    { "WanCameraEmbedding", 0,
      "e:camera_pose i:width i:height i:length f:speed f:fx f:fy f:cx f:cy" },
    { "WanCameraImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanContextWindowsManual", 0,
      "i:context_length i:context_overlap e:context_schedule i:context_stride b:closed_loop "
      "e:fuse_method b:freenoise b:retain_first_frame b:split_conds_to_windows" },
    { "WanDancerEncodeAudio", 0, "i:video_frames f:audio_inject_scale" },
    { "WanDancerPadKeyframes", 0, "i:segment_length i:segment_index" },
    { "WanDancerPadKeyframesList", 0, "i:segment_length i:num_segments" },
    { "WanDancerVideo", 0, "i:width i:height i:length" },
    { "WanFirstLastFrameToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanFunControlToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanFunInpaintToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanHuMoImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanImageToImageApi", 2, "" },
    { "WanImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanImageToVideoApi", 2, "" },
    { "WanImageToVideoSVIPro", 0, "i:length i:motion_latent_count" },
    { "WanInfiniteTalkToVideo", 0,
      "c:mode{|single_speaker|two_speakers} i:width i:height i:length i:motion_frame_count "
      "f:audio_scale" },
    { "WanMoveConcatTrack", 0, "" },
    { "WanMoveTrackToVideo", 0, "f:strength i:width i:height i:length i:batch_size" },
    { "WanMoveTracksFromCoords", 0, "" },
    { "WanMoveVisualizeTracks", 0, "i:line_resolution i:circle_size f:opacity i:line_width" },
    { "WanPhantomSubjectToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanReferenceVideoApi", 2, "" },
    { "WanSCAILToVideo", 0,
      "i:width i:height i:length i:batch_size f:pose_strength f:pose_start f:pose_end "
      "i:video_frame_offset i:previous_frame_count b:replacement_mode" },
    { "WanSoundImageToVideo", 0, "i:width i:height i:length i:batch_size" },
    { "WanSoundImageToVideoExtend", 0, "i:length" },
    { "WanTextToImageApi", 2, "" },
    { "WanTextToVideoApi", 2, "" },
    { "WanTrackToVideo", 0,
      "s:tracks i:width i:height i:length i:batch_size f:temperature i:topk" },
    { "WanUni3CControlnetApply", 0, "f:strength f:start_percent f:end_percent" },
    { "WanVaceToVideo", 0, "i:width i:height i:length i:batch_size f:strength" },
    { "WanVideoBlockSwap", 0, "i:blocks_to_swap b:offload_img_emb b:offload_txt_emb" },
    { "WanVideoContextOptions", 0,
      "e:context_schedule i:context_frames i:context_stride i:context_overlap b:freenoise" },
    { "WanVideoDecode", 0,
      "b:enable_vae_tiling i:tile_x i:tile_y i:tile_stride_x i:tile_stride_y" },
    { "WanVideoEmptyEmbeds", 0, "i:width i:height i:num_frames" },
    { "WanVideoEncode", 0,
      "b:enable_vae_tiling i:tile_x i:tile_y i:tile_stride_x i:tile_stride_y f:noise_aug_strength "
      "f:latent_strength" },
    { "WanVideoEnhanceAVideo", 0, "f:weight f:start_percent f:end_percent" },
    { "WanVideoEnhanceAVideoKJ", 0, "f:weight" },
    { "WanVideoImageClipEncode", 0,
      "i:generation_width i:generation_height i:num_frames b:force_offload f:noise_aug_strength "
      "f:latent_strength f:clip_embed_strength b:adjust_resolution" },
    { "WanVideoLoraSelect", 0, "e:lora f:strength" },
    { "WanVideoModelLoader", 0,
      "e:model e:base_precision e:quantization e:load_device e:attention_mode" },
    { "WanVideoNAG", 0, "f:nag_scale f:nag_alpha f:nag_tau e:input_type b:inplace" },
    { "WanVideoSampler", 0,
      "i:steps f:cfg f:shift i+seed b:force_offload e:scheduler i:riflex_freq_index "
      "f:denoise_strength" },
    { "WanVideoTeaCache", 0, "f:rel_l1_thresh i:start_step e:cache_device" },
    { "WanVideoTeaCacheKJ", 0,
      "f:rel_l1_thresh f:start_percent f:end_percent e:cache_device e:coefficients" },
    { "WanVideoTextEmbedBridge", 0, "" },
    { "WanVideoTextEncode", 0, "s:positive_prompt s:negative_prompt b:force_offload" },
    { "WanVideoTorchCompileSettings", 0,
      "e:backend b:fullgraph e:mode b:dynamic i:dynamo_cache_size_limit "
      "b:compile_transformer_blocks" },
    { "WanVideoVAELoader", 0, "e:model_name e:precision" },
    { "WanVideoVRAMManagement", 0, "f:offload_percent" },
    { "WavespeedFlashVSRNode", 2, "" },
    { "WavespeedImageUpscaleNode", 2, "" },
    { "WebcamCapture", 0, "x:image i:width i:height b:capture_on_queue" },
    { "WeldVertices", 0, "f:epsilon_rel f:epsilon_abs" },
    { "WidgetToString", 0,
      "i:id s:widget_name b:return_all s:node_title i:allowed_float_decimals" },
    { "Width/Height Literal (Image Saver)", 0, "i:size" },
    { "WindowsPaginationDiagnostic", 0, "b:check_memory b:check_paging_file b:apply_fixes" },
    { "Workflow Input Value (Image Saver)", 0, "s:node_id s:input_name" },
    { "ZImageFunControlnet", 0, "f:strength" },
    { "Zoe-DepthMapPreprocessor", 0, "i:resolution" },
    { "easy XYInputs: Seeds++ Batch", 0, "i:batch_count" },
    { "easy XYInputs: Steps", 0,
      "e:target_parameter i:batch_count i:first_step i:last_step i:first_start_step "
      "i:last_start_step i:first_end_step i:last_end_step" },
    { "easy XYPlotAdvanced", 0, "i:grid_spacing e:output_individuals e:flip_xy e:font" },
    { "easy a1111Loader", 0,
      "e:ckpt_name e:vae_name i:clip_skip e:lora_name f:lora_model_strength f:lora_clip_strength "
      "e:resolution i:empty_latent_width i:empty_latent_height s:positive s:negative i:batch_size "
      "b:a1111_prompt_style" },
    { "easy anythingIndexSwitch", 0, "i:index" },
    { "easy applyBrushNet", 0, "e:brushnet e:dtype f:scale i:start_at i:end_at" },
    { "easy applyFooocusInpaint", 0, "e:head e:patch" },
    { "easy applyPowerPaint", 0,
      "e:powerpaint_model e:powerpaint_clip e:dtype f:fitting e:function f:scale i:start_at "
      "i:end_at e:save_memory" },
    { "easy batchAnything", 0, "" },
    { "easy boolean", 0, "b:value" },
    { "easy cascadeLoader", 0,
      "e:stage_c e:stage_b e:stage_a e:clip_name e:lora_name f:lora_model_strength "
      "f:lora_clip_strength e:resolution i:empty_latent_width i:empty_latent_height i:compression "
      "s:positive s:negative i:batch_size" },
    { "easy ckptNames", 0, "e:ckpt_name" },
    { "easy cleanGpuUsed", 1, "" },
    { "easy clearCacheAll", 1, "" },
    { "easy comfyLoader", 0,
      "e:ckpt_name e:vae_name i:clip_skip e:lora_name f:lora_model_strength f:lora_clip_strength "
      "e:resolution i:empty_latent_width i:empty_latent_height s:positive s:negative i:batch_size" },
    { "easy compare", 0, "e:comparison" },
    { "easy conditioningIndexSwitch", 0, "i:index" },
    { "easy controlnetLoader", 0, "e:control_net_name f:strength f:scale_soft_weights" },
    { "easy controlnetStack", 0,
      "b:toggle e:mode i:num_controlnet e:controlnet_1 f:controlnet_1_strength f:start_percent_1 "
      "f:end_percent_1 f:scale_soft_weight_1 e:controlnet_2 f:controlnet_2_strength "
      "f:start_percent_2 f:end_percent_2 f:scale_soft_weight_2 e:controlnet_3 "
      "f:controlnet_3_strength f:start_percent_3 f:end_percent_3 f:scale_soft_weight_3" },
    { "easy convertAnything", 1, "e:output_type" },
    { "easy detailerFix", 1, "e:image_output i:link_id s:save_prefix" },
    { "easy float", 0, "f:value" },
    { "easy forLoopEnd", 0, "" },
    { "easy forLoopStart", 0, "i:total" },
    { "easy fullCascadeKSampler", 1,
      "e:encode_vae_name e:decode_vae_name i:steps f:cfg e:sampler_name e:scheduler f:denoise "
      "e:image_output i:link_id s:save_prefix i+seed" },
    { "easy fullLoader", 0,
      "e:ckpt_name e:config_name e:vae_name i:clip_skip e:lora_name f:lora_model_strength "
      "f:lora_clip_strength e:resolution i:empty_latent_width i:empty_latent_height s:positive "
      "e:positive_token_normalization e:positive_weight_interpretation s:negative "
      "e:negative_token_normalization e:negative_weight_interpretation i:batch_size "
      "b:a1111_prompt_style" },
    { "easy fullkSampler", 1,
      "i:steps f:cfg e:sampler_name e:scheduler f:denoise e:image_output i:link_id s:save_prefix "
      "i+seed" },
    { "easy globalSeed", 1, "i:value b:mode e:action s:last_seed" },
    { "easy hiresFix", 1,
      "e:model_name e:rescale_after_model e:rescale_method e:rescale i:percent i:width i:height "
      "i:longer_side e:crop e:image_output i:link_id s:save_prefix" },
    { "easy icLightApply", 0, "e:mode e:lighting e:source b:remove_bg" },
    { "easy if", 0, "" },
    { "easy ifElse", 0, "b:boolean" },
    { "easy imageBatchToImageList", 0, "" },
    { "easy imageChooser", 1, "e:mode f:preview_rescale" },
    { "easy imageColorMatch", 1, "e:method e:image_output s:save_prefix" },
    { "easy imageConcat", 0, "e:direction b:match_image_size" },
    { "easy imageDetailTransfer", 1,
      "e:mode f:blur_sigma f:blend_factor e:image_output s:save_prefix" },
    { "easy imageInsetCrop", 0, "e:measurement i:left i:right i:top i:bottom" },
    { "easy imageInterrogator", 0, "e:mode b:use_lowvram" },
    { "easy imageListToImageBatch", 0, "" },
    { "easy imagePixelPerfect", 1, "e:resize_mode" },
    { "easy imageRemBg", 1,
      "e:rem_mode e:image_output s:save_prefix b:torchscript_jit e:add_background "
      "b:refine_foreground" },
    { "easy imageScaleDownToSize", 0, "i:size b:mode" },
    { "easy imageScaleToNormPixels", 0, "e:upscale_method f:scale_by" },
    { "easy imageSize", 1, "" },
    { "easy imageSizeBySide", 1, "e:side" },
    { "easy imageSplitGrid", 0, "i:row i:column" },
    { "easy imageSplitTiles", 0,
      "f:overlap_ratio i:overlap_offset i:tiles_rows i:tiles_cols b:norm" },
    { "easy imageToMask", 0, "e:channel" },
    { "easy imagesSplitImage", 0, "" },
    { "easy indexAnything", 0, "i:index" },
    { "easy instantIDApply", 0,
      "e:instantid_file e:insightface e:control_net_name f:cn_strength f:cn_soft_weights f:weight "
      "f:start_at f:end_at f:noise" },
    { "easy int", 0, "i:value" },
    { "easy ipadapterApply", 0,
      "e:preset f:lora_strength e:provider f:weight f:weight_faceidv2 f:start_at f:end_at "
      "e:cache_mode b:use_tiled" },
    { "easy kSampler", 1, "e:image_output i:link_id s:save_prefix" },
    { "easy kSamplerInpainting", 1,
      "i:grow_mask_by e:image_output i:link_id s:save_prefix e:additional" },
    { "easy kSamplerLayerDiffusion", 1, "e:image_output i:link_id s:save_prefix" },
    { "easy loadImageBase64", 1, "s:base64_data e:image_output s:save_prefix" },
    { "easy loraStack", 0,
      "b:toggle e:mode i:num_loras e:lora_1_name f:lora_1_strength f:lora_1_model_strength "
      "f:lora_1_clip_strength e:lora_2_name f:lora_2_strength f:lora_2_model_strength "
      "f:lora_2_clip_strength e:lora_3_name f:lora_3_strength f:lora_3_model_strength "
      "f:lora_3_clip_strength e:lora_4_name f:lora_4_strength f:lora_4_model_strength "
      "f:lora_4_clip_strength e:lora_5_name f:lora_5_strength f:lora_5_model_strength "
      "f:lora_5_clip_strength e:lora_6_name f:lora_6_strength f:lora_6_model_strength "
      "f:lora_6_clip_strength e:lora_7_name f:lora_7_strength f:lora_7_model_strength "
      "f:lora_7_clip_strength e:lora_8_name f:lora_8_strength f:lora_8_model_strength "
      "f:lora_8_clip_strength e:lora_9_name f:lora_9_strength f:lora_9_model_strength "
      "f:lora_9_clip_strength e:lora_10_name f:lora_10_strength f:lora_10_model_strength "
      "f:lora_10_clip_strength" },
    { "easy loraStackApply", 0, "" },
    { "easy mathFloat", 0, "f:a f:b e:operation" },
    { "easy mathInt", 0, "i:a i:b e:operation" },
    { "easy negative", 0, "s:negative" },
    { "easy pipeEdit", 0,
      "i:clip_skip s:optional_positive e:positive_token_normalization "
      "e:positive_weight_interpretation s:optional_negative e:negative_token_normalization "
      "e:negative_weight_interpretation b:a1111_prompt_style e:conditioning_mode "
      "f:average_strength f:old_cond_start f:old_cond_end f:new_cond_start f:new_cond_end" },
    { "easy pipeIn", 0, "" },
    { "easy pipeOut", 0, "" },
    { "easy positive", 0, "s:positive" },
    { "easy preDetailerFix", 0,
      "f:guide_size b:guide_size_for f:max_size i+seed i:steps f:cfg e:sampler_name e:scheduler "
      "f:denoise i:feather b:noise_mask b:force_inpaint i:drop_size s:wildcard i:cycle" },
    { "easy preSampling", 0, "i:steps f:cfg e:sampler_name e:scheduler f:denoise i+seed" },
    { "easy preSamplingCustom", 0,
      "e:guider f:cfg f:cfg_negative e:sampler_name e:scheduler f:coeff i:steps f:sigma_max "
      "f:sigma_min f:rho f:beta_d f:beta_min f:eps_s b:flip_sigmas f:denoise e:add_noise i+seed" },
    { "easy preSamplingLayerDiffusion", 0,
      "e:method f:weight i:steps f:cfg e:sampler_name e:scheduler f:denoise i+seed" },
    { "easy preSamplingNoiseIn", 0,
      "f:factor i:steps f:cfg e:sampler_name e:scheduler f:denoise i+seed" },
    { "easy prompt", 0,
      "s:text e:prefix e:subject e:action e:clothes e:environment e:background e:nsfw" },
    { "easy promptConcat", 0, "s:separator" },
    { "easy promptLine", 0, "s:prompt i:start_index i:max_rows b:remove_empty_lines" },
    { "easy promptReplace", 0, "s:find1 s:replace1 s:find2 s:replace2 s:find3 s:replace3" },
    { "easy samLoaderPipe", 0,
      "e:model_name e:device_mode e:sam_detection_hint i:sam_dilation f:sam_threshold "
      "i:sam_bbox_expansion f:sam_mask_hint_threshold e:sam_mask_hint_use_negative" },
    { "easy seed", 0, "i+seed" },
    { "easy showAnything", 1, "" },
    { "easy simpleMath", 0, "s:value" },
    { "easy stableDiffusion3API", 0,
      "s:positive s:negative e:model e:aspect_ratio i+seed f:denoise" },
    { "easy stringToIntList", 0, "s:string" },
    { "easy styleAlignedBatchAlign", 0, "e:share_norm e:share_attn f:scale" },
    { "easy ultralyticsDetectorPipe", 0,
      "e:model_name f:bbox_threshold i:bbox_dilation f:bbox_crop_factor" },
    { "easy wildcards", 0,
      "s:text e:Select~to~add~LoRA e:Select~to~add~Wildcard i+seed b:multiline_mode" },
    { "mxSeed", 0, "i:X" },
    { "mxSlider", 0, "i:Xi f:Xf i:isfloatX" },
    { "mxSlider2D", 0, "i:Xi f:Xf i:Yi f:Yf i:isfloatX i:isfloatY" },
    { "mxStop", 0, "" },
    { "unCLIPCheckpointLoader", 0, "e:ckpt_name" },
    { "unCLIPConditioning", 0, "f:strength f:noise_augmentation" },
    { "wanBlockSwap", 0, "" },
};
// clang-format on

const size_t nino_n_known_classes = sizeof(nino_known_classes) / sizeof(nino_known_classes[0]);
