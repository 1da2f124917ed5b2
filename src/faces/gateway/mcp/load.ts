/** Loads the MCP SDK when a run first calls a tool, so that others don't pay for it. */
import type { RunToolFace } from "./run-tools.ts";

export type { RunToolFace };

export async function loadRunToolFace(parts: ConstructorParameters<typeof RunToolFace>[0]): Promise<RunToolFace> {
  const { RunToolFace } = await import("./run-tools.ts");
  return new RunToolFace(parts);
}
