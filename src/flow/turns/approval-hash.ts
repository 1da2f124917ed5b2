/** What an approval is bound to, as one hash and part by part: a second question can then say what changed. */
import { createHash } from "node:crypto";
import type { ActionPlan, ToolPlace } from "../../core/contracts/index.ts";
import type { Json } from "../../core/domain/index.ts";
import type { TurnParts } from "./ports.ts";
import { boundName, changedSinceAsked } from "./words.ts";

/** Parts of a plan's binding and a short print of each. Kept with the question, so the parts themselves are not. */
export type BoundParts = Record<string, string>;

/** What a yes is for: the plan, and, where it cannot see every file, what tools have changed there so far. */
export function approvalHash(
  parts: Pick<TurnParts, "changes">,
  tool: string,
  plan: ActionPlan,
  place: ToolPlace,
): string {
  const bound: Json = boundTo(parts, plan, place);
  return createHash("sha256")
    .update(JSON.stringify([tool, bound]))
    .digest("hex");
}

/** The same, part by part. */
export function bindPlan(parts: Pick<TurnParts, "changes">, plan: ActionPlan, place: ToolPlace): BoundParts {
  return boundParts(boundTo(parts, plan, place));
}

function boundTo(
  parts: Pick<TurnParts, "changes">,
  { binding, unbound }: ActionPlan,
  place: ToolPlace,
): ActionPlan["binding"] {
  // A binding that covers every file needs no counter; adding it would ask again for changes that don't matter.
  return unbound ? { ...binding, changes: parts.changes.of(listFolders(place)) } : binding;
}

export function listFolders({ workspace, roots = [] }: ToolPlace): string[] {
  return [workspace, ...roots];
}

export function boundParts(binding: { readonly [part: string]: Json | undefined }): BoundParts {
  return Object.fromEntries(Object.entries(binding).map(([part, value]) => [part, print(value)]));
}

/** For a question that is asked again. Without the parts of the first one (it may be older than they are), only that it changed. */
export function whatChanged(before: BoundParts | undefined, now: BoundParts | undefined): string {
  const parts = before && now ? [...new Set([...Object.keys(before), ...Object.keys(now)])] : [];
  const changed = parts.filter((part) => before?.[part] !== now?.[part]).map(boundName);
  return changedSinceAsked([...new Set(changed)]);
}

/** Short, because it only has to differ from the value before, and is stored with every question. */
function print(value: Json | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify(value ?? null))
    .digest("hex")
    .slice(0, 12);
}
