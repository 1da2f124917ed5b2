/** What jobs need from the rest of Lares: whether they could run, their files, messages to people, cleaning up their sessions. */
import type { Models, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  nowhereToDeliver,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
  type Unreachable,
  unknownAgent,
} from "../../core/domain/index.ts";
import { withInside } from "../../core/files/index.ts";
import type { ScheduleParts } from "./ports.ts";

export interface JobSurroundings {
  /** Rewrites `lares …` in our own text to the command that works here. */
  called: (text: string) => string;
  agents: {
    exists(agent: AgentId): boolean;
    names(): readonly string[];
    place(agent: AgentId): { workspace: string };
  };
  models: Pick<Models, "primary" | "info" | "list">;
  agentModel: (agent: AgentId) => string | undefined;
  whyUnreachable: (route: ReplyRoute) => Unreachable | undefined;
  outbox: {
    intend(
      tx: Tx,
      message: { answer: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string },
    ): void;
    lost: ScheduleParts["lost"];
    wake(turn: TurnId): Promise<void>;
  };
  /** Throws NOT_FOUND when there is none. */
  deleteSession(session: SessionKey): Promise<unknown>;
  /** Whether anything in this session is still running. */
  isOpen: (session: SessionKey) => Promise<boolean>;
}

type Ports = Pick<ScheduleParts, "obstacle" | "files" | "tell" | "lost" | "wake" | "removeSession">;

export function jobPorts(around: JobSurroundings): Ports {
  const { agents, outbox } = around;
  return {
    obstacle: ({ agent, route, model }) =>
      missingAgent(around, agent) ?? unreachable(around, route) ?? unusable(around, agent, model),
    files: {
      mark: (agent, path) =>
        withInside({ root: agents.place(agent).workspace, path, parents: "imagine" }, async (inside) => {
          const found = inside.stat();
          return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : null;
        }),
      leave: (agent, name, text) => {
        const path = `.lares/jobs/${name.replace(/[^\p{L}\p{N}._-]/gu, "_")}`;
        return withInside({ root: agents.place(agent).workspace, path, parents: "make" }, async (inside) => {
          await inside.writeAtomic(text, `job ${name}`);
          return inside.path;
        });
      },
    },
    tell: (tx, { key, ...word }) => outbox.intend(tx, { answer: key, ...word, text: around.called(word.text) }),
    lost: (of) => outbox.lost(of),
    // During a stop the records may be closed already; the next start sends what is recorded as intended.
    wake: (turn: TurnId) => void outbox.wake(turn).catch(() => {}),
    async removeSession(session) {
      if (await around.isOpen(session)) return false;
      try {
        await around.deleteSession(session);
      } catch (error) {
        if (!(error instanceof AppError && error.code === "NOT_FOUND")) throw error;
      }
      return true;
    },
  };
}

function missingAgent({ agents }: JobSurroundings, agent: AgentId): AppError | undefined {
  return agents.exists(agent) ? undefined : unknownAgent(agent, agents.names());
}

function unreachable({ whyUnreachable }: JobSurroundings, route: ReplyRoute | null): AppError | undefined {
  const why = route && whyUnreachable(route);
  if (!route || !why) return undefined;
  const hint = "Configure that channel first, or leave the delivery out. See: lares channels list";
  return new AppError("CHANNEL_UNKNOWN", { hint, ...nowhereToDeliver(route, why) });
}

/** `model` absent: none is needed. Null: the agent's, or else the default. */
function unusable(around: JobSurroundings, agent: AgentId, model: string | null | undefined): AppError | undefined {
  if (model === undefined) return undefined;
  const { models } = around;
  const chosen = model ?? around.agentModel(agent) ?? models.primary().id;
  if (models.info(chosen)) return undefined;
  const known = models.list().map((one) => one.id);
  return new AppError("MODEL_UNKNOWN", {
    message: `The model ${chosen} can't be used: its provider isn't set up.`,
    hint: `Set its key, or choose one of ${known.slice(0, 5).join(", ")}.`,
  });
}
