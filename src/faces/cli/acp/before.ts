/** Diffs of calls that replace a whole file: the call has the new content only, so Lares is asked what was there before. */
import type { Client } from "../../../core/protocol/index.ts";
import type { SessionUpdate, ShownCall, ToolContent } from "./wire.ts";

export function isReplacing({ name }: Pick<ShownCall, "name">): boolean {
  return name === "write";
}

/** The call with what its file had in it before; other calls as they are. */
export async function showBefore<T extends ShownCall>(rpc: Client, shown: T, turn: string): Promise<T> {
  if (!isReplacing(shown)) return shown;
  const { kept, files } = await rpc.call("undo.before", { turn, call: shown.toolCallId });
  const [before] = files;
  const content = shown.content.flatMap((one): ToolContent[] => {
    if (one.type !== "diff" || (!before && !kept)) return [one];
    // The same content as before: there is nothing to show.
    return before ? [{ ...one, oldText: before.text ?? null }] : [];
  });
  return { ...shown, content };
}

/** Older diffs of a loaded session show the new content only: each costs a question. */
const MOST_ASKED = 50;

/** Replayed updates, the newest last. Not knowing what was there stops nothing. */
export async function replayBefore(
  rpc: Client,
  updates: readonly { update: SessionUpdate; turn: string }[],
): Promise<SessionUpdate[]> {
  const isAsked = ({ update }: { update: SessionUpdate }) =>
    update.sessionUpdate === "tool_call" && isReplacing(update);
  const asked = new Set(updates.filter(isAsked).slice(-MOST_ASKED));
  return Promise.all(
    updates.map(async (one) => {
      const { update, turn } = one;
      if (!asked.has(one) || update.sessionUpdate !== "tool_call") return update;
      return showBefore(rpc, update, turn).catch(() => update);
    }),
  );
}
