import type { BoardState, TaskId } from "./board.ts";
import type { ApprovalId, SessionKey, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { EventLabel, listFiles, ReplyRoute } from "./message.ts";
import type { ApprovalState, EndState } from "./turn.ts";

/** What happens while somebody watches. Live news only: the records are the truth, an event may be lost. */
export type LiveEvent =
  | {
      event: "turn.accepted";
      session: SessionKey;
      turn: TurnId;
      text: string;
      route: ReplyRoute;
      /** What happened, when nobody wrote it. */
      label?: EventLabel;
      attachments?: ReturnType<typeof listFiles>;
    }
  | { event: "turn.started"; session: SessionKey; turn: TurnId; segment: number }
  | { event: "turn.step"; session: SessionKey; turn: TurnId; step: string }
  | { event: "turn.answering"; session: SessionKey; turn: TurnId; call: number; model: string; practice: boolean }
  | { event: "turn.delta"; session: SessionKey; turn: TurnId; call: number; text: string }
  | { event: "turn.thinking"; session: SessionKey; turn: TurnId; call: number; text: string }
  | { event: "turn.discarded"; session: SessionKey; turn: TurnId; call: number }
  | {
      event: "turn.retrying";
      session: SessionKey;
      turn: TurnId;
      call: number;
      model: string;
      failure: string;
      attempt: number;
      inMs: number;
    }
  | { event: "turn.parked"; session: SessionKey; turn: TurnId; approvals: ApprovalId[] }
  | { event: "turn.ended"; session: SessionKey; turn: TurnId; state: EndState; text: string; joined?: TurnId }
  | { event: "tool.call"; session: SessionKey; turn: TurnId; id: string; name: string; input: Json }
  | { event: "tool.progress"; session: SessionKey; turn: TurnId; id: string; name: string; text: string }
  | {
      event: "tool.result";
      session: SessionKey;
      turn: TurnId;
      id: string;
      name: string;
      text: string;
      isError: boolean;
    }
  | { event: "approval.asked"; session: SessionKey; turn: TurnId; approval: ApprovalId; shown: string; because: string }
  | {
      event: "approval.answered";
      session: SessionKey;
      turn: TurnId;
      approval: ApprovalId;
      state: ApprovalState;
      by: string;
    }
  | { event: "approval.reminded"; session: SessionKey; turn: TurnId; approval: ApprovalId; count: number }
  | { event: "delivery"; session: SessionKey; turn: TurnId; delivery: string; state: string; error?: string }
  | { event: "session.changed"; session: SessionKey; what: "reset" | "deleted" | "imported" | "updated" }
  | { event: "board.changed"; task: TaskId; number: number; title: string; state: BoardState }
  | { event: "schedule.fired"; schedule: string; session: SessionKey; turn: TurnId }
  | { event: "channel.status"; channel: string; state: string; detail?: string }
  | { event: "channel.knock"; channel: string; sender: string }
  | { event: "config.changed"; changed: string[]; restart: string[]; problems: string[] }
  | { event: "team.post"; team: string; seq: number; author: string }
  | { event: "memory.changed"; what: "facts" | "vectors" }
  | { event: "log"; seq: number; level: string; time: string; room: string; what: string; facts?: Json };
