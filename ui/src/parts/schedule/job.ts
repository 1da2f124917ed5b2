/** A schedule as the form's fields, and back as what the wire wants. */
import type { Params, Result } from "../../../../src/core/protocol/index.ts";

type Job = Result<"schedule.list">["jobs"][number];
type JobSettings = Omit<Params<"schedule.add">, "at" | "in" | "every" | "cron" | "anchor" | "zone" | "idempotencyKey">;

export interface Fields {
  does: "prompt" | "script";
  prompt: string;
  script: string;
  name: string;
  agent: string;
  session: string;
  catchUp: Job["catchUp"];
  ifKind: "" | "script" | "changed" | "exists";
  ifText: string;
  deliver: string;
  input: string;
  model: string;
  thinking: string;
  budget: string;
  timeoutS: number;
  keepHours: number;
  alertAfter: number;
  deleteAfterRun: boolean;
  bestEffort: boolean;
  mayPlan: boolean;
  quiet: boolean;
}

export function readFields(job: Job | undefined): Fields {
  const [ifKind = "", ifText = ""] = Object.entries(job?.condition ?? {})[0] ?? [];
  return {
    does: job?.script === undefined ? "prompt" : "script",
    prompt: job?.prompt ?? "",
    script: job?.script ?? "",
    name: job?.name ?? "",
    agent: job?.agent ?? "main",
    session: job?.session ?? "isolated",
    catchUp: job?.catchUp ?? "once",
    ifKind: ifKind as Fields["ifKind"],
    ifText,
    deliver: job?.deliver ? Object.values(job.deliver).join("/") : "",
    input: job?.input ?? "",
    model: job?.model ?? "",
    thinking: job?.thinking ?? "",
    budget: job?.budget?.dollars === undefined ? "" : String(job.budget.dollars),
    timeoutS: job?.timeoutS ?? 600,
    keepHours: job?.keepHours ?? 24,
    alertAfter: job?.alertAfter ?? 2,
    deleteAfterRun: job?.deleteAfterRun ?? false,
    bestEffort: job?.bestEffort ?? false,
    mayPlan: job?.mayPlan ?? false,
    quiet: job?.quiet ?? false,
  };
}

/** What differs from `before`; an emptied field takes the wish back. */
export function toJobSettings(f: Fields, before: Job | undefined): JobSettings {
  const wanted = readWishes(f);
  if (!before) return present(wanted);
  const now = readWishes(readFields(before)) as Record<string, unknown>;
  const changed = Object.entries(wanted).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(now[key]));
  return Object.fromEntries(changed.filter(([key, value]) => value !== null || NULLABLE.has(key))) as JobSettings;
}

const NULLABLE = new Set(["condition", "input", "model", "thinking", "budget", "deliver"]);

function readWishes(f: Fields) {
  const text = (value: string) => value.trim() || null;
  const [channel, account, ...chat] = f.deliver.trim().split("/");
  const isPlace = channel && account && chat.length > 0;
  const budget = Number(f.budget.replace(",", "."));
  return {
    name: text(f.name),
    prompt: f.does === "prompt" ? text(f.prompt) : null,
    script: f.does === "script" ? text(f.script) : null,
    agent: f.agent,
    session: f.session,
    catchUp: f.catchUp,
    condition: f.ifKind && f.ifText.trim() ? { [f.ifKind]: f.ifText.trim() } : null,
    deliver: isPlace ? { channel, account, chat: chat.join("/") } : null,
    input: text(f.input),
    model: f.does === "prompt" ? text(f.model) : null,
    thinking: f.does === "prompt" ? text(f.thinking) : null,
    budget: f.budget.trim() && budget >= 0 ? { dollars: budget } : null,
    timeoutS: f.timeoutS,
    keepHours: f.keepHours,
    alertAfter: f.alertAfter,
    deleteAfterRun: f.deleteAfterRun,
    bestEffort: f.bestEffort,
    mayPlan: f.mayPlan,
    quiet: f.quiet,
  };
}

function present(settings: object): JobSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as JobSettings;
}
