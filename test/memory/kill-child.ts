/** A process to be killed: adds and embeds without end, and says each id only when it is durable. */
import type { Embedder } from "../../src/core/contracts/index.ts";
import { letters, openMemory } from "./support.ts";

const [dir, what, model] = process.argv.slice(2) as [string, "add" | "embed", string];
const slow: Embedder = {
  ...letters(model),
  async embed(texts, signal) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return letters(model).embed(texts, signal);
  },
};
const { memory } = await openMemory({ dir, embedder: slow });
memory.start();
if (what === "embed") {
  for (;;) {
    const progress = await memory.embeddingProgress();
    process.stdout.write(`${progress?.done}\n`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
for (let n = 0; ; n++) {
  const added = await memory.add({ text: `Ann: the drawer ${n} holds key ${n * 3}`, source: "talk", scope: "c" });
  process.stdout.write(`${added.id}\n`);
  if (n % 5 === 4) await memory.forget(added.id);
}
