/** Loads the face for runs with the first of them that calls a tool: the SDK isn't paid for by who doesn't use it. */
import type { RunToolFace } from "./run-tools.ts";

export type { RunToolFace };

export async function loadRunToolFace(parts: ConstructorParameters<typeof RunToolFace>[0]): Promise<RunToolFace> {
  const { RunToolFace } = await import("./run-tools.ts");
  return new RunToolFace(parts);
}
