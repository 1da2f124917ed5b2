/** Model calls of memory: set aside before, settled and written down after, like a turn's. */
import type { Models } from "../../core/contracts/index.ts";
import { asId, passTurn, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { IdMaker } from "../../core/kit/index.ts";
import type { Asking } from "./capture/capture.ts";

type Asked = Parameters<Asking["ask"]>[0];

export interface AskingParts {
  models: Pick<Models, "info" | "primary">;
  agentModel: (agent: string) => string | undefined;
  ids: IdMaker;
  /** One call, paid for. */
  call: (
    call: { turn: TurnId; call: number; session: SessionKey; agent: string; request: Asked["request"] },
    signal: AbortSignal,
  ) => ReturnType<Asking["ask"]>;
}

export function makeAsking({ models, agentModel, ids, call }: AskingParts): Asking {
  return {
    model(agent, configured) {
      const id = configured ?? agentModel(agent);
      const info = (id === undefined ? undefined : models.info(id)) ?? models.primary();
      return info.practice ? undefined : info.id;
    },
    ask({ purpose, session, agent, request, signal }) {
      const turn = passTurn(purpose, ids.next("x"));
      return call({ turn, call: 0, session: asId<SessionKey>(session), agent, request }, signal);
    },
  };
}
