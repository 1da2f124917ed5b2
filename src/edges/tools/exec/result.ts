/** How a command ended, for the model: its output, and one line below it. */
import { constants } from "node:os";
import type { ToolResult } from "../../../core/contracts/index.ts";
import { assertNever, type JsonObject } from "../../../core/domain/index.ts";
import { adviceFor } from "./advice.ts";
import { DEFAULT_S, type ExecInput, MOST_S } from "./input.ts";
import type { EndedRun } from "./run.ts";
import { endedForLimit, exited, killedBy, leftoversEnded, stoppedByRequest, timedOut } from "./words.ts";

/** What the command ran in, as far as it explains how it went. */
interface Circumstances {
  hasNetwork: boolean;
  mayStay: boolean;
  mayFetch: boolean;
  note?: string;
}

export function toResult(given: ExecInput, ended: EndedRun, cwd: string, about: Circumstances): ToolResult {
  const timeoutS = given.timeout_s ?? DEFAULT_S;
  const next = isFine(ended) ? [] : adviceFor(ended, { ...about, timeoutS, mostS: MOST_S });
  const rest = next.map((line) => `\n[${line}]`).join("");
  const end = endLine(ended, about.note);
  const text = given.apart && isFine(ended) ? ended.output.text : withEnd(ended, end) + rest;
  const meta = given.apart ? { ...toMeta(ended, cwd), end } : toMeta(ended, cwd);
  return { text, ...(isFine(ended) ? {} : { isError: true }), meta };
}

function isFine({ how, code }: EndedRun): boolean {
  return how === "exited" && code === 0;
}

function toMeta(ended: EndedRun, cwd: string): JsonObject {
  const { code, signal, how, ms, output, leftovers } = ended;
  const meta: JsonObject = { exit: code, signal, how, ms, bytes: output.bytes, leftovers, cwd };
  return output.spill ? { ...meta, spill: output.spill } : meta;
}

/** How it ended, in a line of ours. A job's own words about that leave it out, so there `meta` has it too. */
function endLine({ code, signal, how, why, leftovers, ms }: EndedRun, note?: string): string {
  const end = describeEnd(how, { code, signal, why, took: `${(ms / 1000).toFixed(1)} s` });
  const left = leftovers > 0 ? leftoversEnded(leftovers) : "";
  return `[${end}${left}${note ? `; ${note}` : ""}]`;
}

function withEnd({ output, errors = "" }: EndedRun, end: string): string {
  const text = [output.text, errors].filter(Boolean).join("\n");
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${end}`;
}

type Ending = Pick<EndedRun, "code" | "signal" | "why"> & { took: string };

function describeEnd(how: EndedRun["how"], { code, signal, why, took }: Ending): string {
  switch (how) {
    case "timeout":
      return timedOut(took);
    case "aborted":
      return stoppedByRequest(took);
    case "limit":
      return endedForLimit(why, took);
    case "exited":
      return signal ? killedBy(signal, took) : exited(`${code}${nameSignal(code)}`, took);
    default:
      return assertNever(how);
  }
}

/** Shells say 128 and the number of the signal that ended a program. */
function nameSignal(code: number | null): string {
  const name = Object.entries(constants.signals).find(([, number]) => 128 + number === code)?.[0];
  return name ? ` (${name})` : "";
}
