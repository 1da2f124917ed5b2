/**
 * Tool calls that come in pieces (Chat Completions). A piece says which call it belongs to by index; servers that imitate the
 * protocol leave the index out, give every call the same one, or repeat or leave out ids and names.
 */
import { asText, findObject } from "../../../../core/domain/index.ts";

interface Call {
  id: string;
  name: string;
  input: string;
  /** Gemini behind this protocol signs its calls. */
  signature: string | undefined;
  index: number | undefined;
  /** The id on the wire; `id` may be one we made. */
  wireId: string | undefined;
}

export class CallPieces {
  private readonly calls: Call[] = [];
  private readonly weigh: (piece: string) => void;

  /** `weigh` may throw: the input is larger than any should be. */
  constructor(weigh: (piece: string) => void) {
    this.weigh = weigh;
  }

  take(piece: Record<string, unknown>): void {
    const fn = findObject(piece.function) ?? {};
    const index = typeof piece.index === "number" ? piece.index : undefined;
    const wireId = asText(piece.id)?.trim() || undefined;
    const name = asText(fn.name)?.trim() || undefined;
    const input = asText(fn.arguments) ?? "";
    const signature = asText(findObject(findObject(piece.extra_content)?.google)?.thought_signature);
    this.weigh(input);
    const call = this.find({ index, wireId, name, input });
    if (call) {
      call.input += input;
      call.signature ??= signature;
      call.index ??= index;
      if (!call.name && name) call.name = name;
      return;
    }
    const isTaken = this.calls.some((one) => one.id === wireId);
    const id =
      wireId === undefined || isTaken ? `call_${this.calls.length}_${crypto.randomUUID().slice(0, 8)}` : wireId;
    this.calls.push({ id, name: name ?? "", input, signature, index, wireId });
  }

  /** In the order of their indices, where they all have one. Throws when a call never got a name. */
  all(): readonly Call[] {
    if (this.calls.some((call) => call.name === "")) throw new Error("a tool call came without a name");
    const isNumbered = this.calls.every((call) => call.index !== undefined);
    return isNumbered ? this.calls.toSorted((a, b) => a.index! - b.index!) : this.calls;
  }

  /** The call this piece adds to; undefined when it begins a new one. */
  private find(piece: {
    index: number | undefined;
    wireId: string | undefined;
    name: string | undefined;
    input: string;
  }): Call | undefined {
    const { index, wireId, name, input } = piece;
    const candidates =
      index === undefined
        ? this.calls.filter((call) => wireId === undefined || call.wireId === wireId)
        : this.calls.filter((call) => call.index === index);
    const last = candidates.at(-1);
    // Without index, id and name it can only go on with what came last.
    if (!last || (index === undefined && wireId === undefined && name !== undefined)) return undefined;
    if (name === undefined) return last;
    if (last.name !== "" && last.name !== name) return undefined;
    // The same name again: the next call where a whole input has come and another begins, else a repetition.
    return input.trimStart().startsWith("{") && isWhole(last.input) ? undefined : last;
  }
}

function isWhole(input: string): boolean {
  try {
    JSON.parse(input);
    return true;
  } catch {
    return false;
  }
}
