/** Turns as clients read them: a line of a list, and one that is not over with what it has said so far. */
import { listFiles, type TurnState } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { toSpeaker } from "./speakers.ts";
import type { TurnRow } from "./store.ts";

type ShownLine = Result<"turns.list">["turns"][number];
type ShownLive = Result<"chat.live">["turns"][number];

/** What the gateway has heard of a running turn. */
type HeardSoFar = Pick<ShownLive, "calls" | "tools" | "step" | "cut" | "startedAt">;

/** The message a turn is to answer, while no model call contains it. */
interface TextToAnswer {
  text: string;
  label: ShownLive["label"] | null;
  attached: Parameters<typeof listFiles>[0];
}

export function toListed(row: TurnRow, state: TurnState): ShownLine {
  const { result } = row;
  return {
    turn: row.id,
    session: row.session,
    agent: row.agent,
    state,
    acceptedAt: row.acceptedAt,
    ...defined({ endedAt: row.endedAt }),
    ...truthy({ failure: result?.failure, reason: result?.reason }),
    ...(result?.notices.length ? { notices: result.notices } : {}),
  };
}

/** `caller`: who reads it. */
export function toLive(
  row: TurnRow,
  state: TurnState,
  { live, said, caller }: { live: HeardSoFar | undefined; said: TextToAnswer | undefined; caller: string },
): ShownLive {
  const last = live?.calls.at(-1);
  const attachments = listFiles(said?.attached ?? []);
  return {
    turn: row.id,
    state,
    acceptedAt: row.acceptedAt,
    calls: live?.calls ?? [],
    tools: live?.tools ?? [],
    ...(said ? { message: said.text, speaker: toSpeaker({ route: row.route, name: null }, caller) } : {}),
    ...truthy({ label: said?.label }),
    ...(attachments.length ? { attachments } : {}),
    ...defined({ startedAt: row.startedAt ?? live?.startedAt }),
    ...truthy({ step: live?.step, cut: live?.cut }),
    ...(last ? { call: last.call, text: last.text, thinking: last.thinking } : {}),
  };
}
