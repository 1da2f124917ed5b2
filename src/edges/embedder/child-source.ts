/**
 * The program of the embedder's process, as text: one bundle has no second file to name, and a source tree has no compiled one.
 * It keeps the model for as long as it lives, and ends when Lares does: then the channel to it closes.
 */
export const CHILD_SOURCE = `
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
const [engine, weights] = process.argv.slice(1);
let ready;
async function load() {
  const { createEmbedder } = await import(engine);
  const model = (await import(weights)).default;
  const embedder = await createEmbedder({ model });
  await embedder.embed(["."]);
  // The engine has its own copy of the weights now. The two it was made from, 90 MB, lie outside the small heap, which sees no
  // reason to collect them for minutes.
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return embedder;
}
process.on("disconnect", () => process.exit(0));
process.on("message", async ({ id, texts }) => {
  try {
    ready ??= load();
    const embedder = await ready;
    const vectors = [];
    // One at a time: past two dozen texts the package starts threads of its own, each with a copy of the model.
    for (const text of texts) {
      vectors.push(Float32Array.from((await embedder.embed([text]))[0]));
      // A text takes 25 ms without a pause: without this, the end of Lares would be noticed only after all of them.
      await new Promise(setImmediate);
    }
    process.send({ id, vectors });
  } catch (error) {
    ready = undefined;
    process.send({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
`;
