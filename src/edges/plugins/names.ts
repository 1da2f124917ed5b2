/** The names under which a plugin's servers stand among all MCP servers: the same for the same plugin, regardless of others. */
import { createHash } from "node:crypto";

/** What the name of an MCP server may have at most. */
const LONGEST = 32;
const HASH_LETTERS = 6;

export function nameServer(plugin: string, server?: string): string {
  const whole = server === undefined ? plugin : `${plugin}-${server}`;
  const plain = whole.replace(/[^A-Za-z0-9-]/g, "-");
  if (plain === whole && whole.length <= LONGEST) return whole;
  const hash = createHash("sha256")
    .update(JSON.stringify([plugin, server ?? null]))
    .digest("hex");
  return `${plain.slice(0, LONGEST - HASH_LETTERS - 1)}-${hash.slice(0, HASH_LETTERS)}`;
}
