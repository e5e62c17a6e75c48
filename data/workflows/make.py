#!/usr/bin/env python3
# Writes the demo's workflows: the editor's form with positions, and the API form beside it. Reads
# the node table from a built ninodes.
#   data/workflows/make.py [build/ninodes]
import json
import pathlib
import subprocess
import sys

NINODES = sys.argv[1] if len(sys.argv) > 1 else "build/ninodes"
HERE = pathlib.Path(__file__).resolve().parent
PROMPT = "a red circle on a blue background"
MOVING = "a green square moving right on a white background"
COLOURS = {"model": ("#223", "#335"), "text": ("#232", "#353"), "sampler": ("#332922", "#593930"), "": ("", "")}


def described_as(title):
    """The editor takes all of these or none."""
    return {"name": title, "author": "ninodes", "description": "", "version": "1", "created": "2026-11-23T00:00:00.000Z",
            "modified": "2026-11-23T00:00:00.000Z", "software": "ninodes"}


def described(name, known={}):
    if name not in known:
        out = subprocess.run([NINODES, "nodes", "--json", name], check=True, capture_output=True, text=True).stdout
        known[name] = json.loads(out.splitlines()[-1])["data"]["nodes"][0]
    return known[name]


class Sheet:
    """Columns of nodes from left to right, each below the one before it."""

    def __init__(self, title):
        self.title, self.nodes, self.links, self.ids = title, [], [], {}
        self.x, self.y, self.wide = 40, 120, 0

    def column(self):
        self.x, self.y, self.wide = self.x + self.wide + 60, 120, 0
        return self

    def add(self, key, kind, colour="", title=None, wide=300, tall=None, **values):
        table = described(kind)
        node_id = len(self.nodes) + 1
        widgets, slots = [], []
        for slot in table["inputs"]:
            if slot["name"] in values:
                slots.append({"name": slot["name"], "type": slot["type"], "link": self.link(values.pop(slot["name"]), node_id, len(slots), slot["type"])})
            elif not slot["optional"]:
                raise SystemExit(f"{self.title}: {kind} needs {slot['name']}")
        for p in table["params"]:
            value = values.pop(p["name"], p["default"])
            if value is None:
                raise SystemExit(f"{self.title}: {kind} needs {p['name']}")
            widgets.append(value)
            if p["type"] == "seed":
                widgets.append("fixed")
            if kind == "LoadImage":
                widgets.append("image")
        if values:
            raise SystemExit(f"{self.title}: {kind} has no {', '.join(values)}")
        outputs = [{"name": o["name"], "type": o["type"], "links": []} for o in table["outputs"]]
        rows = max(len(slots), len(outputs))
        tall = tall or 40 + 22 * rows + 26 * len(widgets) + (90 if "text" in [p["name"] for p in table["params"]] else 0)
        node = {"id": node_id, "type": kind, "pos": [self.x, self.y], "size": [wide, tall], "flags": {},
                "order": node_id - 1, "mode": 0, "inputs": slots, "outputs": outputs,
                "properties": {"Node name for S&R": kind}, "widgets_values": widgets}
        if title:
            node["title"] = title
        if colour:
            node["color"], node["bgcolor"] = COLOURS[colour]
        self.nodes.append(node)
        self.ids[key] = node
        self.y, self.wide = self.y + tall + 50, max(self.wide, wide)
        return self

    def note(self, text, width=300, height=120):
        node_id = len(self.nodes) + 1
        self.nodes.append({"id": node_id, "type": "MarkdownNote", "pos": [self.x, self.y], "size": [width, height],
                           "flags": {}, "order": node_id - 1, "mode": 0, "inputs": [], "outputs": [],
                           "properties": {}, "widgets_values": [text], "color": "#432", "bgcolor": "#653"})
        self.y, self.wide = self.y + height + 50, max(self.wide, width)
        return self

    def link(self, source, target, slot, kind):
        key, _, name = source.partition(".")
        node = self.ids[key]
        names = [o["name"] for o in node["outputs"]]
        at = names.index(name) if name else 0
        self.links.append([len(self.links) + 1, node["id"], at, target, slot, kind])
        node["outputs"][at]["links"].append(len(self.links))
        return len(self.links)

    def save(self, name):
        ui = {"last_node_id": len(self.nodes), "last_link_id": len(self.links), "nodes": self.nodes, "links": self.links,
              "groups": [], "config": {}, "extra": {"info": described_as(self.title)}, "version": 0.4}
        path = HERE / f"{name}.json"
        path.write_text(json.dumps(ui, indent=1) + "\n")
        api = subprocess.run([NINODES, "convert", str(path)], check=True, capture_output=True, text=True).stdout
        (HERE / f"{name}.api.json").write_text(api if api.endswith("\n") else api + "\n")


WORDS = ("### Words it knows\n\ncircle, square, triangle, star, cross; red, green, blue, yellow, orange, purple, white, black;"
         " small, large; on the left, on the right, at the top, at the bottom")
MOTIONS = ("### Motions it knows\n\nmoving left, moving right, moving up, moving down, growing, shrinking, standing still;"
           " shapes and colours as the pictures', small")


def flux(title, loader=None):
    """Checkpoint and prompt, which every sheet of pictures begins with."""
    s = Sheet(title).add("file", "CheckpointLoaderSimple", "model", ckpt_name="demo_flux.safetensors")
    if loader:
        s.add("model", loader[0], "model", **loader[1])
    s.note(WORDS, height=200)
    s.column().add("prompt", "CLIPTextEncode", "text", "Prompt", 380, clip="file.CLIP", text=PROMPT)
    return s.add("empty", "CLIPTextEncode", "text", "Left out at CFG 1", 380, clip="file.CLIP", text="")


def sample(s, model, latent, **more):
    return s.add("sampler", "KSampler", "sampler", model=model, positive="prompt", negative="empty", latent_image=latent,
                 seed=7, steps=10, cfg=1.0, **more)


def blank(s):
    return s.add("blank", "EmptySD3LatentImage", width=128, height=128, batch_size=1)


def show(s, name):
    """The end of a sheet; the sampler's column is left free below it, where its preview grows."""
    s.column().add("decode", "VAEDecode", samples="sampler", vae="file.VAE").column()
    s.add("save", "SaveImage", tall=320, images="decode", filename_prefix=name).save(name)


def pictures():
    s = sample(blank(flux("Text to image")).column(), "file.MODEL", "blank")
    show(s, "text_to_image")

    s = flux("Image to image").column().add("photo", "LoadImage", image="square.png", tall=320)
    s.add("encode", "VAEEncode", pixels="photo.IMAGE", vae="file.VAE").column()
    s = sample(s, "file.MODEL", "encode", denoise=0.8)
    show(s, "image_to_image")

    s = flux("LoRA", loader=("LoraLoaderModelOnly", {"model": "file.MODEL", "lora_name": "demo_outline.safetensors", "strength_model": 1.0}))
    s = sample(blank(s).column(), "model", "blank")
    show(s, "lora")

    for name, title, kind, file in (("gguf", "GGUF Q8_0", "UnetLoaderGGUF", "demo_flux_Q8_0.gguf"),
                                    ("fp8", "Scaled fp8", "UNETLoader", "demo_flux_fp8_scaled.safetensors")):
        s = sample(blank(flux(title, loader=(kind, {"unet_name": file}))).column(), "model", "blank")
        show(s, name)

    s = sample(blank(flux("Whole and tiled decode")).column(), "file.MODEL", "blank").column()
    s.note("The same latent, decoded whole, in tiles of 64 pixels that overlap by 16, and by the ROCm node.")
    s.add("whole", "VAEDecode", samples="sampler", vae="file.VAE")
    s.add("tiled", "VAEDecodeTiled", samples="sampler", vae="file.VAE", tile_size=64, overlap=16)
    s.add("rocm", "ROCMOptimizedVAEDecode", samples="sampler", vae="file.VAE", tile_size=256, overlap=32).column()
    for key in ("whole", "tiled", "rocm"):
        s.add("save_" + key, "SaveImage", tall=270, images=key, filename_prefix="decode_" + key)
    s.save("tiled_decode")


def rocm():
    s = Sheet("Flux with ROCm nodes").add("file", "ROCMOptimizedCheckpointLoader", "model", ckpt_name="demo_flux.safetensors")
    s.column().add("prompt", "CLIPTextEncode", "text", "Wanted", 380, clip="file.CLIP", text=PROMPT)
    s.add("empty", "CLIPTextEncode", "text", "Unwanted", 380, clip="file.CLIP", text="")
    s.add("guidance", "FluxGuidance", conditioning="prompt", guidance=3.5)
    blank(s).column().add("sampler", "ROCMOptimizedKSampler", "sampler", model="file.MODEL", positive="guidance",
                          negative="empty", latent_image="blank", seed=7, steps=10, cfg=1.0)
    s.column().add("decode", "ROCMOptimizedVAEDecode", samples="sampler", vae="file.VAE")
    s.note("As the seed's Flux graph: FluxGuidance changes nothing here, because this model, like FLUX.1 schnell, has no guidance input.")
    s.column().add("save", "SaveImage", tall=320, images="decode", filename_prefix="rocm_flux").save("rocm_flux")

    s = flux("Benchmark and monitors")
    blank(s).column()
    s.add("bench", "ROCMFluxBenchmark", model="file.MODEL", vae="file.VAE", clip="file.CLIP", test_resolutions="128x128",
          test_steps=4, test_cfg_values="1.0", wide=340)
    s.add("vae", "ROCMVAEPerformanceMonitor", vae="file.VAE", test_resolution=256, wide=340)
    s.add("model", "ROCMSamplerPerformanceMonitor", model="file.MODEL", wide=340).column()
    for key in ("bench.BENCHMARK_RESULTS", "vae.PERFORMANCE_TIPS", "model"):
        s.add("show_" + key, "PreviewAny", source=key, wide=420, tall=220)
    s.save("benchmark")


def wan(title, loader):
    """Files and prompt of a clip; the model's times are shifted towards noise."""
    s = Sheet(title).add("text", "CLIPLoader", "model", clip_name="demo_umt5.safetensors", type="wan")
    s.add("vae", "VAELoader", "model", vae_name="demo_wan_vae.safetensors")
    s.add("file", loader, "model", unet_name="demo_wan_fp8_scaled.safetensors")
    s.add("model", "ModelSamplingSD3", model="file", shift=3.0)
    s.column().add("prompt", "CLIPTextEncode", "text", "Prompt", 380, clip="text", text=MOVING)
    s.add("empty", "CLIPTextEncode", "text", "Left out at CFG 1", 380, clip="text", text="").note(MOTIONS, 380, 150)
    return s.add("blank", "EmptyHunyuanLatentVideo", width=64, height=64, length=9, batch_size=1).column()


def clips():
    s = wan("Text to video", "UNETLoader")
    s.add("sampler", "KSampler", "sampler", model="model", positive="prompt", negative="empty", latent_image="blank",
          seed=7, steps=15, cfg=1.0)
    s.column().add("decode", "VAEDecode", samples="sampler", vae="vae")
    s.column().add("save", "SaveAnimatedWEBP", tall=360, images="decode", filename_prefix="text_to_video", fps=6.0)
    s.save("text_to_video")

    s = wan("Wan with ROCm nodes", "ROCmDiffusionLoader")
    s.note("As the seed's Wan graph: one sampler for the first steps and another for the rest. The seed has a model for each; here one does both.")
    for key, before, more in (("high", "blank", {"start_at_step": 0, "end_at_step": 6, "return_with_leftover_noise": "enable"}),
                              ("low", "high", {"start_at_step": 6, "add_noise": "disable"})):
        s.add(key, "ROCMOptimizedKSamplerAdvanced", "sampler", model="model", positive="prompt", negative="empty",
              latent_image=before, noise_seed=7, steps=15, cfg=1.0, optimize_for_video=True, **more)
    s.column().add("decode", "ROCMOptimizedVAEDecode", samples="low", vae="vae")
    s.add("video", "CreateVideo", images="decode", fps=6.0)
    s.column().add("save", "SaveVideo", tall=360, video="video", filename_prefix="rocm_wan").save("rocm_wan")


pictures()
rocm()
clips()
