/** What an approval is bound to, as one hash and part by part: a second question can then say what changed. */
import { createHash } from "node:crypto";
import type { ActionPlan, ToolPlace } from "../../core/contracts/index.ts";
import type { Json } from "../../core/domain/index.ts";
import type { TurnParts } from "./ports.ts";

/** Parts of a plan's binding and a short print of each. Kept with the question, so the parts themselves are not. */
export type BoundParts = Record<string, string>;

/** Several parts may have one name for a person. */
const NAMES: Readonly<Record<string, string>> = {
  argv: "the command",
  argv0: "the command",
  command: "the command",
  cwd: "the folder it runs in",
  cwd_id: "the folder it runs in",
  env: "its environment",
  secrets: "the secrets it gets",
  sandbox: "where it runs (the sandbox, the folders it may use or the network)",
  files: "a file it uses",
  named: "a file it uses",
  tree: "code in the workspace",
  changes: "a file in the folders it may use",
  links: "a link it follows",
  settings: "the settings of a program in it",
  path: "the place of the file",
  old: "the content of the file",
  before: "the content of the file",
};

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
  const changed = parts.filter((part) => before?.[part] !== now?.[part]).map((part) => NAMES[part] ?? `its ${part}`);
  const which = [...new Set(changed)].join(", ");
  return `It changed since you were asked${which ? ` (${which})` : ""}, so it is asked again.`;
}

function print(value: Json | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify(value ?? null))
    .digest("hex")
    .slice(0, 12);
}
