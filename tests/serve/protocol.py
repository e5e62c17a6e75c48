#!/usr/bin/env python3
"""What clients of ComfyUI do, against a running `ninodes serve`: protocol.py PORT OUTPUT_DIR INPUT_DIR."""
import base64
import json
import os
import struct
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Http, WebSocket, is_end
from picture import jpeg_size, pixels, png

PORT, OUTPUT, INPUT = int(sys.argv[1]), sys.argv[2], sys.argv[3]
api = Http(PORT)
with open("data/workflows/text_to_image.api.json", encoding="utf-8") as f:
    PROMPT = json.load(f)


def prompt(**values):
    """The demo's workflow, NODE_INPUT=value."""
    p = json.loads(json.dumps(PROMPT))
    for key, value in values.items():
        node, name = key[1:].split("_", 1)
        p[node]["inputs"][name] = value
    return p


def view(name, **query):
    return api.ask("GET", "/view?" + urllib.parse.urlencode({"filename": name, **query}))


def run(p, client, **more):
    """Queues and follows it; (prompt_id, messages, history)."""
    ws = WebSocket(PORT, client)
    first = ws.next()
    assert first["type"] == "status" and first["data"]["sid"] == client, first
    ws.send(json.dumps({"type": "feature_flags", "data": {"supports_preview_metadata": more.pop("metadata", False)}}))
    assert ws.until(lambda m: m["type"] == "feature_flags")[-1]["data"]["supports_preview_metadata"] is True
    answer = api.post("/prompt", {"prompt": p, "client_id": client, **more})
    assert answer["node_errors"] == {} and isinstance(answer["number"], int), answer
    messages = ws.until(lambda m: is_end(m, answer["prompt_id"]))
    ws.close()
    return answer["prompt_id"], messages, api.get("/history/" + answer["prompt_id"]).get(answer["prompt_id"])


def one_run():
    pid, messages, history = run(prompt(n6_seed=11), "client-one", extra_data={"extra_pnginfo": {"workflow": {"nodes": [], "links": [], "version": 0.4, "extra": {"mark": "kept"}}}})
    texts = [m for m in messages if isinstance(m, dict)]
    kinds = [m["type"] for m in texts]
    order = [k for k in kinds if k in ("execution_start", "execution_cached", "executed", "execution_success")]
    assert order == ["execution_start", "execution_cached", "executed", "execution_success"], kinds
    assert [m["data"]["node"] for m in texts if m["type"] == "executing"][-2:] == ["8", None], texts
    steps = [(m["data"]["value"], m["data"]["max"]) for m in texts if m["type"] == "progress" and m["data"]["node"] == "6"]
    assert steps and steps[-1] == (10, 10) and steps == sorted(steps), steps
    state = [m for m in texts if m["type"] == "progress_state"][-1]["data"]["nodes"]
    assert state["6"]["state"] == "finished" and state["6"]["value"] == state["6"]["max"] == 10, state
    assert state["6"]["node_id"] == state["6"]["display_node_id"] == "6" and state["6"]["prompt_id"] == pid
    assert all(m["data"]["prompt_id"] == pid for m in texts if m["type"] in ("execution_start", "executing", "progress", "executed"))
    pictures = [m for m in messages if isinstance(m, bytes)]
    assert pictures and all(struct.unpack(">II", p[:8]) == (1, 1) for p in pictures), "no previews"
    assert all(jpeg_size(p[8:]) == (512, 512) for p in pictures), "previews are enlarged for pages that show them at their own size"
    out = [m for m in texts if m["type"] == "executed"][0]["data"]
    assert out["node"] == "8" and history["outputs"]["8"] == out["output"], (out, history["outputs"])
    assert history["status"]["status_str"] == "success" and history["status"]["completed"] is True
    assert [m[0] for m in history["status"]["messages"]] == ["execution_start", "execution_cached", "execution_success"]
    assert history["prompt"][1] == pid and history["prompt"][2] == prompt(n6_seed=11) and history["prompt"][4] == ["8"]
    assert history["prompt"][3]["client_id"] == "client-one"
    i = out["output"]["images"][0]
    assert i["type"] == "output" and i["subfolder"] == ""
    status, head, data = view(i["filename"], type="output", subfolder="")
    assert status == 200 and head["content-type"] == "image/png"
    with open(os.path.join(OUTPUT, i["filename"]), "rb") as f:
        assert f.read() == data
    assert b"mark" in data, "the file lacks the workflow"
    return i["filename"], data


def previews_with_names():
    pid, messages, _ = run(prompt(n6_seed=12), "client-two", metadata=True)
    p = [m for m in messages if isinstance(m, bytes)][0]
    kind, n = struct.unpack(">II", p[:8])
    meta = json.loads(p[8:8 + n])
    assert kind == 4 and meta["node_id"] == "6" and meta["prompt_id"] == pid and meta["image_type"] == "image/jpeg", meta
    assert jpeg_size(p[8 + n:]) == (512, 512)


def same_again(filename):
    _, messages, history = run(prompt(n6_seed=11), "client-one")
    cached = [m for m in messages if isinstance(m, dict) and m["type"] == "execution_cached"][0]["data"]["nodes"]
    assert "8" in cached, cached
    assert history["outputs"]["8"]["images"][0]["filename"] == filename, history["outputs"]


def views(filename, data):
    w, h, k, rows = pixels(data)
    status, head, small = view(filename, preview="webp;70")
    assert status == 200 and head["content-type"] == "image/webp" and small[8:12] == b"WEBP"
    status, _, rgb = view(filename, channel="rgb")
    assert status == 200 and pixels(rgb)[:3] == (w, h, 3) and pixels(rgb)[3] == [bytes(v for i, v in enumerate(r) if k == 3 or i % 4 < 3) for r in rows]
    status, _, alpha = view(filename, channel="a")
    assert status == 200 and set(pixels(alpha)[3][0][3::4]) == {255}
    status, head, part = api.ask("GET", "/view?filename=" + filename, headers={"Range": "bytes=1-3"})
    assert status == 206 and part == b"PNG" and head["content-range"] == f"bytes 1-3/{len(data)}", (status, head)
    status, head, none = api.ask("HEAD", "/view?filename=" + filename)
    assert status == 200 and none == b"" and head["content-length"] == str(len(data))
    assert view("none.png")[0] == 404
    assert api.ask("GET", "/view")[0] == 400
    for bad in ("../secret", "/etc/passwd", "a/../../b", "..%2f..%2fetc"):
        assert view(bad)[0] in (403, 404), bad
    assert view("x.png", subfolder="..")[0] == 403 and view("x.png", type="models")[0] == 400


def uploads():
    red, blue = png(6, 4, (255, 0, 0, 255)), png(6, 4, (0, 0, 255, 128))
    status, _, text = api.upload("/upload/image", "up load.png", red)
    assert status == 200 and json.loads(text) == {"name": "up load.png", "subfolder": "", "type": "input"}, text
    assert json.loads(api.upload("/upload/image", "up load.png", red)[2])["name"] == "up load.png"
    assert json.loads(api.upload("/upload/image", "up load.png", blue)[2])["name"] == "up load (1).png"
    assert json.loads(api.upload("/upload/image", "up load.png", blue, overwrite="true", subfolder="a/b")[2])["subfolder"] == "a/b"
    assert view("up load.png", type="input", subfolder="a/b")[2] == blue
    assert view("up load.png [input]")[2] == red
    status, _, text = api.upload("/upload/mask", "masked.png", blue, original_ref=json.dumps({"filename": "up load.png", "type": "input"}))
    assert status == 200, text
    assert pixels(view("masked.png", type="input")[2])[3][0][:4] == bytes((255, 0, 0, 128))
    for name, fields in (("../x.png", {}), ("x.png", {"subfolder": "../.."}), ("x.png", {"type": "models"}), ("", {})):
        assert api.upload("/upload/image", name, red, **fields)[0] == 400, (name, fields)
    assert api.ask("POST", "/upload/image", b"nonsense", {"Content-Type": "multipart/form-data; boundary=x"})[0] == 400
    assert "up load.png" in api.get("/object_info/LoadImage")["LoadImage"]["input"]["required"]["image"][0]


def errors():
    def refused(p, **more):
        return api.post("/prompt", {"prompt": p, **more}, 400)

    e = api.post("/prompt", {}, 400)
    assert e["error"]["type"] == "no_prompt" and e["node_errors"] == {}
    e = refused({"1": {"class_type": "NoSuchNode", "inputs": {}}})
    assert e["error"]["type"] == "missing_node_type" and "#1" in e["error"]["details"], e
    e = refused(prompt(n6_steps=0))
    n = e["node_errors"]["6"]
    assert e["error"]["type"] == "prompt_outputs_failed_validation" and n["class_type"] == "KSampler", e
    assert n["errors"][0]["type"] == "value_smaller_than_min" and n["errors"][0]["extra_info"]["input_name"] == "steps", n
    assert refused(prompt(n6_steps=99999))["node_errors"]["6"]["errors"][0]["type"] == "value_bigger_than_max"
    assert refused(prompt(n6_sampler_name="no"))["node_errors"]["6"]["errors"][0]["type"] == "value_not_in_list"
    assert refused(prompt(n1_ckpt_name="no.safetensors"))["node_errors"]["1"]["errors"][0]["type"] == "value_not_in_list"
    p = prompt()
    del p["7"]["inputs"]["samples"]
    assert refused(p)["node_errors"]["7"]["errors"][0]["type"] == "required_input_missing"
    assert refused(prompt(n7_samples=["1", 0]))["node_errors"]["7"]["errors"][0]["type"] == "return_type_mismatch"
    p = prompt(n6_steps=0, n1_ckpt_name="no.safetensors")
    assert set(refused(p)["node_errors"]) == {"1", "6"}
    p = prompt()
    del p["8"]
    assert refused(p)["error"]["type"] == "prompt_no_outputs"
    assert refused(prompt(), prompt_id="no spaces")["error"]["type"] == "invalid_prompt_id"
    status, _, text = api.ask("POST", "/prompt", b"{")
    assert status == 400 and json.loads(text)["error"]["type"] == "invalid_json", text
    assert api.ask("GET", "/nothing")[0] == 404 and api.ask("POST", "/nothing", b"{}")[0] == 404
    assert api.ask("PUT", "/queue", b"{}")[0] == 405


def queueing():
    slow = prompt(n6_steps=1000, n5_width=256, n5_height=256)
    ids = [api.post("/prompt", {"prompt": {**slow, "6": {**slow["6"], "inputs": {**slow["6"]["inputs"], "seed": i}}},
                                "client_id": "q", "prompt_id": f"own-{i}"})["prompt_id"] for i in range(3)]
    assert ids == ["own-0", "own-1", "own-2"]
    assert api.post("/prompt", {"prompt": slow, "prompt_id": "own-1"}, 400)["error"]["type"] == "invalid_prompt_id"
    front = api.post("/prompt", {"prompt": prompt(n6_seed=900), "front": True})
    assert front["number"] < 0

    def when(done):
        for _ in range(600):
            q = api.get("/queue")
            if done(q):
                return q
            time.sleep(0.05)
        raise AssertionError(q)

    q = when(lambda q: q["queue_running"] and len(q["queue_pending"]) == 3)
    assert q["queue_running"][0][1] == "own-0" and [p[1] for p in q["queue_pending"]] == [front["prompt_id"], "own-1", "own-2"]
    assert q["queue_pending"][1][2]["6"]["inputs"]["seed"] == 1 and q["queue_pending"][1][4] == ["8"]
    assert api.get("/prompt")["exec_info"]["queue_remaining"] == 4
    api.post("/queue", {"delete": ["own-1"]})
    when(lambda q: [p[1] for p in q["queue_pending"]] == [front["prompt_id"], "own-2"])
    ws = WebSocket(PORT, "q")
    first = ws.until(lambda m: isinstance(m, dict) and m["type"] == "executing")[-1]  # who comes late is told where it is
    assert first["data"]["prompt_id"] == "own-0", first
    api.post("/queue", {"clear": True})
    when(lambda q: not q["queue_pending"])
    api.post("/interrupt", {"prompt_id": "own-2"})  # it does not run: nothing happens
    api.post("/interrupt", {})
    m = ws.until(is_end)
    stop = [x for x in m if isinstance(x, dict) and x["type"] == "execution_interrupted"][0]["data"]
    assert stop["prompt_id"] == "own-0" and stop["node_id"] == "6" and stop["node_type"] == "KSampler", stop
    ws.close()
    when(lambda q: not q["queue_running"])
    h = api.get("/history/own-0")["own-0"]
    assert h["status"]["completed"] is False and h["status"]["messages"][-1][0] == "execution_interrupted"
    api.post("/free", {"unload_models": True, "free_memory": True})
    api.post("/history", {"delete": ["own-0"]})
    for _ in range(100):
        if not api.get("/history/own-0"):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the history keeps what was deleted")


def jobs():
    """The list of newer frontends: one form for what has run, runs and waits."""
    done = api.get("/api/jobs?status=completed&limit=2&sort_order=asc")
    assert len(done["jobs"]) == 2 and done["pagination"] == {"offset": 0, "limit": 2, "total": done["pagination"]["total"], "has_more": done["pagination"]["total"] > 2}, done
    first = done["jobs"][0]
    assert first["status"] == "completed" and first["create_time"] <= first["execution_start_time"] <= first["execution_end_time"], first
    assert first["outputs_count"] == first["previewable_outputs_count"] == 1 and first["preview_output"]["nodeId"] == "8", first
    assert first["preview_output"]["mediaType"] == "images" and first["preview_output"]["type"] == "output" and first["preview_output"]["filename"].endswith(".png")
    full = api.get("/jobs/" + first["id"])
    assert full["outputs"] == api.get("/history/" + first["id"])[first["id"]]["outputs"] and full["workflow"]["prompt"]["6"]["class_type"] == "KSampler", full
    assert full["execution_status"]["status_str"] == "success" and full["workflow"]["extra_data"]["client_id"] == "client-one"
    times = [j["create_time"] for j in api.get("/jobs")["jobs"]]
    assert times == sorted(times, reverse=True) and api.get("/jobs?offset=1")["pagination"]["limit"] is None
    for bad in ("status=lost", "sort_by=x", "sort_order=up", "limit=0", "limit=x", "offset=x"):
        status, _, text = api.ask("GET", "/jobs?" + bad)
        assert status == 400 and json.loads(text)["error"], bad
    assert api.ask("GET", "/jobs/none")[0] == api.ask("POST", "/jobs/x/stop", b"{}")[0] == 404

    slow = prompt(n6_steps=10000, n6_seed=31)
    named = {"extra_pnginfo": {"workflow": {"id": "of-the-editor"}}}
    for i in ("job-0", "job-1", "job-2"):
        slow["6"]["inputs"]["seed"] += 1
        api.post("/prompt", {"prompt": slow, "prompt_id": i, "extra_data": named, "partial_execution_targets": ["8"]})

    def states():
        return {j["id"]: j["status"] for j in api.get("/jobs?workflow_id=of-the-editor")["jobs"]}

    def until(want):
        for _ in range(400):
            if states() == want:
                return
            time.sleep(0.05)
        raise AssertionError((states(), want))

    until({"job-0": "in_progress", "job-1": "pending", "job-2": "pending"})
    assert {j["id"] for j in api.get("/jobs?status=in_progress,pending")["jobs"]} == {"job-0", "job-1", "job-2"}
    assert api.post("/jobs/cancel", {"job_ids": ["job-1", "none"]}) == {"cancelled": True}
    assert api.post("/jobs/job-2/cancel", {}) == api.post("/jobs/job-0/cancel", {}) == {"cancelled": True}
    until({"job-0": "cancelled"})
    assert api.post("/jobs/job-0/cancel", {}) == {"cancelled": False} and api.post("/jobs/cancel", {"job_ids": "job-0"}, 400)["error"]
    failed = api.get("/jobs?status=failed")["jobs"]
    assert failed and failed[0]["execution_error"]["node_type"] == "LoadImage" and failed[0]["execution_error"]["exception_message"], failed
    api.post("/history", {"delete": ["job-0"]})


def parts():
    """Of a prompt with targets only what they need; notes that a page does not know."""
    p = {"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": 1}},
         "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "left"}},
         "3": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": 2}},
         "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "right"}}, "5": {"inputs": {}, "_meta": {"title": "a note"}}}
    _, _, history = run(p, "parts", partial_execution_targets=["4"])
    assert list(history["outputs"]) == ["4"] and list(history["prompt"][2]) == ["3", "4"], history
    _, _, history = run(p, "parts")
    assert set(history["outputs"]) == {"2", "4"} and list(history["prompt"][2]) == ["1", "2", "3", "4"], history
    assert api.post("/prompt", {"prompt": p, "partial_execution_targets": ["1"]}, 400)["error"]["type"] == "prompt_no_outputs"
    p["5"]["inputs"]["x"] = 1
    assert api.post("/prompt", {"prompt": p}, 400)["error"]["type"] == "invalid_prompt"


def at_start():
    """What the pages of 2024 to 2026 ask for before anybody does anything."""
    for path in ("/userdata?dir=workflows&recurse=true&split=false&full_info=true", "/userdata?dir=subgraphs", "/templates/index.json"):
        assert api.get(path) == [], path
    assert api.ask("GET", "/userdata?dir=nothing")[0] == api.ask("GET", "/userdata/comfy.templates.json")[0] == 404
    for path in ("/user.css", "/api/userdata/user.css"):
        status, head, text = api.ask("GET", path)
        assert status == 200 and head["content-type"].startswith("text/css") and not text, (path, head)
    status, head, text = api.ask("GET", "/favicon.ico")
    assert status == 200 and head["content-type"] == "image/svg+xml" and b"<svg" in text
    assert api.get("/internal/logs") == "" and api.get("/internal/logs/raw")["entries"] == []
    assert api.ask("PATCH", "/internal/logs/subscribe", b"{}")[0] == 200
    files = api.get("/internal/files/input")
    assert files and all(f.endswith(" [input]") for f in files) and api.ask("GET", "/internal/files/models")[0] == 400
    folders = api.get("/internal/folder_paths")
    kinds = {k["name"]: k for k in api.get("/experiment/models")}
    assert folders["vae"] == kinds["vae"]["folders"] and ".safetensors" in kinds["vae"]["extensions"]
    m = api.get("/experiment/models/checkpoints")[0]
    assert m["name"] == "demo_flux.safetensors" and os.path.getsize(os.path.join(kinds["checkpoints"]["folders"][m["pathIndex"]], m["name"])) == m["size"]
    assert api.get("/features")["assets"] is False and api.get("/global_subgraphs") == {} and api.get("/global_subgraphs/x") is None
    for method, path in (("GET", "/api/assets?limit=1"), ("POST", "/api/assets"), ("GET", "/api/assets/x"), ("GET", "/api/tags")):
        status, _, text = api.ask(method, path, b"{}")
        assert status == 503 and json.loads(text)["error"]["code"] == "SERVICE_DISABLED", path
    assert api.post("/users", {"username": "me"}, 400)["error"]
    assert api.get("/node_replacements") == {} and api.get("/workflow_templates") == {}
    for path in ("vae?filename=none.safetensors", "vae", "nothing?filename=x", "vae?filename=../vae/x"):
        assert api.ask("GET", "/view_metadata/" + path)[0] == 404, path


def in_part():
    """What has no error runs; what has one is told beside the number, with the outputs that are not made for it."""
    p = {**prompt(n6_steps=2, n6_seed=41), "20": {"class_type": "SaveImage", "inputs": {"images": ["99", 0], "filename_prefix": "b"}},
         "21": {"class_type": "ImageInvert", "inputs": {"image": ["7", 0], "no": 1}}, "22": {"class_type": "ImageScale", "inputs": {"image": ["21", 0], "width": -5}},
         "23": {"class_type": "PreviewImage", "inputs": {"images": ["22", 0]}}, "24": {"class_type": "SaveImage", "inputs": {"images": ["22", 0], "filename_prefix": "c"}}}
    answer = api.post("/prompt", {"prompt": p, "client_id": "part", "prompt_id": "in-part"})
    assert set(answer["node_errors"]) == {"20", "22"} and answer["prompt_id"] == "in-part", answer
    wrong = answer["node_errors"]["22"]
    assert wrong["dependent_outputs"] == ["23", "24"] and wrong["errors"][0]["extra_info"]["input_name"] == "width", wrong
    for _ in range(600):
        if api.get("/history/in-part"):
            break
        time.sleep(0.05)
    history = api.get("/history/in-part")["in-part"]
    assert list(history["outputs"]) == ["8"] and history["status"]["completed"] is True and history["prompt"][4] == ["8"], history
    answer = api.post("/prompt", {"prompt": p, "partial_execution_targets": ["23"]}, 400)
    assert answer["error"]["type"] == "prompt_outputs_failed_validation" and answer["node_errors"]["22"]["dependent_outputs"] == ["23"], answer
    p["8"]["inputs"]["images"] = ["98", 0]
    answer = api.post("/prompt", {"prompt": p}, 400)
    assert set(answer["node_errors"]) == {"8", "20", "22"} and answer["node_errors"]["8"]["dependent_outputs"] == ["8"], answer


def always_somewhere():
    """From the answer on a prompt is in the queue or in the history, whenever one looks: clients that poll see it end."""
    for seed in range(8):
        pid = api.post("/prompt", {"prompt": {"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": seed}},
                                              "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "some"}}}})["prompt_id"]
        q = api.get("/queue")
        while pid in [p[1] for p in q["queue_running"] + q["queue_pending"]]:
            q = api.get("/queue")
        assert api.get("/history/" + pid), f"prompt {seed} is neither in the queue nor in the history"


def failing():
    p = {"1": {"class_type": "LoadImage", "inputs": {"image": "broken.png"}}, "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "x"}}}
    with open(os.path.join(INPUT, "broken.png"), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\nnothing")
    _, messages, history = run(p, "fails")
    e = [m for m in messages if isinstance(m, dict) and m["type"] == "execution_error"][0]["data"]
    assert e["node_id"] == "1" and e["node_type"] == "LoadImage" and e["traceback"] == [], e
    assert e["exception_message"].startswith("broken.png: "), e  # the node stands beside it
    assert history["status"]["status_str"] == "error" and history["status"]["messages"][-1][0] == "execution_error"


def classes():
    info = api.get("/object_info")
    k = info["KSampler"]
    assert k["input"]["required"]["model"][0] == "MODEL" and k["output"] == ["LATENT"] and k["output_is_list"] == [False]
    assert k["input"]["required"]["seed"][1]["max"] == 18446744073709551615 and k["input"]["required"]["seed"][1]["control_after_generate"] is True
    assert "euler" in k["input"]["required"]["sampler_name"][0] and k["input_order"]["required"][0] == "model"
    assert info["CheckpointLoaderSimple"]["input"]["required"]["ckpt_name"][0] == ["demo_flux.safetensors"]
    assert info["SaveImage"]["output_node"] is True and k["output_node"] is False
    assert info["LoadImage"]["input"]["required"]["image"][1]["image_upload"] is True
    for name, c in info.items():
        assert c["name"] == name and set(c["input"]) == {"required", "optional"} and len(c["output"]) == len(c["output_name"]) == len(c["output_is_list"])
        for side in ("required", "optional"):
            assert c["input_order"][side] == list(c["input"][side]), name
    assert api.get("/api/object_info/KSampler") == {"KSampler": k} and api.get("/object_info/Nothing") == {}
    assert api.get("/models/checkpoints") == ["demo_flux.safetensors"] and "loras" in api.get("/models")
    assert api.ask("GET", "/models/nothing")[0] == 404 and api.get("/embeddings") == []
    s = api.get("/system_stats")
    assert s["devices"][0]["vram_total"] > 0 and s["system"]["ram_total"] > 0
    assert api.get("/features")["supports_preview_metadata"] is True
    assert api.get("/extensions") == [] and api.get("/users")["storage"] == "server" and api.get("/i18n") == {}
    status, head, text = api.ask("GET", "/metrics")
    assert status == 200 and head["content-type"].startswith("application/openmetrics-text") and text.endswith(b"# EOF\n")
    assert b'ninodes_queue_jobs{state="done"}' in text and b"ninodes_node_seconds_total" in text
    status, head, text = api.ask("GET", "/")
    assert status == 200 and b"<title>ninodes</title>" in text and "frame-ancestors" in head["content-security-policy"]


def user_files():
    api.post("/settings", {"a.b": 1, "c": {"d": [True]}})
    api.post("/settings/a.b", 2)
    assert api.get("/settings")["a.b"] == 2 and api.get("/settings/c") == {"d": [True]} and api.get("/settings/none") is None
    assert api.ask("GET", "/userdata/workflows%2Fx.json")[0] == 404
    assert api.post("/userdata/workflows%2Fx.json?overwrite=false", {"nodes": []}) == "workflows/x.json"
    assert api.ask("POST", "/userdata/workflows%2Fx.json?overwrite=false", b"{}")[0] == 409
    assert api.get("/userdata/workflows%2Fx.json") == {"nodes": []}
    assert api.get("/userdata?dir=workflows") == ["x.json"]
    full = api.get("/userdata?dir=workflows&recurse=true&split=false&full_info=true")
    assert full[0]["path"] == "x.json" and full[0]["size"] == 13, full
    assert api.get("/v2/userdata?path=workflows")[0]["path"] == "workflows/x.json"
    assert api.post("/userdata/workflows%2Fx.json/move/workflows%2Fy.json", {}) == "workflows/y.json"
    assert api.ask("DELETE", "/userdata/workflows%2Fy.json")[0] == 204 and api.get("/userdata?dir=workflows") == []
    for bad in ("..%2Fsettings.json", "a%2F..%2F..%2Fb", "a%2F%5Cb"):
        assert api.ask("GET", "/userdata/" + bad)[0] in (403, 404), bad
        assert api.ask("POST", "/userdata/" + bad, b"x")[0] in (403, 404), bad


def images():
    a = api.post("/v1/images/generations", {"prompt": "a green star", "n": 2, "size": "64x96", "response_format": "b64_json", "seed": 5})
    assert len(a["data"]) == 2 and all(pixels(base64.b64decode(d["b64_json"]))[:2] == (64, 96) for d in a["data"])
    b = api.post("/v1/images/generations", {"prompt": "a green star", "n": 2, "size": "64x96", "response_format": "b64_json", "seed": 5})
    assert [pixels(base64.b64decode(d["b64_json"])) for d in a["data"]] == [pixels(base64.b64decode(d["b64_json"])) for d in b["data"]]
    u = api.post("/v1/images/generations", {"prompt": "a blue square"})["data"][0]["url"]
    at = urllib.parse.urlsplit(u)
    assert at.netloc == f"127.0.0.1:{PORT}" and api.ask("GET", f"{at.path}?{at.query}")[2][:4] == b"\x89PNG"
    assert api.get("/v1/models")["data"][0]["id"] == "text_to_image.json"
    for bad in ({}, {"prompt": "x", "n": 0}, {"prompt": "x", "size": "big"}, {"prompt": "x", "response_format": "tiff"}, {"prompt": "x", "size": "7x7"}):
        e = api.post("/v1/images/generations", bad, 400)
        assert e["error"]["message"], e


def fifty():
    """All see the whole of one run; one that never reads is in nobody's way."""
    sockets = [WebSocket(PORT, f"w{i}") for i in range(50)]
    deaf = [WebSocket(PORT, f"deaf{i}") for i in range(5)]
    seen = [None] * len(sockets)

    def watch(i):
        seen[i] = sockets[i].until(lambda m: is_end(m, "fifty"))

    threads = [threading.Thread(target=watch, args=(i,)) for i in range(len(sockets))]
    for t in threads:
        t.start()
    api.post("/prompt", {"prompt": prompt(n6_seed=77, n6_steps=20), "prompt_id": "fifty"})
    for t in threads:
        t.join(60)
    for messages in seen:
        assert messages, "a watcher saw no end"
        kinds = [m["type"] for m in messages if isinstance(m, dict)]
        assert "execution_start" in kinds and "executed" in kinds and "execution_success" in kinds, kinds
    for ws in sockets + deaf:
        ws.close()


def main():
    name, data = one_run()
    for part in (previews_with_names, lambda: same_again(name), lambda: views(name, data), uploads, errors, in_part, queueing, always_somewhere, failing, jobs, parts, at_start, classes, user_files,
                 images, fifty):
        part()
    print("ok")


main()
