/** What each runtime can do, and how that is known: the claims of its adapter beside what the conformance script saw. Pure. */
import type { RuntimeCapabilities, RuntimeSkill } from "../../src/core/contracts/index.ts";

export type Mark = "ok" | "FAILED" | "-";

export interface SeenRuntime {
  name: string;
  version: string;
  can: RuntimeCapabilities;
  /** By the name of the check. `-`: it has no use for it. */
  marks: ReadonlyMap<string, Mark>;
}

export interface ProvingCheck {
  name: string;
  proves: readonly RuntimeSkill[];
}

/** Why no check tries it. */
const UNTRIED: Partial<Record<RuntimeSkill, string>> = {
  approvals: "it asks about what it finds dangerous, which no script can list",
  children: "no scripted model starts more agents",
  ownScheduler: "nobody waits for it here",
  ownChannels: "it has none here",
  questions: "nothing here makes it ask one",
};

/** `proven`, `FAILED`, `claimed` or `absent`, the last two with why. */
export function proofOf({ can, marks }: SeenRuntime, skill: RuntimeSkill, checks: readonly ProvingCheck[]): string {
  const claim = can[skill];
  if (claim.proof === "absent") return `absent: ${claim.note ?? "it says nothing about it"}`;
  const tried = checks.filter(({ name, proves }) => proves.includes(skill) && (marks.get(name) ?? "-") !== "-");
  if (tried.some(({ name }) => marks.get(name) === "FAILED")) return "FAILED";
  return tried.length > 0 ? "proven" : `claimed: ${UNTRIED[skill] ?? "not tried"}`;
}

export function sayProofs(seen: readonly SeenRuntime[], checks: readonly ProvingCheck[]): string {
  const skills = Object.keys(seen[0]?.can ?? {}).filter((name): name is RuntimeSkill => name !== "class");
  return table(
    ["capability", ...seen.map(({ name, version }) => `${name} ${version}`)],
    skills.map((skill) => [skill, ...seen.map((one) => proofOf(one, skill, checks))]),
  );
}

export function sayChecks(seen: readonly SeenRuntime[], checks: readonly ProvingCheck[]): string {
  const rows = checks.map(({ name, proves }) => [
    name,
    proves.join(", "),
    ...seen.map(({ marks }) => marks.get(name) ?? "-"),
  ]);
  return table(["check", "proves", ...seen.map(({ name }) => name)], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
