import type { ToolCaller } from "../../core/contracts/index.ts";
import { AppError, asId, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { Children } from "./children.ts";
import type { TeamsConfig } from "./config.ts";

/** What the session tools see of other conversations. */
export interface OtherSessions {
  list(q: { limit: number; agent?: string }): Promise<readonly { session: string; title?: string | undefined }[]>;
  history(q: { session: string; limit: number }): Promise<{
    messages: readonly { role: string; content: readonly ({ text: string } | { name: string })[]; forgotten?: true }[];
  }>;
  /** How a turn ended; nothing while it runs. */
  outcome(turn: TurnId): Promise<string | undefined>;
  hasReadOutside(session: SessionKey): Promise<boolean>;
}

/** What the session tools see: a session's own sub-agents, and others as far as the settings let it. */
export function makeToolPort(
  children: Children,
  sessions: OtherSessions,
  settings: {
    visibility: () => TeamsConfig["visibility"];
    /** Throws for a name that nobody knows. */
    runtime: (name: string, agent: string) => { name: string; isForeign: boolean };
    hasOtherBody: (agent: string) => boolean;
  },
) {
  const { visibility, runtime, hasOtherBody } = settings;
  return {
    runtime,
    hasOtherBody,
    spawn: (given: Parameters<Children["spawn"]>[0]) => children.spawn(given),
    send: (given: Parameters<Children["send"]>[0]) => children.send(given),
    stop: (session: string, caller: ToolCaller) => children.end(session, caller),
    async list(caller: ToolCaller) {
      const rows = await children.list(caller.session);
      const own = await Promise.all(
        rows.map(async (row) => ({
          session: row.session,
          task: row.task.split("\n")[0]!.slice(0, 120),
          state: (await sessions.outcome(row.turn)) ?? "running",
          // The task is what this session itself asked for.
          origin: "own" as const,
        })),
      );
      if (visibility() === "tree") return own;
      const only = visibility() === "agent" ? { agent: caller.agent } : {};
      const others = (await sessions.list({ limit: 50, ...only })).filter(
        (one) => one.session !== caller.session && !own.some((row) => row.session === one.session),
      );
      // Titles of other conversations are what somebody wrote there.
      const titled = others.map(({ session, title }) => ({ session, task: title ?? "", state: "a session" }));
      return [...own, ...titled.map((one) => ({ ...one, origin: "outside" as const }))];
    },
    async history(session: string, limit: number, caller: ToolCaller) {
      if (!(await children.mayRead(caller, session))) {
        throw new AppError("TOOL_INPUT", {
          message: `You have no sub-agent "${session}".`,
          hint: "sessions_list shows them.",
        });
      }
      const { messages } = await sessions.history({ session, limit });
      const isOwn =
        (await children.isBelow(caller.session, session)) && !(await sessions.hasReadOutside(asId(session)));
      return {
        origin: isOwn ? ("own" as const) : ("outside" as const),
        messages: messages.map((m) => ({
          role: m.role,
          text: m.forgotten
            ? "[forgotten]"
            : m.content.map((part) => ("text" in part ? part.text : `[${part.name}]`)).join(""),
        })),
      };
    },
  };
}
