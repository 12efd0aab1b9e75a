// What users do with the TypeScript SDK.  Prints the name of each scenario that went well.
//
// usage: COMFY_BASE_URL=... node node.mjs COMFYUI_URL FOLDER SDK_ENTRY GRAPHS.json
import assert from "node:assert/strict";
import { appendFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [comfyuiUrl, folder, sdk, graphsFile] = process.argv.slice(2);
const { Comfy, IdempotencyKeyReuse, NotFound } = await import(pathToFileURL(sdk));
const client = new Comfy({ clientInfo: "portico-tests" });

// The graphs of the Python scenarios, in this file's own colours and seeds.
const graphs = JSON.parse(await readFile(graphsFile, "utf8"));
const colour = 0x304050;
const picture = (n) => {
  const graph = structuredClone(graphs.picture);
  graph["1"].inputs.color = colour + n;
  return graph;
};
const sampled = (n) => {
  const graph = structuredClone(graphs.sampled);
  graph["5"].inputs.seed = colour + n;
  return graph;
};

const ask = async (target, options) => {
  const answer = await fetch(comfyuiUrl + target, options);
  assert.equal(answer.status, 200, target);
  return Buffer.from(await answer.arrayBuffer());
};
const comfyui = {
  counters: async () => JSON.parse(await ask("/standin/counters")),
  calls: async (route) => (await comfyui.counters()).calls[route] ?? 0,
  lastGraph: async () => JSON.parse((await comfyui.counters()).last_prompt).prompt,
  file: (filename, type = "output") => ask("/view?" + new URLSearchParams({ filename, type })),
  knobs: (knobs) => ask("/standin/knobs", { method: "POST", body: JSON.stringify(knobs) }),
};
const run = (graph) => client.run(client.workflows.fromJson(graph), { timeoutMs: 60_000 });
const eventsOf = async (job) => {
  const events = [];
  for await (const event of job.events()) events.push(event);
  return events;
};

const scenarios = {
  async upload_run_events_download() {
    const path = join(folder, "photo.png");
    await (await run(picture(0))).outputs[0].toFile(path);
    const asset = client.assets.fromFile(path);
    const workflow = client.workflows.fromJson(structuredClone(graphs.inverted));
    workflow.setInput("1", "image", asset);
    const job = await client.submit(workflow);
    const events = await eventsOf(job);
    assert.equal(asset.createdNew, true);
    const name = (await comfyui.lastGraph())["1"].inputs.image;
    assert.deepEqual(await comfyui.file(name, "input"), await readFile(path));
    assert.equal(events.at(-1).status, "succeeded");
    const outputs = events.filter((event) => event.kind === "outputReady").map((event) => event.output);
    assert.equal(outputs.length, 1);
    assert.deepEqual(Buffer.from(await outputs[0].toBytes()), await comfyui.file(outputs[0].name));
  },
  async progress_and_previews_are_live() {
    const events = await eventsOf(await client.submit(client.workflows.fromJson(sampled(0))));
    const progress = events.filter((event) => event.kind === "progress").map((event) => event.value);
    assert.deepEqual(progress, progress.toSorted((a, b) => a - b));
    assert.equal(progress.at(-1), 1);
    assert.ok(events.some((event) => event.kind === "preview" && event.data.length));
  },
  async known_content_is_not_sent() {
    const data = await (await run(picture(1))).outputs[0].toBytes();
    const first = client.assets.fromBytes(data, { filename: "first.png" });
    await first.commit();
    const sent = await comfyui.calls("POST /upload/image");
    const again = client.assets.fromBytes(data, { filename: "again.png" });
    const workflow = client.workflows.fromJson(structuredClone(graphs.inverted));
    workflow.setInput("1", "image", again);
    await client.run(workflow, { timeoutMs: 60_000 });
    assert.equal(again.id, first.id);
    assert.equal(again.createdNew, false);
    assert.equal(await comfyui.calls("POST /upload/image"), sent);
  },
  async cancel_running_and_queued() {
    await comfyui.knobs({ hang: true });
    try {
      const running = await client.submit(client.workflows.fromJson(sampled(2)));
      for await (const event of running.events()) if (event.kind === "statusChange" && event.status === "running") break;
      const queued = await client.submit(client.workflows.fromJson(picture(2)));
      assert.equal((await queued.refresh()).status, "queued");
      for (const job of [queued, running]) {
        await job.cancel();
        assert.equal((await job.wait(30_000)).status, "canceled");
        assert.equal(job.outputs.length, 0);
      }
    } finally {
      await comfyui.knobs({ hang: false });
    }
  },
  async a_key_is_good_for_one_job() {
    const idempotencyKey = `key-${colour}`;
    const job = await client.submit(client.workflows.fromJson(picture(3)), { idempotencyKey });
    const prompts = await comfyui.calls("POST /prompt");
    await assert.rejects(client.submit(client.workflows.fromJson(picture(4)), { idempotencyKey }), IdempotencyKeyReuse);
    assert.equal(await comfyui.calls("POST /prompt"), prompts);
    assert.equal((await (await client.jobs.get(job.id)).wait(60_000)).status, "succeeded");
  },
  async model_upload_and_use() {
    const data = await readFile(join(folder, "model.safetensors"));
    const asset = client.assets.fromBytes(data, { filename: "checkpoints/node/m.safetensors" });
    await asset.commit();
    assert.deepEqual(await readFile(join(folder, "models", "checkpoints", "node", "m.safetensors")), data);
    const workflow = client.workflows.fromJson(sampled(3));
    workflow.setInput("1", "ckpt_name", await client.assets.get(asset.id));
    assert.equal((await client.run(workflow, { timeoutMs: 60_000 })).status, "succeeded");
    assert.equal((await comfyui.lastGraph())["1"].inputs.ckpt_name, "node/m.safetensors");
  },
  async a_deleted_asset_is_gone() {
    const asset = client.assets.fromBytes(Buffer.from(`bytes ${colour}`), { filename: "short.txt" });
    const id = await asset.commit();
    await asset.delete();
    await assert.rejects(client.assets.get(id), NotFound);
  },
  async the_workflow_comes_back() {
    const job = await run(picture(5));
    const back = await (await client.jobs.get(job.id)).getWorkflow();
    assert.deepEqual(back.workflow, picture(5));
    assert.equal(back.format, "api");
  },
  async a_download_goes_on_where_it_stopped() {
    const [output] = (await run(sampled(6))).outputs;
    const whole = await comfyui.file(output.name);
    const half = whole.length >> 1;
    const path = join(folder, "resumed.png");
    await output.toFile(path, { range: [0, half - 1] });
    assert.equal((await stat(path)).size, half);
    await appendFile(path, await output.toBytes({ range: [half, whole.length - 1] }));
    assert.deepEqual(await readFile(path), whole);
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  await scenario();
  console.log(name);
}
