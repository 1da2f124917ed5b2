/**
 * What rules mean, apart from any backend: the deepest path that covers a file decides, and what nothing covers is not there.
 *
 * SANDBOX-3: a child is never less confined than its parent: what `within` gives permits exactly what both permit.
 */

import { defined } from "../../../core/kit/index.ts";
import { strictest } from "./limits.ts";
import type { Rules } from "./port.ts";

export type Deed = "read" | "write";

export function permits(rules: Rules, deed: Deed, path: string): boolean {
  const depth = (paths: readonly string[]) =>
    Math.max(-1, ...paths.filter((one) => covers(one, path)).map((one) => segments(one).length));
  const [hidden, readable, writable] = [depth(rules.hidden), depth(rules.readable), depth(rules.writable)];
  const open = deed === "write" ? writable : Math.max(writable, readable);
  // A read-only path inside a writable one stays read-only; of two words on the same path the stricter holds.
  return open > hidden && (deed === "read" || writable > readable);
}

/** The child's rules inside the parent's. */
export function within(parent: Rules, child: Rules): Rules {
  const deeper: string[] = [];
  for (const a of [...parent.writable, ...parent.readable]) {
    for (const b of [...child.writable, ...child.readable]) {
      if (covers(a, b)) deeper.push(b);
      else if (covers(b, a)) deeper.push(a);
    }
  }
  const both = (deed: Deed) => (path: string) => permits(parent, deed, path) && permits(child, deed, path);
  const candidates = [...new Set(deeper)];
  const writable = candidates.filter(both("write"));
  const limits = strictest(parent.limits, child.limits);
  return {
    writable,
    readable: candidates.filter((path) => !writable.includes(path)).filter(both("read")),
    hidden: [...new Set([...parent.hidden, ...child.hidden])],
    network: parent.network && child.network,
    ...defined({ limits }),
  };
}

/** Whether `inner` is `outer` or lies inside it. Both absolute and normal. */
export function covers(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}

export function segments(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
