/**
 * Permission requests of a run and their answers. A request that comes twice, with the same id or about the same call, is one question: it is
 * asked once, and its answer goes to both (RUNTIME-6).
 */
import { isDeepStrictEqual } from "node:util";
import type { RunAnswer } from "../../../core/contracts/index.ts";
import { asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { readQuestion, withAnswers } from "./questions.ts";
import type { ClaudeFields } from "./translate.ts";
import { CLAUDE_READS as reads } from "./words.ts";

interface PermissionAsk {
  request: ClaudeFields;
  /** Requests that wait for the answer. */
  waiting: string[];
  /** What was said; undefined while it is open. */
  answer: object | undefined;
}

/** More than any turn has open at once. */
const MOST_WAITING = 1000;

export class PermissionAsks {
  private readonly respond: (request: string, answer: object) => void;
  private readonly asked = new Map<string, PermissionAsk>();

  constructor(respond: (request: string, answer: object) => void) {
    this.respond = respond;
  }

  /** True when somebody has to be asked; the ask's id is the request's. */
  take(id: string, request: ClaudeFields): boolean {
    const same = this.findSame(id, request);
    if (same) {
      if (same.answer) this.respond(id, same.answer);
      else if (!same.waiting.includes(id) && same.waiting.length < MOST_WAITING) same.waiting.push(id);
      return false;
    }
    this.asked.set(id, { request, waiting: [id], answer: undefined });
    return true;
  }

  /** Gives the answer to everyone who waits for it. */
  answer(ask: string, answer: RunAnswer): "taken" | "late" | "unknown" {
    const asked = this.asked.get(ask);
    if (!asked) return "unknown";
    const isQuestion = readQuestion(asked.request) !== undefined;
    if (answer.kind !== "deny" && (answer.kind === "said") !== isQuestion) return "unknown";
    if (asked.answer) return "late";
    this.settle(asked, sayAnswer(asked.request, answer));
    return "taken";
  }

  /** The program stopped waiting. The ask that is over by it, if one is. */
  cancel(request: string): string | undefined {
    for (const [ask, asked] of this.asked) {
      if (asked.answer || !asked.waiting.includes(request)) continue;
      asked.waiting = asked.waiting.filter((one) => one !== request);
      if (asked.waiting.length > 0) return undefined;
      asked.answer = DENIED;
      return ask;
    }
    return undefined;
  }

  /** Denies what is open, and says which those were. */
  denyAll(): string[] {
    const open = [...this.asked].filter(([, { answer }]) => !answer);
    for (const [, asked] of open) this.settle(asked, DENIED);
    return open.map(([ask]) => ask);
  }

  get isOpen(): boolean {
    return [...this.asked.values()].some(({ answer }) => !answer);
  }

  private settle(asked: PermissionAsk, answer: object): void {
    asked.answer = answer;
    for (const id of asked.waiting) this.respond(id, answer);
  }

  private findSame(id: string, request: ClaudeFields): PermissionAsk | undefined {
    const known = this.asked.get(id);
    const call = asText(request.tool_use_id);
    if (known || call === undefined) return known;
    return [...this.asked.values()].find(
      (one) => one.request.tool_use_id === call && isDeepStrictEqual(one.request.input, request.input),
    );
  }
}

const DENIED = { behavior: "deny", message: reads.denied };

function sayAnswer({ input }: ClaudeFields, answer: RunAnswer): object {
  if (answer.kind === "deny") return { behavior: "deny", message: answer.reason || reads.denied };
  const given: JsonObject =
    answer.kind === "said" ? withAnswers(input, answer.value) : (answer.input ?? (asObject(input) as JsonObject));
  return { behavior: "allow", updatedInput: given };
}
