/** Handler of `health`. */
import type { Handlers } from "../../faces/gateway/index.ts";
import type { MethodParts } from "./parts.ts";

export function makeHealthMethods(parts: Pick<MethodParts, "version" | "uptimeMs">): Pick<Handlers, "health"> {
  // Answers without an instance: a gateway that waits for disk space is alive.
  return { health: async () => ({ ok: true, version: parts.version, uptimeMs: parts.uptimeMs() }) };
}
