/**
 * The program of the worker thread, as text: one bundle has no second file to name, and a source tree has no compiled one.
 * It keeps the model for as long as the thread lives; texts come one by one.
 */
export const WORKER_SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
let ready;
async function load() {
  const { createEmbedder } = await import(workerData.engine);
  const model = (await import(workerData.weights)).default;
  const embedder = await createEmbedder({ model });
  await embedder.embed(["."]);
  // The engine has its own copy of the weights now. The two it was made from, 90 MB, lie outside this thread's small heap, which
  // sees no reason to collect them for minutes.
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return embedder;
}
parentPort.on("message", async ({ id, texts }) => {
  try {
    ready ??= load();
    const embedder = await ready;
    const vectors = [];
    // One at a time: past two dozen texts the package starts threads of its own, each with a copy of the model.
    for (const text of texts) vectors.push(Float32Array.from((await embedder.embed([text]))[0]));
    parentPort.postMessage({ id, vectors }, vectors.map((vector) => vector.buffer));
  } catch (error) {
    ready = undefined;
    parentPort.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
`;
