/** Handlers of `sessions.*`. */

import { createHash } from "node:crypto";
import {
  type AgentId,
  AppError,
  agentInSession,
  asId,
  findLabel,
  type HistoryEntry,
  type Json,
  type SessionKey,
  sessionKeys,
} from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { HistoryMessage } from "../../core/protocol/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { scrub } from "../../ground/vault/index.ts";
import type { MethodParts } from "./parts.ts";

type Methods = Pick<Handlers, `sessions.${string}` & keyof Handlers>;

export function makeSessionMethods(parts: MethodParts): Methods {
  return {
    "sessions.list": async (p) => ({
      sessions: await parts.instance().sessions.list({
        limit: p.limit ?? 50,
        ...truthy({ search: p.search, agent: p.agent }),
      }),
    }),
    "sessions.get": (p) => parts.instance().sessions.get(p.session),
    async "sessions.reset"(p) {
      await parts.instance().sessions.reset(asId<SessionKey>(p.session));
      return { session: p.session };
    },
    "sessions.delete": async (p) => ({
      deleted: true,
      messages: await parts.instance().sessions.delete(asId<SessionKey>(p.session)),
    }),
    "sessions.export": async (p) => ({
      session: p.session,
      // An export leaves the instance: it passes the log's redactor (LK-05).
      lines: (await parts.instance().sessions.export(p.session)).map(
        (m) => scrub(toLine(m) as unknown as Json, parts.redact) as unknown as HistoryMessage,
      ),
    }),
    async "sessions.import"(p) {
      // Where it goes is the caller's to say, never the file's: its lines would end up in somebody's conversation.
      const named = p.session === undefined ? undefined : agentInSession(p.session);
      const agent = p.agent ?? named ?? parts.config.routing.defaultAgent;
      const session = p.session === undefined ? importedKey(agent, p.lines) : asId<SessionKey>(p.session);
      if (!parts.instance().agents.exists(asId<AgentId>(agent))) {
        throw new AppError("AGENT_UNKNOWN", {
          message: `There is no agent "${agent}".`,
          hint: "Name one with `agent`.",
        });
      }
      const entries = p.lines.map(({ timestamp, ...rest }) => ({ ...rest, at: Date.parse(timestamp) }));
      const done = await parts.instance().sessions.import({ session, agent }, entries as unknown as HistoryEntry[]);
      return { session, ...done };
    },
    async "sessions.prune"(p) {
      const dryRun = p.dryRun ?? false;
      const sessions = await parts.instance().sessions.prune(p.olderThanDays * 86_400_000, dryRun);
      return { sessions, deleted: !dryRun };
    },
    async "sessions.rename"({ session, title }) {
      await parts.instance().sessions.rename(asId<SessionKey>(session), title);
      return { session, title };
    },
  };
}

/** The same lines again are the same session. */
function importedKey(agent: string, lines: readonly unknown[]): SessionKey {
  const print = createHash("sha256").update(JSON.stringify(lines)).digest("hex");
  return sessionKeys.imported(agent, "lares", print.slice(0, 20));
}

export function toLine(m: HistoryEntry): HistoryMessage {
  const { at, ...rest } = m;
  const label = findLabel(m.content);
  return { ...rest, ...truthy({ label }), timestamp: new Date(at).toISOString() } as unknown as HistoryMessage;
}
