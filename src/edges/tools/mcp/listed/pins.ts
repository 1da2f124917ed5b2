/**
 * Which of a server's tools may be offered. The owner accepted the server as it was; what it adds or changes later waits until a
 * person has looked at it. Pure.
 *
 * MCP-10: a tool is offered only while its digest is the one that was accepted.
 */

import type { Pin } from "../store.ts";
import type { Manifest, McpTool } from "./manifest.ts";

export interface HeldTool {
  tool: McpTool;
  why: "new" | "changed";
  /** What it said when it was accepted; absent for a new one. */
  before?: string;
}

export interface Sorted {
  offered: McpTool[];
  held: HeldTool[];
  /** All of the offered ones were looked at by a person, so their descriptions are words the owner let in. */
  isSeen: boolean;
}

export function sortTools({ tools }: Manifest, pins: ReadonlyMap<string, Pin>): Sorted {
  const sorted: Sorted = { offered: [], held: [], isSeen: true };
  for (const tool of tools) {
    const pin = pins.get(tool.name);
    if (!pin) sorted.held.push({ tool, why: "new" });
    else if (pin.digest !== tool.digest) sorted.held.push({ tool, why: "changed", before: pin.shown });
    else {
      sorted.offered.push(tool);
      sorted.isSeen &&= pin.seenAt !== null;
    }
  }
  return sorted;
}

/** A tool as people read it: everything its digest covers. */
export function describeTool({ name, title, description, input, output, hints }: McpTool): string {
  const claims = [
    hints.isReadOnly && "reads only",
    hints.isDestructive && "may destroy",
    hints.isOpenWorld && "reaches out",
  ];
  return [
    title === undefined ? name : `${name} (${title})`,
    description,
    `input ${JSON.stringify(input)}`,
    ...(output === undefined ? [] : [`output ${JSON.stringify(output)}`]),
    `its server says: ${claims.filter(Boolean).join(", ") || "nothing about its effects"}`,
  ].join("\n");
}
