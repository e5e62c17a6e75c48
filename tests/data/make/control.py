# Control networks: synth/control_*: ControlNets of SD1.5 and SDXL (union, in the names of diffusers), a control-LoRA
# over synth/sdxl_unet_ch32, T2I-Adapters (full of diffusers, light), ControlNets of FLUX.1 (diffusers' names; XLabs'),
# one of SD3 (diffusers' names).
# Inputs and what is added: after_N, middle, late_N as in core/model/residuals.h.
import re

import torch
import torch.nn.functional as F

import files
import flux
import net
import sd3
import unet
from net import Net

WIDTHS, STRIDES = (8, 8, 8, 16, 16, 16, 32), (1, 1, 2, 1, 2, 1, 2, 1)


def save(name, n, rename=lambda k: k, fp8=True, **io):
    tensors = {rename(k): v for k, v in n.tensors.items()}
    files.save(f"synth/{name}.safetensors", tensors, tensors if fp8 else ())
    files.save(f"synth/{name}_io.safetensors", {k: v for k, v in io.items() if v is not None})


# ---- ControlNets of UNets --------------------------------------------------------------------
def hint_net(n, hint, out, widths=WIDTHS):
    for i, c in enumerate((*widths, out)):
        hint = n.conv(hint, f"input_hint_block.{2 * i}", c, stride=STRIDES[i])
        hint = F.silu(hint) if i < len(widths) else hint
    return hint


def with_type(n, c, kind, types):
    width = c.shape[1]
    s = c.mean((2, 3)) + n("task_embedding", types, width)[kind]
    t = n.at("transformer_layes.0.")
    u = t.layer_norm(s, "ln_1")
    w = t("attn.in_proj_weight", 3 * width, width, spread=width ** -0.5)
    b = t("attn.in_proj_bias", 3 * width, spread=0.1)
    s = s + t.linear(F.linear(u, w, b)[:, 2 * width:], "attn.out_proj", width)
    u = t.linear(t.layer_norm(s, "ln_2"), "mlp.c_fc", 4 * width)
    s = s + t.linear(u * torch.sigmoid(1.702 * u), "mlp.c_proj", width)
    return c + n.linear(s, "spatial_ch_projs", width)[:, :, None, None]


def controlnet(n, x, hint, t, context, y, size, kind=None, types=0):
    g, more = hint_net(n, hint, size["ch"]), 0.0
    if types:
        asked = F.one_hot(torch.tensor(types if kind is None else kind), types + 1)[:types]
        more = F.silu(n.linear(net.wave(asked, 256).reshape(1, -1), "control_add_embedding.linear_1", 4 * size["ch"]))
        more = n.linear(more, "control_add_embedding.linear_2", 4 * size["ch"])
        if kind is not None:
            g = with_type(n, g, kind, types)
    emb = unet.embed(n, t, y, size, more)
    kept, middle = unet.way_down(n, x, emb, context, size, g)
    out = {f"late_{i}": n.conv(v, f"zero_convs.{i}.0", v.shape[1], 1) for i, v in enumerate(kept)}
    return {**out, "middle": n.conv(middle, "middle_block_out.0", middle.shape[1], 1)}


RES = {"in_layers.0": "norm1", "in_layers.2": "conv1", "emb_layers.1": "time_emb_proj", "out_layers.0": "norm2",
       "out_layers.3": "conv2", "skip_connection": "conv_shortcut"}
WHOLE = {"input_blocks.0.0": "conv_in", "time_embed.0": "time_embedding.linear_1",
         "time_embed.2": "time_embedding.linear_2", "label_emb.0.0": "add_embedding.linear_1",
         "label_emb.0.2": "add_embedding.linear_2", "middle_block_out.0": "controlnet_mid_block",
         "input_hint_block.0": "controlnet_cond_embedding.conv_in",
         "input_hint_block.14": "controlnet_cond_embedding.conv_out"}


def diffusers(name):
    """of the original name"""
    stem, _, leaf = name.rpartition(".")
    if stem in WHOLE:
        return f"{WHOLE[stem]}.{leaf}"
    if m := re.fullmatch(r"input_hint_block\.(\d+)", stem):
        return f"controlnet_cond_embedding.blocks.{int(m[1]) // 2 - 1}.{leaf}"
    if m := re.fullmatch(r"zero_convs\.(\d+)\.0", stem):
        return f"controlnet_down_blocks.{m[1]}.{leaf}"
    m = re.fullmatch(r"(input_blocks\.(\d+)|middle_block)\.(\d)\.(.*)", name)
    if not m:
        return name
    at, part, rest = int(m[2] or 0), int(m[3]), m[4]
    if rest.startswith("op."):
        return f"down_blocks.{at // 3 - 1}.downsamplers.0.conv.{leaf}"
    base = f"down_blocks.{(at - 1) // 3}" if m[2] else "mid_block"
    i = (at - 1) % 3 if m[2] else part // 2
    if part == 1:
        return f"{base}.attentions.{i if m[2] else 0}.{rest}"
    inner = rest[:-len(leaf) - 1]
    return f"{base}.resnets.{i}.{RES[inner]}.{leaf}"


def unets():
    x, t, c = files.values(2, 2, 4, 6, 8), torch.tensor([981.0, 17.0]), files.values(3, 2, 9, 32)
    hint = files.values(5, 2, 3, 48, 64).sigmoid()
    n = Net(1, net.FP8)
    out = controlnet(n, x, hint, t, c, None, unet.SD15)
    save("control_sd15", n, lambda k: "control_model." + k, x=x, hint=hint, timestep=t, context=c, **out)
    c = files.values(3, 2, 9, 40)
    n, y, out = Net(2, net.FP8), files.values(4, 2, 48).float().double(), {}
    for kind in (3, None, 5):
        for k, v in controlnet(n, x, hint, t, c, y, unet.SDXL, kind, 6).items():
            out[k if kind is None else f"type_{kind}/{k}"] = v
    save("control_sdxl_union", n, diffusers, x=x, hint=hint, timestep=t, context=c, y=y, **out)


def control_lora():
    """Low-rank changes of all matrices, other tensors whole."""
    prefix, size = "model.diffusion_model.", unet.SDXL
    base = {k[len(prefix):]: v for k, v in files.load("synth/sdxl_unet_ch32.safetensors").items()}
    n, made, whole = Net(7, torch.float16), dict(base), {"lora_controlnet": torch.zeros(0)}
    for k in base:
        if not k.startswith(("input_blocks.", "middle_block.", "time_embed.", "label_emb.")):
            continue
        v = base[k]
        if v.dim() == 1:
            whole[k] = (v + n("b" + k, *v.shape, spread=0.02)).half()
            made[k] = whole[k].double()
            continue
        stem, r = k[:-len(".weight")], 3
        down = n("d" + k, r, *v.shape[1:], spread=v[0].numel() ** -0.5)
        up = n("u" + k, v.shape[0], r, *([1] * (v.dim() - 2)), spread=0.3)
        whole[stem + ".up"], whole[stem + ".down"] = up.half(), down.half()
        made[k] = v + (up.flatten(1) @ down.flatten(1)).reshape(v.shape)
    m = Net(8, torch.float16, made)
    io = files.load("synth/control_sdxl_union_io.safetensors")
    x, hint, t, c, y = (io[k] for k in ("x", "hint", "timestep", "context", "y"))
    out = controlnet(m, x, hint, t, c, y, size)
    own = {k: v for k, v in made.items() if k.startswith(("zero_convs.", "middle_block_out.", "input_hint_block."))}
    files.save("synth/control_lora_sdxl.safetensors", {**whole, **own})
    files.save("synth/control_lora_sdxl_io.safetensors", {"x": x, "hint": hint, "timestep": t, "context": c, "y": y, **out})


# ---- T2I-Adapters ----------------------------------------------------------------------------
def halved(x):
    return F.avg_pool2d(x, 2, 2, [s % 2 for s in x.shape[2:]])


def t2i_block(n, x, k):
    c = x.shape[1]
    return x + n.conv(F.relu(n.conv(x, "block1", c)), "block2", c, k)


def t2i_full(n, hint, widths, k, has_conv):
    x, out = n.conv(F.pixel_unshuffle(hint, 8), "conv_in", widths[0]), {}
    for i, c in enumerate(widths):
        if i:
            x = n.conv(x, f"body.{2 * i}.down_opt.op", x.shape[1], stride=2) if has_conv else halved(x)
        if x.shape[1] != c:
            x = n.conv(x, f"body.{2 * i}.in_conv", c, 1)
        for j in range(2):
            x = t2i_block(n.at(f"body.{2 * i + j}."), x, k)
        out[f"after_{2 + 3 * i}"] = x
    return out


def t2i_light(n, hint, widths):
    x, out = F.pixel_unshuffle(hint, 8), {}
    for i, c in enumerate(widths):
        x = n.conv(halved(x) if i else x, f"body.{i}.in_conv", c // 4, 1)
        for j in range(4):
            x = t2i_block(n.at(f"body.{i}.body.{j}."), x, 3)
        x = out[f"after_{2 + 3 * i}"] = n.conv(x, f"body.{i}.out_conv", c, 1)
    return out


def t2i_diffusers(name):
    name = re.sub(r"body\.(\d+)\.in_conv", lambda m: f"body.{int(m[1]) // 2}.in_conv", name)
    name = re.sub(r"body\.(\d+)\.block", lambda m: f"body.{int(m[1]) // 2}.resnets.{int(m[1]) % 2}.block", name)
    return "adapter." + name


def adapters():
    hint = files.values(6, 2, 3, 56, 72).sigmoid()
    n = Net(3, net.FP8)
    save("control_t2i_diffusers", n, t2i_diffusers, hint=hint, **t2i_full(n, hint.mean(1, True), (8, 8, 16, 16), 1, False))
    n = Net(4, net.FP8)
    save("control_t2i_conv", n, hint=hint, **t2i_full(n, hint, (8, 16, 16, 16), 3, True))
    n = Net(5, net.FP8)
    save("control_t2i_light", n, hint=hint, **t2i_light(n, hint, (32, 32, 32, 32)))


# ---- ControlNets of FLUX.1 -------------------------------------------------------------------
def flux_body(n, x, hint, t, context, pooled, guidance, mode, c, depth):
    """What blocks give, each through its layer; hint: tokens of width c."""
    b, _, h, w = x.shape
    img, txt = n.linear(flux.to_tokens(x), "img_in", c) + hint, n.linear(context, "txt_in", c)
    txt = txt if mode is None else torch.cat([mode.expand(b, 1, c), txt], 1)
    vec = flux.embed(n, net.wave(t * 1000, 256), "time_in", c) + flux.embed(n, pooled, "vector_in", c)
    vec = F.silu(vec + flux.embed(n, net.wave(guidance * 1000, 256), "guidance_in", c))
    at, doubles, singles = flux.positions(txt.shape[1], h, w, c), [], []
    for i in range(depth[0]):
        m = n.at(f"double_blocks.{i}.")
        img, txt = flux.double(m, img, txt, flux.double_mods(m, vec), at, 1)
        doubles.append(n.linear(img, f"controlnet_blocks.{i}", c))
    both = torch.cat([txt, img], 1)
    for i in range(depth[1]):
        m = n.at(f"single_blocks.{i}.")
        both = flux.single(m, both, m.linear(vec, "modulation.lin", 3 * c)[:, None].chunk(3, -1), at, 1)
        singles.append(n.linear(both[:, txt.shape[1]:], f"controlnet_single_blocks.{i}", c))
    return doubles, singles


FLUX = {"img_in": "x_embedder", "txt_in": "context_embedder", "time_in.in_layer": "time_text_embed.timestep_embedder.linear_1",
        "time_in.out_layer": "time_text_embed.timestep_embedder.linear_2",
        "vector_in.in_layer": "time_text_embed.text_embedder.linear_1",
        "vector_in.out_layer": "time_text_embed.text_embedder.linear_2",
        "guidance_in.in_layer": "time_text_embed.guidance_embedder.linear_1",
        "guidance_in.out_layer": "time_text_embed.guidance_embedder.linear_2"}
DOUBLE = {"img_mod.lin": "norm1.linear", "txt_mod.lin": "norm1_context.linear", "img_attn.proj": "attn.to_out.0",
          "txt_attn.proj": "attn.to_add_out", "img_mlp.0": "ff.net.0.proj", "img_mlp.2": "ff.net.2",
          "txt_mlp.0": "ff_context.net.0.proj", "txt_mlp.2": "ff_context.net.2",
          "img_attn.norm.query_norm": "attn.norm_q", "img_attn.norm.key_norm": "attn.norm_k",
          "txt_attn.norm.query_norm": "attn.norm_added_q", "txt_attn.norm.key_norm": "attn.norm_added_k"}
SINGLE = {"modulation.lin": "norm.linear", "norm.query_norm": "attn.norm_q", "norm.key_norm": "attn.norm_k",
          "linear2": "proj_out"}


def flux_diffusers(tensors, c):
    """The same weights under the names of diffusers, with fused layers taken apart."""
    out = {}
    for name, v in tensors.items():
        stem, _, leaf = name.rpartition(".")
        leaf = "weight" if leaf == "scale" else leaf
        m = re.match(r"(double|single)_blocks\.(\d+)\.(.*)", stem)
        if not m:
            out[f"{FLUX.get(stem, stem)}.{leaf}"] = v
            continue
        base = f"{'single_' if m[1] == 'single' else ''}transformer_blocks.{m[2]}."
        if m[3] == "linear1":
            for k, p in zip(("attn.to_q", "attn.to_k", "attn.to_v", "proj_mlp"), v.split([c, c, c, len(v) - 3 * c])):
                out[f"{base}{k}.{leaf}"] = p
        elif m[3].endswith("_attn.qkv"):
            names = ("to_q", "to_k", "to_v") if m[3].startswith("img") else ("add_q_proj", "add_k_proj", "add_v_proj")
            for k, p in zip(names, v.chunk(3)):
                out[f"{base}attn.{k}.{leaf}"] = p
        else:
            out[f"{base}{(DOUBLE if m[1] == 'double' else SINGLE)[m[3]]}.{leaf}"] = v
    return out


def fluxes():
    c, h, w = 64, 4, 6
    x, t, g = files.values(2, 2, 16, h, w), torch.tensor([0.9, 0.2]), torch.tensor([3.5, 3.5])
    context, y = files.values(3, 2, 9, 32), files.values(4, 2, 32)
    n, latent, out = Net(9, net.FP8), files.values(5, 2, 16, h, w), {}
    for mode in (1, None):
        hint = n.linear(flux.to_tokens(latent), "controlnet_x_embedder", c)
        row = n("controlnet_mode_embedder.weight", 3, c)[mode] if mode is not None else None
        doubles, singles = flux_body(n, x, hint, t, context, y, g, row, c, (2, 1))
        kind = "" if mode is None else f"type_{mode}/"
        out.update({f"{kind}after_{i}": doubles[i // 10] for i in (0, 9, 10, 18)})
        out.update({f"{kind}late_{i}": singles[0] for i in (0, 37)})
    n.tensors = flux_diffusers(n.tensors, c)
    save("control_flux_union", n, x=x, hint=latent, timestep=t, context=context, y=y, guidance=g, **out)
    n, picture = Net(10, net.FP8), files.values(6, 2, 3, 8 * h, 8 * w).sigmoid()
    hint = flux.to_tokens(hint_net(n, picture * 2 - 1, 16, (8,) * 7))
    hint = n.linear(hint, "pos_embed_input", c)
    doubles, _ = flux_body(n, x, hint, t, context, y, g, None, c, (2, 0))
    out = {f"after_{i}": doubles[i % 2] for i in (0, 1, 18)}
    save("control_flux_xlabs", n, x=x, hint=picture, timestep=t, context=context, y=y, guidance=g, **out)


# ---- a ControlNet of SD3 ---------------------------------------------------------------------
SD3 = {"x_embedder.proj": "pos_embed.proj", "t_embedder.mlp.0": "time_text_embed.timestep_embedder.linear_1",
       "t_embedder.mlp.2": "time_text_embed.timestep_embedder.linear_2",
       "y_embedder.mlp.0": "time_text_embed.text_embedder.linear_1",
       "y_embedder.mlp.2": "time_text_embed.text_embedder.linear_2"}
SD3_BLOCK = {"x_block.adaLN_modulation.1": "norm1.linear", "context_block.adaLN_modulation.1": "norm1_context.linear",
             "x_block.attn.proj": "attn.to_out.0", "context_block.attn.proj": "attn.to_add_out",
             "x_block.mlp.fc1": "ff.net.0.proj", "x_block.mlp.fc2": "ff.net.2",
             "context_block.mlp.fc1": "ff_context.net.0.proj", "context_block.mlp.fc2": "ff_context.net.2"}


def sd3_diffusers(tensors):
    out = {}
    for name, v in tensors.items():
        stem, _, leaf = name.rpartition(".")
        m = re.match(r"joint_blocks\.(\d+)\.(.*)", stem)
        if name == "pos_embed":
            out["pos_embed.pos_embed"] = v
        elif not m:
            out[f"{SD3.get(stem, stem)}.{leaf}"] = v
        elif m[2].endswith("attn.qkv"):
            names = ("to_q", "to_k", "to_v") if m[2].startswith("x_") else ("add_q_proj", "add_k_proj", "add_v_proj")
            for k, p in zip(names, v.chunk(3)):
                out[f"transformer_blocks.{m[1]}.attn.{k}.{leaf}"] = p
        else:
            out[f"transformer_blocks.{m[1]}.{SD3_BLOCK[m[2]]}.{leaf}"] = v
    return out


def sd3_control():
    """One block for a model of three: as many as it has heads; the last of them gets nothing."""
    c, h, w, grid = 192, 5, 8, 6
    x, hint = files.values(2, 2, 16, h, w), files.values(5, 2, 16, h, w)
    context, t = files.values(3, 2, 7, 40), torch.tensor([812.5, 97.0])
    n = Net(11, net.FP8)
    rows, columns = -(-h // 2), w // 2
    p = n("pos_embed", 1, grid * grid, c, spread=0.5).view(grid, grid, c)
    top, left = (grid - rows) // 2, (grid - columns) // 2
    s = sd3.tokens(n, x, "x_embedder.proj", c) + p[top:top + rows, left:left + columns].reshape(1, -1, c)
    s = s + sd3.tokens(n, hint, "pos_embed_input.proj", c)
    y = torch.zeros(2, 24, dtype=torch.float64)  # whatever the model gets
    act = F.silu(sd3.embed(n, net.wave(t, 256), "t_embedder", c) + sd3.embed(n, y, "y_embedder", c))
    s, _ = sd3.block(n.at("joint_blocks.0."), s, n.linear(context, "context_embedder", c), act, False, False, False, 16)
    out = n.linear(s, "controlnet_blocks.0", c)
    n.tensors = sd3_diffusers(n.tensors)
    save("control_sd3", n, x=x, hint=hint, timestep=t, context=context, y=files.values(4, 2, 24), after_0=out, after_1=out)


# ---- from prompt to picture ------------------------------------------------------------------
def fitted(image, h, w):
    """The nearest pixels of the middle, of the aspect that is wanted."""
    b, c, had_h, had_w = image.shape
    x, y = (had_w - had_w * (w / h) / (had_w / had_h)) / 2, (had_h - had_h * (had_w / had_h) / (w / h)) / 2
    x, y = max(0, round(x)), max(0, round(y))
    return F.interpolate(image[:, :, y:had_h - y, x:had_w - x], (h, w), mode="nearest-exact")


def whole():
    """sd15_tiny with a ControlNet for the first part and an adapter on top of it for the last."""
    import pipeline
    import schedules
    import vae

    n = Net(0, tensors=files.load("models/checkpoints/sd15_tiny.safetensors"))
    first = Net(0, tensors=files.load("synth/control_sd15.safetensors")).at("control_model.")
    second = Net(0, tensors=files.load("synth/control_t2i_light.safetensors"))
    cond = files.load("e2e/expected/sd15_tiny_ref.safetensors")
    yy, xx = torch.meshgrid(torch.arange(88.0), torch.arange(120.0), indexing="ij")
    image = torch.stack([(xx // 8 + yy // 11) % 2, xx / 119, ((xx - 60) ** 2 + (yy - 44) ** 2 < 900).float()])
    image = torch.round(image * 255) / 255
    pipeline.export.png(files.path("e2e_2026/input/control_hint.png"), image)
    hint = fitted(image[None].double(), 96, 128)
    model = schedules.MODELS["sd15_eps"]
    levels = [model.sigma(999 * (1 - p)) for p in (0.5, 0.1)]  # the first ends there, the second begins

    def denoised(x, sigma):
        t, z, out = torch.tensor([float(model.timestep(sigma))]), x / (sigma ** 2 + 1) ** 0.5, []
        for k in (cond["cond"], cond["uncond"]):
            more = {}
            if sigma >= levels[0]:
                more = {i: 0.8 * v for i, v in controlnet(first, z, hint, t, k, None, unet.SD15).items()}
            if sigma <= levels[1]:
                for i, v in t2i_light(second, hint, (32, 32, 32, 32)).items():
                    more[i] = more.get(i, 0) + 1.5 * v
            out.append(x - sigma * unet.unet(n.at("model.diffusion_model."), z, t, k, None, unet.SD15, more))
        return out[1] + (out[0] - out[1]) * 7.5

    sigmas = schedules.listed(schedules.ksampler(model, "normal", 6, 0))
    r = pipeline.run("euler", 42, sigmas, (1, 4, 12, 16), denoised, False)
    r["latent_comfy"] = r["samples_model_space"] / 0.18215
    pipeline.picture("sd15_tiny_control", vae.decode(n.at("first_stage_model."), r["latent_comfy"], pipeline.WIDTHS, vae.QUANT))
    files.save("e2e/expected/sd15_tiny_control_ref.safetensors", {"latent_comfy": r["latent_comfy"]})
    node = pipeline.node
    pipeline.workflow("sd15_tiny_control", {
        "4": node("CheckpointLoaderSimple", ckpt_name="sd15_tiny.safetensors"),
        "5": node("EmptyLatentImage", width=128, height=96, batch_size=1),
        "6": node("CLIPTextEncode", text=pipeline.CAT, clip=["4", 1]),
        "7": node("CLIPTextEncode", text=pipeline.BLURRY, clip=["4", 1]),
        "10": node("LoadImage", image="control_hint.png"),
        "11": node("ControlNetLoader", control_net_name="control_sd15.safetensors"),
        "12": node("ControlNetApplyAdvanced", positive=["6", 0], negative=["7", 0], control_net=["11", 0],
                   image=["10", 0], strength=0.8, start_percent=0.0, end_percent=0.5),
        "13": node("ControlNetLoader", control_net_name="control_t2i_light.safetensors"),
        "14": node("ControlNetApplyAdvanced", positive=["12", 0], negative=["12", 1], control_net=["13", 0],
                   image=["10", 0], strength=1.5, start_percent=0.1, end_percent=1.0),
        "3": node("KSampler", seed=42, steps=6, cfg=7.5, sampler_name="euler", scheduler="normal", denoise=1.0,
                  model=["4", 0], positive=["14", 0], negative=["14", 1], latent_image=["5", 0]),
        "8": node("VAEDecode", samples=["3", 0], vae=["4", 2]),
        "9": node("SaveImage", filename_prefix="x", images=["8", 0])})


if __name__ == "__main__":
    unets()
    control_lora()
    adapters()
    fluxes()
    sd3_control()
    whole()
