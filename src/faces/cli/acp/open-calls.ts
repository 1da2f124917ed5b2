/** Tool calls that the editor has been shown and whose end it hasn't. Events may be lost; at the turn's end the history says the rest. */
import type { Json } from "../../../core/domain/index.ts";
import type { Approval, Client, HistoryMessage } from "../../../core/protocol/index.ts";
import { acpWords as words } from "../words/acp.ts";
import { isReplacing, showBefore } from "./before.ts";
import { type ModelCall, resultContent } from "./calls.ts";
import { callEnded, callStarted } from "./updates.ts";
import type { SessionUpdate, ShownCall, ToolContent } from "./wire.ts";

interface ShownOpen {
  turn: string;
  hasDiff: boolean;
  /** It replaces a file: the diff needs what was there before. */
  replaces: ShownCall | undefined;
}

/** Calls are among the newest messages: a reply asks for them, and their results follow. */
const MOST_LOOKED_AT = 200;

export class OpenCalls {
  private readonly place: { session: string; folder: string };
  private readonly parts: { rpc: Client; update(update: SessionUpdate): void };
  private readonly open = new Map<string, ShownOpen>();
  /** Ends that wait for what was there before. */
  private readonly telling = new Set<Promise<void>>();
  /** By approval: the call it is about. */
  private readonly asked = new Map<string, string>();

  constructor(place: OpenCalls["place"], parts: OpenCalls["parts"]) {
    this.place = place;
    this.parts = parts;
  }

  started(call: ModelCall & { turn: string }): void {
    const update = callStarted(call, this.place.folder, this.open.has(call.id));
    const isNew = update.sessionUpdate === "tool_call";
    if (isNew) this.keep(update, call.turn);
    // Until it is known what was there, the diff would claim that the file is new.
    this.parts.update(isNew && isReplacing(update) ? { ...update, content: [] } : update);
  }

  /** What a call says about itself while it runs. A diff stays in view. */
  progress(id: string, text: string): void {
    const content = this.open.get(id)?.hasDiff === false ? resultContent(text) : [];
    if (content.length > 0)
      this.parts.update({ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress", content });
  }

  ended(result: { id: string; text: string; isError: boolean }): void {
    const known = this.open.get(result.id);
    if (!known) return;
    this.open.delete(result.id);
    const { turn, replaces, hasDiff } = known;
    if (!replaces || result.isError) {
      this.parts.update(callEnded(result, hasDiff));
      return;
    }
    const told = showBefore(this.parts.rpc, replaces, turn)
      .catch(() => replaces)
      .then(({ content }) => this.tellReplaced(result, content));
    this.telling.add(told);
    void told.finally(() => this.telling.delete(told));
  }

  private tellReplaced(result: { id: string; text: string }, shown: readonly ToolContent[]): void {
    const diffs = shown.filter(({ type }) => type === "diff");
    const content = diffs.length > 0 ? diffs : resultContent(result.text);
    this.parts.update({ sessionUpdate: "tool_call_update", toolCallId: result.id, status: "completed", content });
  }

  /** Before permission is asked for: the question is about a call that the editor knows. */
  announce(shown: ShownCall, turn: string): void {
    if (this.open.has(shown.toolCallId)) return;
    this.parts.update({ sessionUpdate: "tool_call", status: "pending", ...shown });
    this.keep(shown, turn);
  }

  denied(approval: string, why: string): void {
    const id = this.asked.get(approval);
    this.asked.delete(approval);
    if (id !== undefined) this.ended({ id, text: why, isError: true });
  }

  /** The call that an approval is about, as the model made it. */
  async find(a: Approval): Promise<ModelCall | undefined> {
    if (a.call === undefined) return undefined;
    this.asked.set(a.id, a.call);
    for (const { content } of await this.newest(a.session)) {
      for (const part of content)
        if (part.type === "tool-call" && part.id === a.call) return { ...part, input: part.input as Json };
    }
    return undefined;
  }

  /** The turn is over, and so are its calls. */
  async close(turn: string): Promise<void> {
    const left = [...this.open].filter(([, one]) => one.turn === turn).map(([id]) => id);
    if (left.length > 0) await this.closeLeft(left);
    await Promise.all(this.telling);
  }

  private async closeLeft(left: readonly string[]): Promise<void> {
    const parts = (await this.newest(this.place.session)).flatMap(({ content }) => content);
    for (const id of left) {
      const found = parts.find((part) => part.type === "tool-result" && part.id === id && part.notRun !== "waiting");
      const { text, isError } = found?.type === "tool-result" ? found : { text: words.noResult, isError: true };
      this.ended({ id, text, isError: isError ?? false });
    }
  }

  private keep(shown: ShownCall, turn: string): void {
    const hasDiff = shown.content.some(({ type }) => type === "diff");
    this.open.set(shown.toolCallId, { turn, hasDiff, replaces: isReplacing(shown) ? shown : undefined });
  }

  private async newest(session: string): Promise<HistoryMessage[]> {
    return (await this.parts.rpc.call("chat.history", { session, limit: MOST_LOOKED_AT })).messages;
  }
}
