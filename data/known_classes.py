#!/usr/bin/env python3
"""Writes core/node/table/known_classes.c: which classes exist elsewhere and the order of their widgets.

usage: data/known_classes.py object_info.json > core/node/table/known_classes.c

object_info.json is what a ComfyUI server answers to GET /object_info; the committed file was made
from version 0.3.64. Classes of others are listed below, in the notation of the C file.
"""
import json
import sys

VERSION = "0.3.64"

SAMPLER = "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise"
ADVANCED = ("e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
            "i:end_at_step e:return_with_leftover_noise")
COMMON = " b:optimize_for_video e:precision_mode b:compatibility_mode"

# Not in that version: ComfyUI-GGUF, newer stock classes, and the original ROCm extension.
OTHERS = {
    "CLIPLoaderGGUF": "e:clip_name e:type",
    "DualCLIPLoaderGGUF": "e:clip_name1 e:clip_name2 e:type",
    "TripleCLIPLoaderGGUF": "e:clip_name1 e:clip_name2 e:clip_name3",
    "QuadrupleCLIPLoaderGGUF": "e:clip_name1 e:clip_name2 e:clip_name3 e:clip_name4",
    "UnetLoaderGGUF": "e:unet_name",
    "UnetLoaderGGUFAdvanced": "e:unet_name e:dequant_dtype e:patch_dtype b:patch_on_device",
    "EmptyFlux2LatentImage": "i:width i:height i:batch_size",
    "Flux2Scheduler": "i:steps i:width i:height",
    "EmptyLatentVideo": "i:width i:height i:batch_size i:frame_count",
    "TextGenerateLTX2Prompt": "",
    "ROCMEmergencyMemoryReset": "",
    "ROCMFluxBenchmark": "s:test_resolutions i:test_steps s:test_cfg_values b:test_hipblas "
                         "b:generate_report",
    "ROCMLoRALoader": "e:lora_name f:strength_model f:strength_clip",
    "ROCMMemoryDefragmenter": "",
    "ROCMMemorySafeKSampler": SAMPLER + " e:memory_safety_level",
    "ROCMOptimizedKSampler": SAMPLER + COMMON,
    "ROCmKSampler": SAMPLER + COMMON,
    "ROCMOptimizedKSamplerAdvanced": ADVANCED + COMMON,
    "ROCmKSamplerAdvanced": ADVANCED + COMMON,
    "ROCMOptimizedUNetLoader": "e:unet_name e:weight_dtype",
    "ROCmDiffusionLoader": "e:unet_name e:weight_dtype",
    "ROCmGGUFLoader": "e:gguf_name",
    "ROCMSamplerCustomAdvanced": "b:compatibility_mode e:flash_attention",
    "ROCMSamplerCustomAdvancedBenchmark": "",
    "ROCMSamplerPerformanceMonitor": "i:test_steps",
    "ROCmTextGenerateLTX2Prompt": "s:prompt i:max_length e:sampling_mode f:temperature i:top_k "
                                  "f:top_p f:min_p f:repetition_penalty i+seed",
    "WindowsPaginationDiagnostic": "b:check_memory b:check_paging_file b:apply_fixes",
}

HEAD = """// Classes of ComfyUI %s, of ComfyUI-GGUF and of the original ROCm extension, sorted by byte. A
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
"""
TAIL = """};
// clang-format on

const size_t nino_n_known_classes = sizeof(nino_known_classes) / sizeof(nino_known_classes[0]);
"""
LETTERS = {"INT": "i", "FLOAT": "f", "BOOLEAN": "b", "STRING": "s", "COMBO": "e", "LOAD_3D": "x",
           "LOAD_3D_ANIMATION": "x", "WEBCAM": "x", "AUDIO_RECORD": "x"}


def widget(name, spec):
    """One widget in the notation of the C file; None for a socket."""
    kind, options = spec[0], spec[1] if len(spec) > 1 else {}
    letter = "e" if isinstance(kind, list) else LETTERS.get(kind)
    if not letter or options.get("forceInput"):
        return None
    is_seed = letter == "i" and name in ("seed", "noise_seed")
    mark = ":"
    if letter == "s" and options.get("dynamicPrompts"):
        letter = "d"
    if is_seed or options.get("control_after_generate"):
        mark = "+"
    if any(options.get(k + "_upload") for k in ("image", "video", "audio", "file")):
        mark = "^"
    return letter + mark + name


def lines(text, width):
    """The words of text as C string literals that fit on one line each."""
    line = ""
    for word in text.split():
        if len(line) + len(word) + 1 > width:
            yield line + " "
            line = ""
        line += (" " if line else "") + word
    yield line


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        info = json.load(f)
    classes = {name: (0, text) for name, text in OTHERS.items()}
    for name, d in info.items():
        found = [widget(k, s) for part in ("required", "optional")
                 for k, s in d["input"].get(part, {}).items()]
        classes[name] = (int(bool(d.get("output_node"))), " ".join(w for w in found if w))
    sys.stdout.write(HEAD % VERSION)
    for name in sorted(classes, key=str.encode):
        is_output, text = classes[name]
        row = '    { "%s", %d, "%s" },\n' % (name, is_output, text)
        if len(row) > 100:
            parts = '"\n      "'.join(lines(text, 90))
            row = '    { "%s", %d,\n      "%s" },\n' % (name, is_output, parts)
        sys.stdout.write(row)
    sys.stdout.write(TAIL)


main()
