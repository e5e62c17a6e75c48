#!/usr/bin/env python3
"""Writes data/known_classes.txt: which classes exist elsewhere and the order of their widgets.

usage: data/known_classes.py object_info.json... [paid.txt...] > data/known_classes.txt

object_info.json is what a ComfyUI server answers to GET /object_info; of a class that several of them
have, the first counts. paid.txt lists classes that call a paid service, one a line. The committed file
was made from ComfyUI 0.33.0, from 19 packs of nodes, and from ComfyUI 0.3.64 for what is gone since:
only names, kinds and their order are taken. Classes of others are listed below, in the notation of
core/node/table/known.h. A line is a class: name, flags (1 output, 2 paid), widgets, separated by tabs; lines
are sorted by byte. core/node/table/object_info.c reads such a file in a run; a test compares the two.
"""
import json
import sys

SAMPLER = "i+seed i:steps f:cfg e:sampler_name e:scheduler f:denoise"
ADVANCED = ("e:add_noise i+noise_seed i:steps f:cfg e:sampler_name e:scheduler i:start_at_step "
            "i:end_at_step e:return_with_leftover_noise")
COMMON = " b:optimize_for_video e:precision_mode b:compatibility_mode"

# In none of those files: the original ROCm extension and what was renamed.
OTHERS = {
    "EmptyLatentVideo": "i:width i:height i:batch_size i:frame_count",
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

LETTERS = {"INT": "i", "FLOAT": "f", "BOOLEAN": "b", "STRING": "s", "COMBO": "e", "COLOR": "s",
           "COMFY_DYNAMICCOMBO_V3": "c", "VHSTIMESTAMP": "f"}
OBJECTS = ("LOAD_3D", "LOAD_3D_ANIMATION", "WEBCAM", "AUDIO_RECORD", "COLORS", "BOUNDING_BOX",
           "BOUNDING_BOXES", "CURVE", "RANGE", "IMAGECOMPARE", "COMPOSITOR")


def word(text):
    """A name as one word."""
    return text.replace(" ", "~")


def options_of(options, prefix):
    """What the options of a dynamic combo bring with them."""
    return "".join("|" + word(o["key"]) + "".join(" " + w for w in widgets(o["inputs"], prefix))
                   for o in options)


def widget(name, spec, prefix):
    """One widget in the notation; None for a socket."""
    kind, options = spec[0], spec[1] if len(spec) > 1 and isinstance(spec[1], dict) else {}
    if isinstance(kind, list):
        letter = "e"
    elif kind in OBJECTS:
        letter = "x"
    else:
        letter = LETTERS.get(options.get("widgetType", kind))
    if not letter or options.get("forceInput") or options.get("hidden"):
        return None
    is_seed = letter == "i" and not prefix and name in ("seed", "noise_seed")
    mark = ":"
    if letter == "s" and options.get("dynamicPrompts"):
        letter = "d"
    if is_seed or options.get("control_after_generate"):
        mark = "+"
    if any(options.get(k + "_upload") for k in ("image", "video", "audio", "file")):
        mark = "^"
    if kind == "BOUNDING_BOX":
        mark = "#"
    text = letter + mark + word(prefix + name)
    if letter == "c":
        text += "{" + options_of(options["options"], prefix + name + ".") + "}"
    return text


def widgets(inputs, prefix=""):
    """All of a class, or of an option, in order."""
    found = [widget(k, s, prefix) for part in ("required", "optional")
             for k, s in inputs.get(part, {}).items()]
    return [w for w in found if w]


def main():
    classes = {name: (0, text) for name, text in OTHERS.items()}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            if path.endswith(".txt"):
                for name in f.read().splitlines():
                    classes.setdefault(name, (2, ""))
                continue
            for name, d in json.load(f).items():
                flags = int(bool(d.get("output_node"))) + 2 * int(bool(d.get("api_node")))
                classes.setdefault(name, (flags, " ".join(widgets(d["input"]))))
    for name in sorted(classes, key=str.encode):
        sys.stdout.write("%s\t%d\t%s\n" % (name, *classes[name]))


if __name__ == "__main__":
    main()
