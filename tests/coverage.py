#!/usr/bin/env python3
"""Prints which branches of the parsers the tests took: a line a file, then a line a parser.

usage: coverage.py COVERAGE.json      what `gcovr --json` wrote; `make coverage` makes it
"""
import json
import sys

PARSERS = [  # what is read, and the files that read it, by the start of their names
    ("JSON and UTF-8", ["core/base/json", "core/base/utf8"]),
    ("safetensors", ["core/file/safetensors", "core/file/latent_file", "core/file/st_names", "core/file/weights.c",
                     "core/file/weights_scale"]),
    ("GGUF", ["core/file/gguf"]),
    (".pth", ["core/file/pth"]),
    ("PNG, JPEG, WebP, APNG", ["core/media/png_read", "core/media/jpeg", "core/media/webp.c", "core/media/apng_read",
                               "core/media/exif", "core/media/image.c", "core/media/texts", "core/media/bare"]),
    ("MP4, WebM, FLAC", ["core/media/video.c", "core/media/video_read", "core/media/video_io", "core/media/video_av",
                         "core/media/video_webp", "core/media/sound.c"]),
    ("workflows", ["core/workflow/graph_check", "core/workflow/graph_family", "core/workflow/graph_inputs",
                   "core/workflow/graph_load", "core/workflow/graph_parse", "core/workflow/graph_set",
                   "core/workflow/grid", "core/workflow/ui_"]),
    ("editable workflows", ["core/document/doc.c", "core/document/doc_read", "core/document/doc_json",
                            "core/document/doc_form"]),
    ("tokenizers", ["core/text/b", "core/text/u", "core/text/charsmap", "core/text/proto", "core/text/strings",
                    "core/text/tokenizer"]),
    ("prompts", ["core/text/prompt", "core/text/embedding"]),
    ("expressions", ["core/node/expr"]),
    ("ninodes.conf", ["core/base/settings", "core/base/config"]),
    ("extra_model_paths.yaml", ["core/file/extra_paths", "core/file/model_paths", "core/file/model_list"]),
    ("queue and resume files", ["core/worker/queue_store", "core/worker/job_lists", "core/sample/guide/resume"]),
    ("traces", ["core/monitor/trace/"]),
    ("event protocol", ["core/monitor/link/"]),
    ("HTTP requests", ["core/serve/http", "core/serve/route", "core/serve/client", "core/serve/prompt",
                       "core/serve/user", "core/serve/files"]),
]


def branches(file):
    """(all, taken, lines with a branch that was not) of a file."""
    counts = [(line["line_number"], b["count"]) for line in file["lines"] for b in line["branches"]]
    missed = sorted({n for n, count in counts if not count})
    return len(counts), sum(1 for _, count in counts if count), missed


def row(name, n, taken, rest=""):
    print(("%-38s %6d %6d  %5.1f %%  %s" % (name, n, taken, 100 * taken / n if n else 100, rest)).rstrip())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        files = json.load(f)["files"]
    sums = {name: [0, 0] for name, _ in PARSERS}
    for file in sorted(files, key=lambda f: f["file"]):
        parser = next((name for name, starts in PARSERS if any(file["file"].startswith(s) for s in starts)), None)
        n, taken, missed = branches(file)
        if not parser or not n:
            continue
        row(file["file"], n, taken, ",".join(map(str, missed)))
        sums[parser][0] += n
        sums[parser][1] += taken
    print("%-38s %6s %6s" % ("parser", "all", "taken"))
    for name, (n, taken) in sums.items():
        row(name, n, taken)
    row("all parsers", *[sum(s[k] for s in sums.values()) for k in range(2)])


if __name__ == "__main__":
    main()
