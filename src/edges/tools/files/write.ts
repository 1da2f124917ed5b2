/**
 * `write`: the whole content of a file, atomically, with missing directories made on the way.
 * `repeat` is `safe`: the same content written again leaves the same file. After a crash the probe looks first, so that
 * in the usual case (it was done) nothing is written twice.
 */
import { z } from "zod";
import type { Tool } from "../../../core/contracts/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import { rooted, withInside } from "../paths/index.ts";
import { humanSize } from "./content.ts";
import { fingerprint, planFile, sha256 } from "./plan.ts";

const schema = z.strictObject({ path: z.string().min(1), content: z.string() });

export function createWrite(): Tool {
  return {
    spec: {
      name: "write",
      description: "Create a file or replace all of it, folders included. To change part of a file use edit.",
      input: {
        type: "object",
        properties: {
          path: { type: "string", description: "relative to the workspace" },
          content: { type: "string", description: "all of it, no placeholder for the rest" },
        },
        required: ["path", "content"],
      },
    },
    repeat: "safe",
    opensFiles: () => true,
    async plan(input, place) {
      const { path, content } = parseInput("write", schema, input);
      const bytes = Buffer.byteLength(content);
      return planFile(
        {
          tool: "write",
          risk: "write",
          place,
          path,
          parents: "imagine",
          details: `:\n${visible(content)}`,
          binding: { sha256: sha256(content), bytes },
        },
        async (inside) => {
          inside.checkWritable();
          const old = inside.stat();
          return {
            details: ` (${humanSize(bytes)}, ${old ? `replaces ${humanSize(old.size)}` : "new file"})`,
            binding: { old: await fingerprint(inside) },
            leaves: sha256(content),
          };
        },
      );
    },
    async run(input, place, key, signal) {
      const { path, content } = parseInput("write", schema, input);
      signal.throwIfAborted();
      return withInside({ ...rooted(place, path), parents: "make" }, async (inside) => {
        const created = inside.kind === "missing";
        await inside.writeAtomic(content, key);
        const bytes = Buffer.byteLength(content);
        return {
          text: `${created ? "created" : "replaced"} ${visibleLine(inside.path)} (${humanSize(bytes)})`,
          meta: { path: inside.path, bytes, created },
          ...(inside.isAsGiven ? { origin: "own" as const } : {}),
        };
      });
    },
    async probe(input, place) {
      const { path, content } = parseInput("write", schema, input);
      return withInside({ ...rooted(place, path), parents: "imagine" }, async (inside) => {
        if (inside.stat()?.size !== Buffer.byteLength(content)) return undefined;
        if ((await fingerprint(inside)) !== sha256(content)) return undefined;
        const text = `wrote ${visibleLine(inside.path)} (${humanSize(Buffer.byteLength(content))})`;
        const origin = inside.isAsGiven ? { origin: "own" as const } : {};
        return { ok: { text, meta: { path: inside.path, probed: true }, ...origin } };
      });
    },
  };
}
