// Runs workflows with the TypeScript SDK, as its users do, and says on standard output what came of each, as a line of JSON.
//
// usage: COMFY_BASE_URL=... node node_client.mjs FOLDER SDK-ENTRY WORKFLOW.json...
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, entry, ...paths] = process.argv.slice(2);
const { Comfy } = await import(pathToFileURL(entry));
const client = new Comfy({ clientInfo: "portico-tests" });

for (const path of paths) {
  const workflow = await client.workflows.fromFile(path);
  const job = await client.submit(workflow);
  const first = job.status;
  await job.wait(60_000);
  const again = await client.jobs.get(job.id); // a handle made of nothing but the id
  const outputs = [];
  for (const output of job.outputs) {
    const file = join(folder, `${job.id}-${output.nodeId}-${output.name}`);
    await output.toFile(file);
    const part = Buffer.from(await output.toBytes({ range: [1, 3] }));
    assert.deepEqual(part, (await readFile(file)).subarray(1, 4), "a range of the bytes");
    assert.ok((await output.getDownloadUrl()).url.startsWith(process.env.COMFY_BASE_URL));
    outputs.push({
      node_id: output.nodeId, name: output.name, type: output.type, job_id: output.jobId,
      content_type: output.contentType, file,
    });
  }
  console.log(JSON.stringify({
    workflow: path, job: job.id, first, status: job.status, status_again: again.status,
    graph: (await again.getWorkflow()).workflow, outputs,
  }));
}
