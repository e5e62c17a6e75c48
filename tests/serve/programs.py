#!/usr/bin/env python3
"""Programs that take pictures without a file, and hand some over without one: programs.py PORT OUTPUT_DIR.

ComfyUI's own second example (SaveImageWebsocket), painting programs (the external tooling extension), clips and sounds under the names
that bots look for."""
import base64
import json
import os
import struct
import sys
import urllib.parse
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Http, WebSocket, is_end
from picture import pixels, png

PORT, OUTPUT = int(sys.argv[1]), sys.argv[2]
api = Http(PORT)


def run(p, client, says=None):
    """(messages, history) of a prompt whose previews and results come to this client."""
    ws = WebSocket(PORT, client)
    if says:
        ws.send(json.dumps({"type": "feature_flags", "data": says}))
    pid = api.post("/prompt", {"prompt": p, "client_id": client})["prompt_id"]
    messages = ws.until(lambda m: is_end(m, pid))
    ws.close()
    return messages, api.get("/history/" + pid)[pid]


def of_type(messages, kind):
    return [m["data"] for m in messages if isinstance(m, dict) and m["type"] == kind]


def sampled(save, seed, **inputs):
    with open("data/workflows/text_to_image.api.json", encoding="utf-8") as f:
        p = json.load(f)
    p["6"]["inputs"]["seed"] = seed
    p["9"] = {"class_type": save, "inputs": {"images": ["7", 0], **inputs}}
    return p


def example():
    """What arrives while the node runs that sends it is the picture, and nothing else is: as ComfyUI's example takes it. Twice: it is
    never taken from the cache."""
    for seed in (501, 501):
        messages, history = run(sampled("SaveImageWebsocket", seed), "example")
        current, got = None, []
        for m in messages:
            if isinstance(m, dict) and m["type"] == "executing":
                current = m["data"]["node"]
            elif isinstance(m, bytes) and current == "9":
                got.append(m)
        assert len(got) == 1 and struct.unpack(">II", got[0][:8]) == (1, 2), [m for m in messages if isinstance(m, dict)]
        with open(os.path.join(OUTPUT, history["outputs"]["8"]["images"][0]["filename"]), "rb") as f:
            assert pixels(got[0][8:]) == pixels(f.read()), "another picture than the file"
        assert list(history["outputs"]) == ["8"], history["outputs"]
    p = {"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 2, "color": 7}}, "2": {"class_type": "SaveImageWebsocket", "inputs": {"images": ["1", 0]}}}
    messages, _ = run(p, "example")
    assert len([m for m in messages if isinstance(m, bytes)]) == 2
    api.post("/prompt", {"prompt": p})  # the queue tells once more of the one before
    assert [h["outputs"] for h in api.get("/history").values()].count({}) >= 1 and not any("" in h["outputs"] for h in api.get("/history").values())
    messages, _ = run(sampled("SaveImageWebsocket", 502), "example", {"supports_preview_metadata": True})
    last = [m for m in messages if isinstance(m, bytes)][-1]
    kind, n = struct.unpack(">II", last[:8])
    meta = json.loads(last[8:8 + n])
    assert kind == 4 and meta["node_id"] == "9" and meta["image_type"] == "image/png" and last[8 + n:12 + n] == b"\x89PNG", meta


def painting():
    """A painting program sends a picture by an id, and asks for the result by one. It takes every PNG that comes for a result."""
    red, name = png(6, 4, (255, 0, 51, 128)), uuid.uuid4().hex + "-b_C"  # the folder is that of all servers of this user
    put = lambda i, data: api.ask("PUT", "/api/etn/image/" + i, data, {"Content-Type": "image/png"})
    status, _, text = put(name, red)
    assert status == 201 and json.loads(text) == {"status": "success"}, (status, text)
    status, _, text = put(name, b"another")
    assert status == 200 and json.loads(text) == {"status": "cached"}, (status, text)
    assert api.ask("GET", "/api/etn/image/" + name)[2] == red
    for bad in ("..%2Fx", "a%2Fb", "a.png", "%00"):
        assert put(bad, red)[0] in (400, 403, 404), bad
    assert put("empty", b"")[0] == 400 and api.ask("PUT", "/etn/image/x", red)[0] in (404, 405)
    for bad in ("none", "..%2F..%2Fetc%2Fpasswd", "sent%2F" + name):
        assert api.ask("GET", "/api/etn/image/" + bad)[0] == 404, bad
    p = {"1": {"class_type": "ETN_LoadImageCache", "inputs": {"id": name}}, "2": {"class_type": "ETN_SaveImageCache", "inputs": {"images": ["1", 0], "format": "PNG"}},
         "3": {"class_type": "MaskToImage", "inputs": {"mask": ["1", 1]}}, "4": {"class_type": "ETN_SaveImageCache", "inputs": {"images": ["3", 0], "format": "JPEG"}}}
    messages, _ = run(p, "painter")
    out = {d["node"]: d["output"]["images"][0] for d in of_type(messages, "executed")}
    assert out["2"]["source"] == "http" and out["2"]["content-type"] == "image/png" and out["4"]["content-type"] == "image/jpeg", out
    status, head, data = api.ask("GET", "/api/etn/image/" + out["2"]["id"])
    assert status == 200 and head["content-type"] == "image/png" and set(pixels(data)[3]) == {bytes((255, 0, 51)) * 6}
    assert api.ask("GET", "/api/etn/image/" + out["4"]["id"])[2][:2] == b"\xff\xd8"
    assert not [m for m in messages if isinstance(m, bytes)]
    again, _ = run(p, "painter")  # what is kept is told anew
    assert [d["output"]["images"][0]["id"] for d in of_type(again, "executed") if d["node"] == "2"] == [out["2"]["id"]]
    messages, _ = run(sampled("ETN_SaveImageCache", 503, format="PNG"), "painter")
    pictures = [m for m in messages if isinstance(m, bytes)]
    assert pictures and all(m[:8] == struct.pack(">II", 1, 1) and m[8:10] == b"\xff\xd8" for m in pictures), "a preview that looks like a result"
    missing = {**p, "1": {"class_type": "ETN_LoadImageCache", "inputs": {"id": "never-sent"}}}
    assert of_type(run(missing, "painter")[0], "execution_error")[0]["node_id"] == "1"


def in_the_prompt():
    """Pictures as text in the workflow; the result by the socket."""
    text = base64.b64encode(png(5, 3, (10, 20, 30, 51))).decode()
    p = {"1": {"class_type": "ETN_LoadImageBase64", "inputs": {"image": "data:image/png;base64," + text}}, "2": {"class_type": "ETN_LoadMaskBase64", "inputs": {"mask": text}},
         "3": {"class_type": "MaskToImage", "inputs": {"mask": ["1", 1]}}, "4": {"class_type": "MaskToImage", "inputs": {"mask": ["2", 0]}},
         "5": {"class_type": "ImageBatch", "inputs": {"image1": ["1", 0], "image2": ["3", 0]}}, "6": {"class_type": "ImageBatch", "inputs": {"image1": ["5", 0], "image2": ["4", 0]}},
         "7": {"class_type": "ETN_SendImageWebSocket", "inputs": {"images": ["6", 0], "format": "PNG"}}}
    messages, history = run(p, "bot")
    sent = [pixels(m[8:]) for m in messages if isinstance(m, bytes)]
    assert [s[3][0][:3] for s in sent] == [bytes((10, 20, 30)), bytes((51,)) * 3, bytes((10,)) * 3], sent
    assert [i["source"] for i in history["outputs"]["7"]["images"]] == ["websocket"] * 3
    p["7"]["inputs"]["format"] = "JPEG"
    messages, _ = run(p, "bot")
    assert [m[:10] for m in messages if isinstance(m, bytes)] == [struct.pack(">II", 1, 1) + b"\xff\xd8"] * 3
    p["1"]["inputs"]["image"] = "no base64!"
    assert of_type(run(p, "bot")[0], "execution_error")[0]["node_type"] == "ETN_LoadImageBase64"


def model_families():
    info = api.get("/api/etn/model_info/checkpoints")
    assert info == {"demo_flux.safetensors": {"base_model": "flux", "is_inpaint": False}} == api.get("/api/etn/model_info"), info
    paged = api.get("/api/etn/model_info/checkpoints?offset=1&limit=8")
    assert paged == {"_meta": {"offset": 1, "count": 0, "total": 1}}, paged
    assert api.ask("GET", "/api/etn/model_info/nothing")[0] == 400 and api.get("/api/etn/languages") == []
    assert api.post("/api/etn/workflow/subscribe", {"client_id": "x"}) == {}


def clips_and_sounds():
    p = {"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16, "batch_size": 3, "color": 255}},
         "2": {"class_type": "VHS_VideoCombine", "inputs": {"images": ["1", 0], "frame_rate": 8, "loop_count": 0, "filename_prefix": "clip", "format": "video/h264-mp4",
                                                           "pingpong": False, "save_output": True}},
         "3": {"class_type": "EmptyAudio", "inputs": {"duration": 0.1, "sample_rate": 8000, "channels": 1}},
         "4": {"class_type": "SaveAudio", "inputs": {"audio": ["3", 0], "filename_prefix": "sound"}}}
    _, history = run(p, "clips")
    gif = history["outputs"]["2"]["gifs"][0]
    assert gif["filename"].startswith("clip") and gif["format"] == "video/mp4" and gif["type"] == "output", history["outputs"]
    assert history["outputs"]["2"]["images"][0]["filename"] == gif["filename"] and history["outputs"]["2"]["animated"] == [True]
    sound = history["outputs"]["4"]["audio"][0]
    assert sound["filename"].endswith(".flac") and "images" not in history["outputs"]["4"], history["outputs"]
    status, head, data = api.ask("GET", "/view?" + urllib.parse.urlencode(sound))
    assert status == 200 and head["content-type"] == "audio/flac" and data[:4] == b"fLaC"


def unchanged():
    """A file that a client has already is not sent again."""
    name = next(n for n in sorted(os.listdir(OUTPUT)) if n.endswith(".png"))
    path = "/view?filename=" + urllib.parse.quote(name)
    _, head, whole = api.ask("GET", path)
    status, again, none = api.ask("GET", path, headers={"If-None-Match": head["etag"]})
    assert status == 304 and none == b"" and again["etag"] == head["etag"]
    assert api.ask("GET", path, headers={"If-None-Match": '"0-0-0"'})[2] == whole
    status, head, jpeg = api.ask("GET", path + "&preview=jpeg;60")
    assert status == 200 and head["content-type"] == "image/jpeg" and jpeg[:2] == b"\xff\xd8"
    assert api.ask("GET", path + "&preview=jpeg&channel=a")[1]["content-type"] == "image/webp"


for part in (example, painting, in_the_prompt, model_families, clips_and_sounds, unchanged):
    part()
print("ok")
