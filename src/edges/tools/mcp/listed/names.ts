/**
 * The name under which a model calls a server's tool. Providers take at most 64 characters of letters, digits, `_` and `-`;
 * servers choose 128 and dots.
 *
 * MCP-1: the name begins with the server's, so no server can give a tool the name of ours or of another server's.
 * MCP-2: the same server and tool always have the same name, whatever else is listed: approvals and histories mention it.
 */
import { createHash } from "node:crypto";

const LONGEST = 64;
const HASH_LETTERS = 8;
/** Between the parts, so that `a_b` of server `x` and `b` of server `x_a` stay two names (with MCP-3 below). */
const BETWEEN = "__";

/**
 * MCP-3: the name is `server__tool` where both are plain and it fits; otherwise a hash of the exact pair takes the place of what was
 * changed or cut, so two different tools share a name only if their hashes collide.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${server}${BETWEEN}${tool}`;
  const isPlain = /^[A-Za-z0-9_-]+$/.test(tool) && !server.includes(BETWEEN) && !tool.includes(BETWEEN);
  if (isPlain && plain.length <= LONGEST) return plain;
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LETTERS);
  const readable = plain.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, LONGEST - HASH_LETTERS - 1);
  return `${readable}_${hash}`;
}

/** What the names of a server's tools begin with. */
export function namesBegin(server: string): string {
  return `${server}${BETWEEN}`;
}

/** How policy, cards and the command line name a tool: by the names its owner and its server use. */
export function addressTool(server: string, tool: string): string {
  return `${server}/${tool}`;
}

/** Whether one of the patterns means this tool. `*` stands for any letters; everything else for itself. */
export function isListed(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => matches(pattern.split("*"), tool));
}

function matches(pieces: readonly string[], text: string): boolean {
  const [first = "", ...rest] = pieces;
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const last = rest.pop()!;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
