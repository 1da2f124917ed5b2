/**
 * Permission requests of a run and their answers. A request that comes twice about the same call is one question: it is asked once, and its
 * answer goes to both (RUNTIME-6).
 */
import { asFields } from "./fields.ts";
import { type PermissionOption, type PermissionOutcome, readOptions } from "./options.ts";

type Settle = (outcome: PermissionOutcome) => void;

interface AcpAsk {
  /** The call that it is about, and with what. */
  call: string;
  input: string;
  options: readonly PermissionOption[];
  /** Requests that wait for the answer. */
  waiting: Settle[];
  /** What was said; undefined while it is open. */
  outcome: PermissionOutcome | undefined;
}

/** More than any turn has open at once. */
const MOST_WAITING = 1000;
const CANCELLED: PermissionOutcome = { outcome: "cancelled" };

export class AcpAsks {
  private readonly asked = new Map<string, AcpAsk>();

  get isOpen(): boolean {
    return [...this.asked.values()].some(({ outcome }) => !outcome);
  }

  /** `isNew`: somebody has to be asked. `hasEnded`: whether the call with this id is over, so that the same id means another one. */
  take(
    request: { toolCall?: unknown; options?: unknown },
    settle: Settle,
    hasEnded: (call: string) => boolean,
  ): { ask: string; isNew: boolean } {
    const { toolCallId, rawInput, title } = asFields(request.toolCall);
    const call = String(toolCallId ?? "");
    const input = JSON.stringify([rawInput ?? null, title ?? null]);
    const same = [...this.asked].find(
      ([, one]) => call !== "" && one.call === call && one.input === input && !hasEnded(call),
    );
    if (same) {
      const [ask, { outcome, waiting }] = same;
      if (outcome) settle(outcome);
      else if (waiting.length < MOST_WAITING) waiting.push(settle);
      else settle(CANCELLED);
      return { ask, isNew: false };
    }
    const ask = `ask-${this.asked.size + 1}`;
    const options = readOptions(request.options);
    this.asked.set(ask, { call, input, options, waiting: [settle], outcome: undefined });
    return { ask, isNew: true };
  }

  /** What it offers; undefined where it is answered, null where nobody asked it. */
  find(ask: string): readonly PermissionOption[] | undefined | null {
    const asked = this.asked.get(ask);
    if (!asked) return null;
    return asked.outcome ? undefined : asked.options;
  }

  /** Gives the answer to everyone who waits for it. */
  settle(ask: string, outcome: PermissionOutcome): void {
    const asked = this.asked.get(ask);
    if (!asked || asked.outcome) return;
    asked.outcome = outcome;
    for (const settle of asked.waiting.splice(0)) settle(outcome);
  }

  /** The agent doesn't wait any longer. True when nobody else does: the question is over by it. */
  leave(ask: string, settle: Settle): boolean {
    const asked = this.asked.get(ask);
    if (!asked || asked.outcome || !asked.waiting.includes(settle)) return false;
    settle(CANCELLED);
    asked.waiting = asked.waiting.filter((one) => one !== settle);
    if (asked.waiting.length > 0) return false;
    asked.outcome = CANCELLED;
    return true;
  }

  /** Denies what is open, and says which those were. */
  cancelAll(): string[] {
    const open = [...this.asked].flatMap(([ask, { outcome }]) => (outcome ? [] : [ask]));
    for (const ask of open) this.settle(ask, CANCELLED);
    return open;
  }
}
