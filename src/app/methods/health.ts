/** Handler of `health`. */
import type { Handlers } from "../../faces/gateway/index.ts";
import type { MethodParts } from "./parts.ts";

export function makeHealthMethods(parts: Pick<MethodParts, "version" | "uptimeMs">): Pick<Handlers, "health"> {
  return { health: async () => ({ ok: true, version: parts.version, uptimeMs: parts.uptimeMs() }) };
}
