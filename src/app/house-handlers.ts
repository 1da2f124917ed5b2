/** Handlers of the methods about the house itself. Each a few lines over the rooms. */

import { type AgentId, AppError, asId, type Json, listFiles, type SessionKey } from "../core/domain/index.ts";
import type { Result } from "../core/protocol/index.ts";
import { hasPrlimit } from "../edges/tools/index.ts";
import type { EventStream, Handlers } from "../faces/gateway/index.ts";
import type { Access } from "../flow/access/index.ts";
import { COMMANDS } from "../flow/commands/index.ts";
import { waitingIn } from "../flow/inbox/index.ts";
import { sessionsPerAgent } from "../flow/sessions/index.ts";
import { listTurns, NO_MODEL, usageBy } from "../flow/turns/index.ts";
import { type AuditParts, audit, type Logbook } from "../ground/observe/index.ts";
import type { LaresSettings } from "./config.ts";
import { type HandlerParts, stateOf } from "./handlers.ts";

export interface HouseHandlerParts extends HandlerParts {
  access: Access;
  settings: LaresSettings;
  events: EventStream;
  log: Logbook;
  /** The link a browser is signed in with. */
  loginUrl: (code: string) => string;
  auditing: () => Pick<AuditParts, "bind" | "token">;
}

type HouseHandlers = Pick<
  Handlers,
  | "chat.live"
  | "sessions.rename"
  | (`agents.${string}` & keyof Handlers)
  | (`config.${string}` & keyof Handlers)
  | (`tokens.${string}` & keyof Handlers)
  | "usage.summary"
  | "budget.use"
  | "logs.tail"
  | "login.code"
  | "commands.list"
  | "security.audit"
>;

const DAY_MS = 86_400_000;

export function makeHouseHandlers(parts: HouseHandlerParts): HouseHandlers {
  const { access, settings, config } = parts;
  const house = () => parts.house();
  const committed = () => house().records.committed;

  const agentInfo = (agent: string, sessions: Map<string, number>): Result<"agents.get"> => {
    const own = Object.hasOwn(config.agents, agent) ? config.agents[agent] : undefined;
    return {
      agent,
      isDefault: agent === config.routing.defaultAgent,
      policy: own?.policy?.mode ?? config.policy.mode,
      sessions: sessions.get(agent) ?? 0,
      files: house().agents.files(asId<AgentId>(agent)),
      ...(own?.model ? { model: own.model } : {}),
    };
  };
  const knownAgent = (agent: string): AgentId => {
    const id = asId<AgentId>(agent);
    if (house().agents.exists(id)) return id;
    const hint = `Known agents: ${house().agents.names().join(", ")}.`;
    throw new AppError("AGENT_UNKNOWN", { message: `There is no agent "${agent}".`, hint });
  };

  return {
    async "chat.live"({ session }) {
      const key = asId<SessionKey>(session);
      const rows = await listTurns(committed(), { session, open: true, limit: 50 });
      const unsaid = new Map((await waitingIn(committed(), key)).map((m) => [m.turn as string, m]));
      // Last and without a wait in between, so that the texts and the number belong together.
      const { seq, boot, turns } = parts.events.live(session);
      return {
        session,
        seq,
        boot,
        turns: rows.reverse().map((row) => {
          const live = turns.find((t) => t.turn === row.id);
          const last = live?.calls.at(-1);
          const said = unsaid.get(row.id);
          const attachments = listFiles(said?.attached ?? []);
          return {
            turn: row.id,
            state: stateOf(parts, row),
            acceptedAt: row.acceptedAt,
            calls: live?.calls ?? [],
            tools: live?.tools ?? [],
            ...(said ? { message: said.text } : {}),
            ...(attachments.length ? { attachments } : {}),
            ...(row.startedAt === undefined
              ? live
                ? { startedAt: live.startedAt }
                : {}
              : { startedAt: row.startedAt }),
            ...(live?.step ? { step: live.step } : {}),
            ...(last ? { call: last.call, text: last.text, thinking: last.thinking } : {}),
            ...(live?.cut ? { cut: true } : {}),
          };
        }),
      };
    },

    async "sessions.rename"({ session, title }) {
      await house().sessions.rename(asId<SessionKey>(session), title);
      return { session, title };
    },

    async "agents.list"() {
      const sessions = await sessionsPerAgent(committed());
      return {
        agents: house()
          .agents.names()
          .map((name) => agentInfo(name, sessions)),
      };
    },
    "agents.get": async ({ agent }) => agentInfo(knownAgent(agent), await sessionsPerAgent(committed())),
    async "agents.create"({ agent, soul }) {
      const id = asId<AgentId>(agent);
      if (house().agents.exists(id)) {
        throw new AppError("CONFLICT", {
          message: `There is already an agent "${agent}".`,
          hint: "Choose another name.",
        });
      }
      house().agents.ensure(id);
      if (soul !== undefined) await house().agents.writeFile(id, "SOUL.md", soul);
      return agentInfo(agent, new Map());
    },
    async "agents.files.get"({ agent, file }) {
      return { agent, file, ...(await house().agents.readFile(knownAgent(agent), file)) };
    },
    async "agents.files.set"({ agent, file, text, version }) {
      const written = await house().agents.writeFile(knownAgent(agent), file, text, version);
      return { agent, file, version: written.version };
    },

    async "usage.summary"(p) {
      const offsetMs = (p.zoneOffsetMinutes ?? 0) * 60_000;
      const today = new Date(parts.clock.now() + offsetMs).toISOString().slice(0, 10);
      const to = p.to ?? today;
      const from = p.from ?? new Date(Date.parse(to) - 29 * DAY_MS).toISOString().slice(0, 10);
      const q = {
        from: Date.parse(from) - offsetMs,
        to: Date.parse(to) + DAY_MS - offsetMs,
        offsetMs,
        ...(p.agent ? { agent: p.agent } : {}),
      };
      if (!(q.from < q.to)) {
        throw new AppError("BAD_REQUEST", {
          message: "`from` is after `to`, or no such day.",
          details: { field: "from" },
        });
      }
      const [[total], days, models, agents] = await Promise.all([
        usageBy(committed(), "total", q),
        usageBy(committed(), "day", q),
        usageBy(committed(), "model", q),
        usageBy(committed(), "agent", q),
      ]);
      return {
        from,
        to,
        total: total?.usage ?? { ...NOTHING_USED },
        days: days.map((d) => ({ day: d.name, ...d.usage })),
        models: models.map((m) => ({ model: m.name === NO_MODEL ? null : m.name, ...m.usage })),
        agents: agents.map((a) => ({ agent: a.name, ...a.usage })),
      };
    },

    async "budget.use"({ agent }) {
      const used = await house().budget.use({ agent: agent ?? config.routing.defaultAgent, session: "none" });
      return {
        budgets: used.flatMap(({ kind, name, day, caps, spent, reserved }) =>
          kind === "all" || (kind === "agent" && agent !== undefined)
            ? [{ of: kind, day, caps: { ...caps }, spent, reserved, ...(kind === "agent" ? { agent: name } : {}) }]
            : [],
        ) as Result<"budget.use">["budgets"],
      };
    },

    "logs.tail": async (p) => ({ lines: parts.log.tail(defined(p)) as Result<"logs.tail">["lines"] }),

    async "config.get"({ path }) {
      // A file that was just saved is read first: the answer is what holds from now on.
      await settings.look();
      return settings.get(path);
    },
    "config.set": ({ path, value }) => settings.set(path, value as Json | undefined),
    "config.check": ({ text }) => settings.check(text, house().agents.names()),
    "config.schema": () => settings.schema(),

    async "tokens.create"({ name, scopes }, caller) {
      const made = await access.createToken(caller.principal, { name, scopes });
      parts.log.redactor.addSecret(made.token);
      return made;
    },
    async "tokens.list"(_p, caller) {
      const { tokens, logins } = access.list();
      return {
        tokens: tokens.map((t) => ({
          id: t.id,
          name: t.name,
          scopes: t.scopes,
          createdAt: t.madeAt,
          createdBy: t.madeBy,
          ...(t.usedAt === undefined ? {} : { lastUsedAt: t.usedAt }),
        })),
        logins: logins.map((l) => ({
          id: l.id,
          name: l.name,
          browser: l.agent,
          scopes: l.scopes,
          createdAt: l.madeAt,
          lastUsedAt: l.usedAt,
          expiresAt: l.expiresAt,
          current: caller.principal.credential === l.id,
        })),
      };
    },
    async "tokens.revoke"({ id }) {
      if (await access.revoke(id)) return { id, revoked: true };
      throw new AppError("NOT_FOUND", { message: `There is no token or login "${id}".`, hint: "See tokens.list." });
    },
    async "login.code"(_p, caller) {
      const { code, expiresAt } = access.newCode(caller.principal);
      return { code, url: parts.loginUrl(code), expiresAt };
    },

    "commands.list": async () => ({
      commands: Object.entries(COMMANDS).map(([name, { usage, doc }]) => ({ name, usage, doc })),
    }),

    "security.audit": async () =>
      audit({
        home: parts.home,
        config: settings.view,
        tokens: access.list().tokens,
        sandbox: await parts.house().sandbox.state(),
        hasPrlimit,
        ...parts.auditing(),
      }),
  };
}

const NOTHING_USED = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 0,
  calls: 0,
  unknownPrice: 0,
};

/** Without the keys that were not given. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}
