/** Handlers of `sessions.*`. */
import { asId, findLabel, fromJson, type HistoryEntry, type SessionKey, toJson } from "../../core/domain/index.ts";
import { type Guard, truthy } from "../../core/kit/index.ts";
import type { HistoryMessage } from "../../core/protocol/index.ts";
import { importLines } from "../../flow/sessions/index.ts";
import { scrub } from "../../ground/vault/index.ts";
import { findDoubts } from "./attention.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

interface SessionMethodParts extends Asks<"sessions" | "agents" | "records">, Pick<MethodParts, "config" | "redact"> {
  guard: Guard;
}

export function makeSessionMethods(parts: SessionMethodParts): Methods<"sessions"> {
  return {
    async "sessions.list"(p) {
      const { sessions, records } = parts.instance();
      const page = await sessions.page({ limit: p.limit ?? 50, ...truthy({ search: p.search, agent: p.agent }) });
      const doubt = await findDoubts(records.committed, page.sessions, ({ last }) => last?.turn);
      for (const one of page.sessions) if (one.last) Object.assign(one.last, doubt(one));
      return page;
    },
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
      lines: (await parts.instance().sessions.export(p.session)).map((m) =>
        fromJson<HistoryMessage>(scrub(toJson(toLine(m)), parts.redact)),
      ),
    }),
    "sessions.import": (p) =>
      importLines(
        {
          sessions: parts.instance().sessions,
          guard: parts.guard,
          agentExists: (agent) => parts.instance().agents.exists(agent),
          defaultAgent: () => parts.config.routing.defaultAgent,
        },
        p,
      ),
    async "sessions.prune"(p) {
      // A dry run lists what would be deleted, so that people can look before they lose anything.
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

/** A stored message as clients read it: the label is a field, so that nobody has to parse Lares' own line before the text. */
export function toLine(m: HistoryEntry): HistoryMessage {
  const { at, ...rest } = m;
  const label = findLabel(m.content);
  return { ...rest, ...truthy({ label }), timestamp: new Date(at).toISOString() };
}
