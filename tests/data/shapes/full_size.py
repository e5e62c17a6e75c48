#!/usr/bin/env python3
"""Model files of the real sizes without their data: names and shapes from the lists beside this
file, and by rules.

    full_size.py DIR [DATA]     writes every model below the models folder DIR, and input/p.png;
                                tokenizers are those of DATA
"""
import json
import os
import re
import struct
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"BF16": 2, "F16": 2, "F32": 4, "F8_E4M3": 1, "U8": 1}
F8, BF16 = "F8_E4M3", "BF16"


def shapes(name):
    """{tensor: dimensions} of a list: lines "name  [dims]   N=0..23", N a number in the name."""
    out = {}
    with open(os.path.join(HERE, name + ".txt"), encoding="utf-8") as f:
        for line in f:
            stem, dims, n = re.match(r"(\S+)  \[([^]]*)\](?:   N=(\S+))?$", line).groups()
            dim = [int(d) for d in dims.split(",")]
            first, last = n.split("..") if n else (0, 0)
            for i in range(int(first), int(last) + 1):
                out[stem.replace(".N.", f".{i}.", 1) if n else stem] = dim
    return out


def header(path):
    """The table of a file, and where its data begin."""
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        return json.loads(f.read(n)), 8 + n


def tensor_bytes(path, name):
    table, begin = header(path)
    at, end = table[name]["data_offsets"]
    with open(path, "rb") as f:
        f.seek(begin + at)
        return f.read(end - at)


def write(path, tensors, dtype, data=None):
    """tensors: {name: dimensions}; matrices are dtype, the rest F32 beside 8-bit floats. data:
    {name: bytes} of U8 tensors that have them."""
    table, at, data = {}, 0, data or {}
    for name, dim in tensors.items():
        t = dtype if dtype != F8 or len(dim) == 2 else "F32"
        size = SIZES[t]
        for d in dim:
            size *= d
        table[name] = {"dtype": t, "shape": dim, "data_offsets": [at, at + size]}
        at += size
    places = {}
    for name, values in data.items():
        places[name] = at
        table[name] = {"dtype": "U8", "shape": [len(values)], "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = json.dumps(table).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name, values in data.items():
            f.seek(8 + len(text) + places[name])
            f.write(values)
        f.truncate(8 + len(text) + at)


def lora(tensors, rank):
    """A LoRA on every matrix of the blocks."""
    out = {}
    for name, dim in tensors.items():
        if len(dim) == 2 and re.search(r"\.\d+\.", name) and name.endswith(".weight"):
            stem = "diffusion_model." + name[:-7]
            out[stem + ".lora_down.weight"] = [rank, dim[1]]
            out[stem + ".lora_up.weight"] = [dim[0], rank]
    return out


def vae_kl(z, ch=128, decoder_ch=128, is_flux2=False):
    """AutoencoderKL under its own names: four levels of 1, 2, 4 and 4 times ch."""
    out = {}

    def pair(name, *dim):
        out[name + ".weight"] = list(dim)
        out[name + ".bias"] = [dim[0]]

    def resnet(name, cin, cout):
        pair(name + ".norm1", cin)
        pair(name + ".conv1", cout, cin, 3, 3)
        pair(name + ".norm2", cout)
        pair(name + ".conv2", cout, cout, 3, 3)
        if cin != cout:
            pair(name + ".nin_shortcut", cout, cin, 1, 1)

    def middle(side, c):
        resnet(side + ".mid.block_1", c, c)
        pair(side + ".mid.attn_1.norm", c)
        for leaf in ("q", "k", "v", "proj_out"):
            pair(f"{side}.mid.attn_1.{leaf}", c, c, 1, 1)
        resnet(side + ".mid.block_2", c, c)

    mult = (1, 2, 4, 4)
    pair("encoder.conv_in", ch, 3, 3, 3)
    cin = ch
    for level, m in enumerate(mult):
        for i in range(2):
            resnet(f"encoder.down.{level}.block.{i}", cin, ch * m)
            cin = ch * m
        if level < 3:
            pair(f"encoder.down.{level}.downsample.conv", cin, cin, 3, 3)
    middle("encoder", cin)
    pair("encoder.norm_out", cin)
    pair("encoder.conv_out", 2 * z, cin, 3, 3)
    cin = 4 * decoder_ch
    pair("decoder.conv_in", cin, z, 3, 3)
    middle("decoder", cin)
    for level in (3, 2, 1, 0):
        for i in range(3):
            resnet(f"decoder.up.{level}.block.{i}", cin, decoder_ch * mult[level])
            cin = decoder_ch * mult[level]
        if level:
            pair(f"decoder.up.{level}.upsample.conv", cin, cin, 3, 3)
    pair("decoder.norm_out", cin)
    pair("decoder.conv_out", 3, cin, 3, 3)
    if is_flux2:
        pair("encoder.quant_conv", 2 * z, 2 * z, 1, 1)
        pair("decoder.post_quant_conv", z, z, 1, 1)
        out["bn.running_mean"] = out["bn.running_var"] = [4 * z]
    return out


def vae_wan(d=96, z=16):
    """Wan 2.1's autoencoder: four levels of 1, 2, 4 and 4 times d; time shrinks in two of them."""
    out = {}

    def pair(name, *dim):
        out[name + ".weight"] = list(dim)
        out[name + ".bias"] = [dim[0]]

    def block(name, cin, cout):
        out[name + ".residual.0.gamma"] = [cin, 1, 1, 1]
        pair(name + ".residual.2", cout, cin, 3, 3, 3)
        out[name + ".residual.3.gamma"] = [cout, 1, 1, 1]
        pair(name + ".residual.6", cout, cout, 3, 3, 3)
        if cin != cout:
            pair(name + ".shortcut", cout, cin, 1, 1, 1)

    def ends(side, c, last, cout):
        block(side + ".middle.0", c, c)
        out[side + ".middle.1.norm.gamma"] = [c, 1, 1]
        pair(side + ".middle.1.to_qkv", 3 * c, c, 1, 1)
        pair(side + ".middle.1.proj", c, c, 1, 1)
        block(side + ".middle.2", c, c)
        out[side + ".head.0.gamma"] = [last, 1, 1, 1]
        pair(side + ".head.2", cout, last, 3, 3, 3)

    pair("encoder.conv1", d, 3, 3, 3, 3)
    c, n = d, 0
    for level, m in enumerate((1, 2, 4, 4)):
        for _ in range(2):
            block(f"encoder.downsamples.{n}", c, d * m)
            c, n = d * m, n + 1
        if level < 3:
            pair(f"encoder.downsamples.{n}.resample.1", c, c, 3, 3)
            if level:
                pair(f"encoder.downsamples.{n}.time_conv", c, c, 3, 1, 1)
            n += 1
    ends("encoder", c, c, 2 * z)
    pair("conv1", 2 * z, 2 * z, 1, 1, 1)
    pair("conv2", z, z, 1, 1, 1)
    pair("decoder.conv1", c, z, 3, 3, 3)
    n = 0
    for level, m in enumerate((4, 4, 2, 1)):
        for _ in range(3):
            block(f"decoder.upsamples.{n}", c, d * m)
            c, n = d * m, n + 1
        if level < 3:
            pair(f"decoder.upsamples.{n}.resample.1", c // 2, c, 3, 3)
            if level < 2:
                pair(f"decoder.upsamples.{n}.time_conv", 2 * c, c, 3, 1, 1)
            c, n = c // 2, n + 1
    ends("decoder", 4 * d, c, 3)
    return out


def esrgan(nf=64, blocks=23, grow=32):
    """Real-ESRGAN x4plus: residual blocks of three dense blocks of five convolutions."""
    out = {}

    def conv(name, cin, cout):
        out[name + ".weight"] = [cout, cin, 3, 3]
        out[name + ".bias"] = [cout]

    conv("conv_first", 3, nf)
    for i in range(blocks):
        for k in (1, 2, 3):
            for n in range(5):
                conv(f"body.{i}.rdb{k}.conv{n + 1}", nf + n * grow, grow if n < 4 else nf)
    for name in ("conv_body", "conv_up1", "conv_up2", "conv_hr"):
        conv(name, nf, nf)
    conv("conv_last", nf, 3)
    return out


def png(path, width, height):
    """A grey picture."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x80" * (3 * width)) * height
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        f.write(chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def rows_of(data, encoder):
    """Words that the tokenizers of DATA know of: as many rows as that folder's small encoder has."""
    table = header(os.path.join(data, "models", "text_encoders", encoder + ".safetensors"))[0]
    return table["model.embed_tokens.weight"]["shape"][0]


def encoder(name, data, small):
    out = shapes(name)
    for table in ("model.embed_tokens.weight", "lm_head.weight"):
        if table in out:
            out[table] = [min(out[table][0], rows_of(data, small)), out[table][1]]
    return out


def linear(name, n, c):
    return {name + ".weight": [n, c], name + ".bias": [n]}


def qwen_control(qwen, blocks=5, d=3072):
    """InstantX's ControlNet of Qwen-Image, whose tensors qwen are."""
    kept = tuple(f"transformer_blocks.{i}." for i in range(blocks))
    out = {k: v for k, v in qwen.items() if k.startswith(kept) or
           not k.startswith(("transformer_blocks.", "norm_out.", "proj_out."))}
    out.update(linear("controlnet_x_embedder", d, 64))
    for i in range(blocks):
        out.update(linear(f"controlnet_blocks.{i}", d, d))
    return out


def unet_sd2(ch=320, context=1024, y=4):
    """Stable Diffusion 2's UNet with an embedding of y numbers, as Lotus has it."""
    out, emb = {}, 4 * ch

    def pair(name, *dim):
        out[name + ".weight"] = list(dim)
        out[name + ".bias"] = [dim[0]]

    def resnet(name, cin, cout):
        pair(name + ".in_layers.0", cin)
        pair(name + ".in_layers.2", cout, cin, 3, 3)
        pair(name + ".emb_layers.1", cout, emb)
        pair(name + ".out_layers.0", cout)
        pair(name + ".out_layers.3", cout, cout, 3, 3)
        if cin != cout:
            pair(name + ".skip_connection", cout, cin, 1, 1)

    def transformer(name, c):
        pair(name + ".norm", c)
        for end in ("proj_in", "proj_out"):
            pair(f"{name}.{end}", c, c)
        t = name + ".transformer_blocks.0."
        for attn, of in (("attn1", c), ("attn2", context)):
            out.update({f"{t}{attn}.to_{p}.weight": [c, c if p == "q" else of] for p in "qkv"})
            pair(f"{t}{attn}.to_out.0", c, c)
        for k in (1, 2, 3):
            pair(f"{t}norm{k}", c)
        pair(t + "ff.net.0.proj", 8 * c, c)
        pair(t + "ff.net.2", c, 4 * c)

    for name, c in (("time_embed", ch), ("label_emb.0", y)):
        pair(name + ".0", emb, c)
        pair(name + ".2", emb, emb)
    pair("input_blocks.0.0", ch, 4, 3, 3)
    widths, c, n = [ch], ch, 1
    for level, m in enumerate((1, 2, 4, 4)):
        for _ in range(2):
            resnet(f"input_blocks.{n}.0", c, ch * m)
            c = ch * m
            if level < 3:
                transformer(f"input_blocks.{n}.1", c)
            widths, n = widths + [c], n + 1
        if level < 3:
            pair(f"input_blocks.{n}.0.op", c, c, 3, 3)
            widths, n = widths + [c], n + 1
    resnet("middle_block.0", c, c)
    transformer("middle_block.1", c)
    resnet("middle_block.2", c, c)
    n = 0
    for level, m in ((3, 4), (2, 4), (1, 2), (0, 1)):
        for k in range(3):
            resnet(f"output_blocks.{n}.0", c + widths.pop(), ch * m)
            c = ch * m
            if level < 3:
                transformer(f"output_blocks.{n}.1", c)
            if k == 2 and level:
                pair(f"output_blocks.{n}.{2 if level < 3 else 1}.conv", c, c, 3, 3)
            n += 1
    pair("out.0", c)
    pair("out.2", 4, c, 3, 3)
    return out


def clip_h(layers=24, d=1024):
    """OpenCLIP ViT-H's text model, in Hugging Face's names."""
    t = "text_model."
    out = {t + "embeddings.token_embedding.weight": [49408, d], t + "embeddings.position_embedding.weight": [77, d]}

    def pair(name, *dim):
        out[t + name + ".weight"] = list(dim)
        out[t + name + ".bias"] = [dim[0]]

    for i in range(layers):
        b = f"encoder.layers.{i}."
        for k in (1, 2):
            pair(f"{b}layer_norm{k}", d)
        for p in ("q_proj", "k_proj", "v_proj", "out_proj"):
            pair(f"{b}self_attn.{p}", d, d)
        pair(b + "mlp.fc1", 4 * d, d)
        pair(b + "mlp.fc2", d, 4 * d)
    pair("final_layer_norm", d)
    return out


def qwen_patch(blocks=60, d=3072):
    """DiffSynth's blockwise ControlNet of Qwen-Image."""
    out = linear("img_in", d, 64)
    for i in range(blocks):
        b = f"controlnet_blocks.{i}."
        out.update({b + "x_rms.weight": [d], b + "y_rms.weight": [d]}, **linear(b + "input_proj", d, d),
                   **linear(b + "output_proj", d, d))
    return out


def zimage_fun(z, layers, features):
    """A Fun ControlNet of Z-Image, whose tensors z are; its refiners answer but in version 1, of six layers."""
    d = z["x_embedder.weight"][0]
    out = linear("control_all_x_embedder.2-1", d, features)
    for name, count in (("control_noise_refiner", 2), ("control_layers", layers)):
        for i in range(count):
            out.update({f"{name}.{i}.{k[9:]}": dim for k, dim in z.items() if k.startswith("layers.0.")})
            for proj in ("before_proj",) * (i == 0) + ("after_proj",):
                out.update(linear(f"{name}.{i}.{proj}", d, d) if name == "control_layers" or layers != 6 else {})
    return out


def models(data):
    """{path below a models folder: (tensors, type of matrices, {name: bytes})} of the families that
    the official workflows of 2025 and 2026 use, under their names."""
    qwen, z = shapes("qwen_image"), shapes("z_image")
    dev, mistral = shapes("flux2_dev"), "mistral3_tiny_fp8_e4m3fn"
    lightning = lora(qwen, 64)
    tekken = tensor_bytes(os.path.join(data, "models", "text_encoders", mistral + ".safetensors"),
                          "tekken_model")
    edit_2511 = dict(qwen, __index_timestep_zero__=[1])
    nets, texts = "diffusion_models/", "text_encoders/"
    out = {
        nets + "qwen_image_fp8_e4m3fn": (qwen, F8),
        nets + "qwen_image_2512_fp8_e4m3fn": (qwen, F8),
        nets + "qwen_image_2512_bf16": (qwen, BF16),
        nets + "qwen_image_edit_fp8_e4m3fn": (qwen, F8),
        nets + "qwen_image_edit_2509_fp8_e4m3fn": (qwen, F8),
        nets + "qwen_image_edit_2511_bf16": (edit_2511, BF16),
        nets + "z_image_turbo_bf16": (z, BF16),
        nets + "flux2_dev_fp8mixed": (dev, F8),
        nets + "flux-2-klein-4b": (shapes("flux2_klein_4b"), BF16),
        nets + "flux-2-klein-4b-fp8": (shapes("flux2_klein_4b"), F8),
        nets + "flux/flux-2-klein-base-9b-fp8": (shapes("flux2_klein_9b"), F8),
        texts + "qwen_2.5_vl_7b_fp8_scaled": (encoder("qwen25_vl_7b", data, "qwen_2.5_vl_7b_tiny"), F8),
        texts + "qwen_3_4b": (encoder("qwen3_4b_encoder", data, "qwen3_tiny_fp8_e4m3fn"), BF16),
        texts + "qwen_3_8b_fp8mixed": (encoder("qwen3_8b_encoder", data, "qwen3_tiny_fp8_e4m3fn"), F8),
        texts + "mistral_3_small_flux2_bf16":
            (encoder("mistral3_small_24b_encoder", data, mistral), BF16, {"tekken_model": tekken}),
        "vae/qwen_image_vae": (vae_wan(), BF16),
        "vae/ae": (vae_kl(16), BF16),
        "vae/flux2-vae": (vae_kl(32, is_flux2=True), BF16),
        "vae/full_encoder_small_decoder": (vae_kl(32, decoder_ch=64, is_flux2=True), BF16),
        "upscale_models/RealESRGAN_x4plus": (esrgan(), "F32"),
        "controlnet/Qwen-Image-InstantX-ControlNet-Union": (qwen_control(qwen), BF16),
        nets + "lotus-depth-d-v1-1": (unet_sd2(), BF16),
        texts + "sd2_clip_h": (clip_h(), BF16),
        "vae/vae-ft-mse-840000-ema-pruned": (vae_kl(4), BF16),
        "model_patches/qwen_image_canny_diffsynth_controlnet": (qwen_patch(), BF16),
        "model_patches/Z-Image-Turbo-Fun-Controlnet-Union": (zimage_fun(z, 6, 64), BF16),
        "model_patches/Z-Image-Turbo-Fun-Controlnet-Union-2.1": (zimage_fun(z, 15, 132), BF16),
        "loras/Qwen-Image-Lightning-4steps-V1.0": (lightning, BF16),
        "loras/Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16": (lightning, BF16),
        "loras/Flux_2-Turbo-LoRA_comfyui": (lora(dev, 32), BF16),
    }
    return {path + ".safetensors": v for path, v in out.items()}


def main():
    folder = sys.argv[1]
    data = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(HERE)
    for path, what in models(data).items():
        write(os.path.join(folder, path), *what)
    png(os.path.join(folder, "input", "p.png"), 1024, 1024)


if __name__ == "__main__":
    main()
