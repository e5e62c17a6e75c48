// Three published clients of ComfyUI's interface, as their users write programs with them. Run where they are installed:
//   node clients.mjs URL PROMPT.json OUTPUT_FOLDER INPUT_FOLDER [TOKEN]
// A client has its own idea of what the server says, and in which order: what it makes of that is what is checked.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import WebSocket from "ws";
import { ComfyUIClient } from "comfy-ui-client";
import { Client } from "@stable-canvas/comfyui-client";
import { CallWrapper, ComfyApi, PromptBuilder } from "@saintno/comfyui-sdk";

const [url, file, outputs, inputs, token] = process.argv.slice(2);
const prompt = JSON.parse(fs.readFileSync(file, "utf8"));
prompt[6].inputs.steps = 60; // clients look at what comes once they know the prompt's id: it is not to be over by then
const bytes = async (blob) => Buffer.from(await blob.arrayBuffer());

async function stableCanvas() {
    const client = new Client({ api_host: new URL(url).host, WebSocket, fetch });
    await client.connect();
    const stats = await client.getSystemStats();
    assert.ok(stats.devices.length >= 1 && stats.devices[0].vram_total > 0);
    assert.ok((await client.getSamplers()).includes("euler"));
    assert.deepEqual(await client.getSDModels(), ["demo_flux.safetensors"]);
    assert.ok("KSampler" in (await client.getNodeDefs()));

    const steps = [];
    const done = await client.enqueue(prompt, { progress: ({ value, max }) => steps.push(`${value}/${max}`) });
    assert.equal(steps.at(-1), "60/60");
    const pictures = done.images.filter((i) => i.type === "url");
    assert.equal(pictures.length, 1);
    const shown = await bytes(await (await fetch(pictures[0].data)).blob());
    const name = new URL(pictures[0].data).searchParams.get("filename");
    assert.ok(shown.equals(fs.readFileSync(path.join(outputs, name))), "another picture than the file");
    const previews = done.images.filter((i) => i.type === "buff");
    assert.ok(previews.length >= 1 && previews.every((i) => i.data.byteLength > 100 && i.mime.startsWith("image/")));

    const polled = await client.enqueue_polling({ ...prompt, 6: { ...prompt[6], inputs: { ...prompt[6].inputs, seed: 11 } } });
    assert.equal(polled.images.length, 1);
    const { History } = await client.getHistory();
    assert.equal(History.length, 2);

    const bad = { 1: { class_type: "SaveImage", inputs: { filename_prefix: "x" } } };
    await assert.rejects(client.enqueue(bad), (e) => {
        assert.equal(e.status, 400);
        assert.equal(e.json.node_errors["1"].errors[0].type, "required_input_missing");
        return true;
    });
    client.close();
}

async function saintno() {
    const credentials = token ? { credentials: { type: "bearer_token", token } } : {};
    const api = new ComfyApi(new URL(url).origin, undefined, credentials);
    const heard = new Promise((resolve) => api.on("status", resolve, { once: true })); // it is ready before its socket is
    api.init();
    await api.waitForReady();
    await heard;
    assert.deepEqual(await api.getCheckpoints(), ["demo_flux.safetensors"]);
    assert.ok((await api.getSamplerInfo()).sampler[0].includes("euler"));

    const builder = new PromptBuilder(prompt, ["text", "seed"], ["images"])
        .setInputNode("text", "3.inputs.text")
        .setInputNode("seed", "6.inputs.seed")
        .setOutputNode("images", "8")
        .input("text", "a blue square")
        .input("seed", 4);
    const seen = { pending: 0, start: 0, progress: 0, preview: 0, finished: 0 };
    const result = await new CallWrapper(api, builder)
        .onPending(() => seen.pending++)
        .onStart(() => seen.start++)
        .onProgress(() => seen.progress++)
        .onPreview(() => seen.preview++)
        .onFinished(() => seen.finished++)
        .onFailed((e) => assert.fail(e))
        .run();
    assert.ok(seen.pending && seen.start && seen.progress && seen.preview && seen.finished === 1, JSON.stringify(seen));
    const [image] = result.images.images;
    const shown = await bytes(await api.getImage(image));
    assert.ok(shown.equals(fs.readFileSync(path.join(outputs, image.filename))), "another picture than the file");

    const upload = `from a client ${process.pid}.png`;
    const uploaded = await api.uploadImage(shown, upload);
    assert.equal(uploaded.info.filename, upload);
    assert.ok(shown.equals(fs.readFileSync(path.join(inputs, upload))));

    // What it queued is taken back: a long one, interrupted.
    const long = builder.clone().input("seed", 5);
    long.prompt[6].inputs.steps = 10000;
    let failure;
    const stopped = new CallWrapper(api, long).onStart(() => setTimeout(() => api.interrupt(), 200)).onFailed((e) => (failure = e)).run();
    assert.equal(await stopped, false);
    assert.ok(failure, "an interrupted prompt did not fail");
    api.destroy();
}

// Waits for the message that ends a run, then reads the history at once.
async function comfyUiClient() {
    const client = new ComfyUIClient(new URL(url).host, "a-third-client");
    await client.connect();
    assert.ok((await client.getObjectInfo("KSampler")).KSampler.input.required.seed);
    assert.equal((await client.getSystemStats()).devices.length, 1);
    const out = await client.getImages({ ...prompt, 6: { ...prompt[6], inputs: { ...prompt[6].inputs, seed: 17 } } });
    assert.deepEqual(Object.keys(out), ["8"]);
    const [{ blob, image }] = out[8];
    assert.ok((await bytes(blob)).equals(fs.readFileSync(path.join(outputs, image.filename))), "another picture than the file");
    const sent = await client.uploadImage(await bytes(blob), "from a third client.png", true);
    assert.deepEqual(sent, { name: "from a third client.png", subfolder: "", type: "input" });
    assert.ok((await bytes(blob)).equals(fs.readFileSync(path.join(inputs, sent.name))));
    assert.deepEqual(await client.getQueue(), { queue_running: [], queue_pending: [] });
    await client.disconnect();
}

if (!token) await stableCanvas(); // it has no way to send one
if (!token) await comfyUiClient(); // nor has it
await saintno();
console.log(token ? "served with a token" : "served");
process.exit(0);
