/** The chat that was asked shows who answered and how, wherever they did. */
import type { Tx } from "../../core/contracts/index.ts";
import type { ApprovalView, ReplyRoute, SessionKey, TurnId } from "../../core/domain/index.ts";
import { askedOn } from "./store.ts";
import { outcomeText } from "./words.ts";

export interface AnswerShowerParts {
  /** Where a turn's answers go. */
  findRoute(turn: TurnId): Promise<ReplyRoute | undefined>;
  /** What to write with the answer; nothing where the platform can't change a message. */
  rewrite(question: {
    turn: TurnId;
    session: SessionKey;
    route: ReplyRoute;
    approval: string;
    outcome: string;
  }): Promise<((tx: Tx) => void) | undefined>;
}

export function answerShower({ findRoute, rewrite }: AnswerShowerParts) {
  return async (
    { turn, session, id, action }: ApprovalView,
    answer: { decision: string; by: string },
  ): ReturnType<AnswerShowerParts["rewrite"]> => {
    const route = askedOn(action) ?? (await findRoute(turn));
    return route && rewrite({ turn, session, route, approval: id, outcome: outcomeText(answer) });
  };
}
