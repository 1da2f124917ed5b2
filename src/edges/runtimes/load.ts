/** Loads what runs need when the first of them is opened: an agent with our own loop doesn't pay for it. */
import type { HostParts, RuntimeHost } from "./host.ts";

export async function loadHost(parts: HostParts): Promise<RuntimeHost> {
  const { RuntimeHost } = await import("./host.ts");
  return new RuntimeHost(parts);
}
