/** The method registry's handlers: each a few lines over the rooms. Faces call them; nothing here knows a face. */

import { createHash } from "node:crypto";
import { CANCEL, type FailedAttempt, type ModelReply } from "../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type ApprovalView,
  agentInSession,
  asId,
  findLabel,
  type HistoryEntry,
  type InboundMessage,
  type Json,
  type SessionKey,
  sessionKeys,
  type TurnId,
  type Usage,
} from "../core/domain/index.ts";
import { deadline } from "../core/kit/index.ts";
import type { Approval, ChatAnswer, HistoryMessage } from "../core/protocol/index.ts";
import type { Caller, Handlers } from "../faces/gateway/index.ts";
import { countPending } from "../flow/approvals/index.ts";
import { countAttention } from "../flow/attention/index.ts";
import { listDeliveries, unsentByState } from "../flow/outbox/index.ts";
import {
  findAskers,
  listRestarts,
  listTurns,
  openNow,
  stepOutcome,
  type TurnRow,
  usageSince,
} from "../flow/turns/index.ts";
import { countOpen, type OpenThings } from "../ground/observe/index.ts";
import { scrub } from "../ground/vault/index.ts";
import { attentionIn, type makeAttentionHandlers } from "./attention-handlers.ts";
import type { makeChannelHandlers } from "./channel-handlers.ts";
import type { makeContextHandlers } from "./context-handlers.ts";
import { beatViews } from "./heartbeats.ts";
import type { House, HouseParts } from "./house.ts";
import type { makeHouseHandlers } from "./house-handlers.ts";
import type { makeImportHandlers } from "./import-handlers.ts";
import type { makeProposalHandlers } from "./import-proposals.ts";
import type { makeMemoryHandlers } from "./memory-handlers.ts";
import type { makeModelHandlers } from "./model-handlers.ts";
import type { makeSecretHandlers } from "./secret-handlers.ts";
import type { makeSkillHandlers } from "./skill-handlers.ts";
import type { makeTimeHandlers } from "./time-handlers.ts";
import type { makeWakeHandlers } from "./wake-handlers.ts";
import type { makeWorkHandlers } from "./work-handlers.ts";

export interface HandlerParts extends Pick<HouseParts, "home" | "version" | "config" | "models" | "clock" | "ids"> {
  house: () => House;
  url: () => string;
  uptimeMs: () => number;
  problems: () => string[];
  /** Hides secrets, as the log does. */
  redact: (text: string) => string;
}

export function makeHandlers(
  parts: HandlerParts,
): Omit<
  Handlers,
  | keyof ReturnType<typeof makeHouseHandlers>
  | keyof ReturnType<typeof makeChannelHandlers>
  | keyof ReturnType<typeof makeTimeHandlers>
  | keyof ReturnType<typeof makeImportHandlers>
  | keyof ReturnType<typeof makeProposalHandlers>
  | keyof ReturnType<typeof makeMemoryHandlers>
  | keyof ReturnType<typeof makeModelHandlers>
  | keyof ReturnType<typeof makeWakeHandlers>
  | keyof ReturnType<typeof makeSecretHandlers>
  | keyof ReturnType<typeof makeSkillHandlers>
  | keyof ReturnType<typeof makeWorkHandlers>
  | keyof ReturnType<typeof makeContextHandlers>
  | keyof ReturnType<typeof makeAttentionHandlers>
> {
  const { clock } = parts;
  const committed = () => parts.house().records.committed;
  return {
    health: async () => ({ ok: true, version: parts.version, uptimeMs: parts.uptimeMs() }),

    async status() {
      const house = parts.house();
      const model = parts.models.primary();
      const { rss, heapUsed } = process.memoryUsage();
      const counts = await countOpen(openThings(house));
      const midnight = new Date(clock.now()).setHours(0, 0, 0, 0);
      return {
        version: parts.version,
        pid: process.pid,
        home: parts.home,
        url: parts.url(),
        uptimeMs: parts.uptimeMs(),
        model: {
          ...{ id: model.id, practice: model.practice, because: model.because },
          ...(model.address === undefined ? {} : { address: model.address }),
        },
        ...counts,
        attention: await countAttention(attentionIn(house, parts.problems(), clock.now())),
        channels: house.channels.accounts.list().map(({ channel, account, state, detail }) => ({
          name: `${channel}/${account}`,
          state,
          ...(detail ? { detail } : {}),
        })),
        usageToday: await usageSince(committed(), midnight),
        heartbeats: (await beatViews({ ...house, now: clock.now() })).filter((one) => one.state !== "off"),
        memory: { rss, heapUsed },
        sandbox: await house.sandbox.state(),
        problems: parts.problems(),
      };
    },

    async "chat.send"(p, caller) {
      const admitted = await parts.house().inbox.admit(inbound(p, caller, parts));
      if (p.wait === false) {
        const row = await parts.house().watch.read(admitted.turn);
        return toAnswer(parts, admitted.turn, row, admitted.duplicate);
      }
      return waitFor(parts, admitted.turn, admitted.duplicate, caller.signal);
    },

    async "chat.abort"(p) {
      const { engine } = parts.house();
      const open = p.session ? await listTurns(committed(), { session: p.session, open: true, limit: 1 }) : [];
      const turn = p.turn ?? (p.session && engine.running(asId<SessionKey>(p.session))) ?? open[0]?.id;
      if (!turn) return { stopped: false };
      const taken = await engine.resume(asId<TurnId>(turn), {
        id: `abort:${turn}`,
        name: CANCEL,
        value: { why: "chat.abort" },
      });
      if (taken === "unknown") throw notFound("turn", turn);
      return { stopped: taken === "taken", turn };
    },

    async "chat.history"(p) {
      const { messages, more } = await parts.house().sessions.history({
        session: p.session,
        limit: p.limit ?? 100,
        ...(p.before === undefined ? {} : { before: p.before }),
      });
      return { session: p.session, messages: messages.map(line), more };
    },

    async "turns.get"(p) {
      const turn = asId<TurnId>(p.turn);
      const row = await parts.house().watch.read(turn);
      if (!row) throw notFound("turn", p.turn);
      const steps = [];
      for await (const e of parts.house().engine.history({ turn })) {
        const { segment, index, kind, name, state, at, endedAt } = e;
        const more = { ...stepOutcome(e), ...(name.startsWith("model:") ? callFacts(e.payload) : {}) };
        steps.push({ segment, index, kind, name, state, at, ...(endedAt === undefined ? {} : { endedAt }), ...more });
      }
      const { result } = row;
      return {
        turn,
        session: row.session,
        agent: row.agent,
        state: stateOf(parts, row),
        acceptedAt: row.acceptedAt,
        ...(row.startedAt === undefined ? {} : { startedAt: row.startedAt }),
        ...(row.endedAt === undefined ? {} : { endedAt: row.endedAt }),
        ...(result ? { response: result.text, usage: result.usage } : {}),
        ...(result?.reason ? { reason: result.reason } : {}),
        ...(result?.model ? { model: result.model } : {}),
        ...(result?.practice ? { practice: true } : {}),
        ...(result?.failure ? { failure: result.failure } : {}),
        ...(result?.joined ? { joined: result.joined } : {}),
        notices: result?.notices ?? [],
        approvals: await wireAll(parts, await parts.house().approvals.list({ pendingOnly: false, turn, limit: 100 })),
        steps,
        restarts: await listRestarts(committed(), turn),
        deliveries: await listDeliveries(committed(), turn),
      };
    },

    "turns.wait": (p, caller) => waitFor(parts, asId<TurnId>(p.turn), false, caller.signal),

    async "turns.list"(p) {
      const rows = await listTurns(committed(), {
        limit: p.limit ?? 50,
        ...(p.session ? { session: p.session } : {}),
        ...(p.open ? { open: true } : {}),
      });
      return {
        turns: rows.map((row) => ({
          turn: row.id,
          session: row.session,
          agent: row.agent,
          state: stateOf(parts, row),
          acceptedAt: row.acceptedAt,
          ...(row.endedAt === undefined ? {} : { endedAt: row.endedAt }),
          ...(row.result?.failure ? { failure: row.result.failure } : {}),
          ...(row.result?.reason ? { reason: row.result.reason } : {}),
          ...(row.result?.notices.length ? { notices: row.result.notices } : {}),
        })),
      };
    },

    "sessions.list": async (p) => ({
      sessions: await parts.house().sessions.list({
        limit: p.limit ?? 50,
        ...(p.search ? { search: p.search } : {}),
        ...(p.agent ? { agent: p.agent } : {}),
      }),
    }),
    "sessions.get": (p) => parts.house().sessions.get(p.session),
    async "sessions.reset"(p) {
      await parts.house().sessions.reset(asId<SessionKey>(p.session));
      return { session: p.session };
    },
    "sessions.delete": async (p) => ({
      deleted: true,
      messages: await parts.house().sessions.delete(asId<SessionKey>(p.session)),
    }),
    "sessions.export": async (p) => ({
      session: p.session,
      // An export leaves the house: it passes the log's redactor (LK-05).
      lines: (await parts.house().sessions.export(p.session)).map(
        (m) => scrub(line(m) as unknown as Json, parts.redact) as unknown as HistoryMessage,
      ),
    }),
    async "sessions.import"(p) {
      // Where it goes is the caller's to say, never the file's: its lines would end up in somebody's conversation.
      const named = p.session === undefined ? undefined : agentInSession(p.session);
      const agent = p.agent ?? named ?? parts.config.routing.defaultAgent;
      const session = p.session === undefined ? importedKey(agent, p.lines) : asId<SessionKey>(p.session);
      if (!parts.house().agents.exists(asId<AgentId>(agent))) {
        throw new AppError("AGENT_UNKNOWN", {
          message: `There is no agent "${agent}".`,
          hint: "Name one with `agent`.",
        });
      }
      const entries = p.lines.map(({ timestamp, ...rest }) => ({ ...rest, at: Date.parse(timestamp) }));
      const done = await parts.house().sessions.import({ session, agent }, entries as unknown as HistoryEntry[]);
      return { session, ...done };
    },
    async "sessions.prune"(p) {
      const dryRun = p.dryRun ?? false;
      const sessions = await parts.house().sessions.prune(p.olderThanDays * 86_400_000, dryRun);
      return { sessions, deleted: !dryRun };
    },

    "approvals.list": async (p) => ({
      approvals: await wireAll(
        parts,
        await parts.house().approvals.list({
          pendingOnly: p.state !== "all",
          limit: p.limit ?? 100,
          ...(p.session ? { session: p.session } : {}),
        }),
      ),
    }),
    async "approvals.get"(p) {
      const found = await parts.house().approvals.get(p.id);
      if (!found) throw notFound("approval", p.id);
      const { whole } = found.action;
      return { ...(await wireOne(parts, found)), ...(typeof whole === "string" ? { whole } : {}) };
    },
    async "approvals.resolve"(p, caller) {
      const by = caller.principal.name;
      const answer = { decision: p.decision, by, ...(p.reason ? { reason: p.reason } : {}) };
      return wireOne(parts, await parts.house().approvals.resolve(p.id, answer));
    },
    "approvals.rules": async (p) => ({ rules: await parts.house().approvals.rules(p.agent) }),
    "approvals.forget": async (p) => ({ forgotten: await parts.house().approvals.forget(p.agent, p.rule) }),
  };
}

/** What is open at this moment. */
export function openThings({ records, engine }: House): OpenThings {
  const db = records.committed;
  return {
    turns: () => openNow(db),
    pendingApprovals: () => countPending(db),
    unsentDeliveries: () => unsentByState(db),
    running: (session) => engine.running(session),
  };
}

/** The same lines again are the same session. */
function importedKey(agent: string, lines: readonly unknown[]): SessionKey {
  const print = createHash("sha256").update(JSON.stringify(lines)).digest("hex");
  return sessionKeys.imported(agent, "lares", print.slice(0, 20));
}

function inbound(
  p: {
    message: string;
    session?: string;
    user?: string;
    agent?: string;
    once?: boolean;
    replaces?: string;
    attachments?: string[];
  } & Pick<InboundMessage, "mode" | "model" | "idempotencyKey" | "given">,
  caller: Caller,
  parts: HandlerParts,
): InboundMessage {
  // A key must find the same place again, so a conversation of its own is named after it.
  const user = p.once ? `once-${p.idempotencyKey ?? parts.ids.next("o")}` : (p.user ?? "owner");
  return {
    route: { channel: caller.channel, account: caller.principal.id, chat: user },
    sender: { id: user },
    // What is not said to the model is a label for people.
    ...(p.given?.silent ? { text: "", about: { label: { kind: "results", text: p.message } } } : { text: p.message }),
    mayApprove: caller.principal.scopes.has("approvals"),
    authority: caller.principal.scopes.has("admin") ? "owner" : "known",
    ...(p.session ? { session: asId<SessionKey>(p.session) } : {}),
    ...(p.agent ? { agent: asId<AgentId>(p.agent) } : {}),
    ...(p.mode ? { mode: p.mode } : {}),
    ...(p.model ? { model: p.model } : {}),
    ...(p.once ? { brief: true } : {}),
    ...(p.given ? { given: p.given } : {}),
    ...(caller.face ? { face: caller.face } : {}),
    ...(p.replaces ? { replaces: asId<TurnId>(p.replaces) } : {}),
    ...(p.attachments?.length ? { attachments: { ids: p.attachments, by: caller.principal.id } } : {}),
    ...(p.idempotencyKey ? { idempotencyKey: p.idempotencyKey, fingerprint: fingerprintOf(p, user) } : {}),
  };
}

/** Without the attachments: a request of `/v1` that is sent again uploads its pictures again. */
function fingerprintOf(
  p: Pick<InboundMessage, "model" | "given"> & { message: string; replaces?: string },
  user: string,
) {
  const asked = JSON.stringify([p.message, user, p.model ?? null, p.replaces ?? null, p.given ?? null]);
  return createHash("sha256").update(asked).digest("base64url");
}

/** Waits for the end; for a parked turn only as long as a caller is asked to wait. */
async function waitFor(parts: HandlerParts, turn: TurnId, duplicate: boolean, gone: AbortSignal): Promise<ChatAnswer> {
  const { watch } = parts.house();
  for (;;) {
    const first = await watch.until(turn, (row) => row.endedAt !== undefined || row.state === "parked", gone);
    if (!first) throw notFound("turn", turn);
    if (first.endedAt !== undefined || gone.aborted) return toAnswer(parts, turn, first, duplicate);
    const patience = deadline(gone, parts.config.gateway.http.wait * 1000);
    const row = await watch.until(turn, (r) => r.endedAt !== undefined, patience.signal).finally(patience.done);
    // Somebody answered meanwhile and it works again: then its end is what the caller waits for.
    if (row && row.endedAt === undefined && row.state !== "parked" && !gone.aborted) continue;
    return toAnswer(parts, turn, row, duplicate);
  }
}

async function toAnswer(
  parts: HandlerParts,
  turn: TurnId,
  row: TurnRow | undefined,
  duplicate: boolean,
): Promise<ChatAnswer> {
  if (!row) throw notFound("turn", turn);
  const { result } = row;
  const state = stateOf(parts, row);
  const [asked] =
    state === "parked" ? await parts.house().approvals.list({ pendingOnly: true, turn: row.id, limit: 1 }) : [];
  return {
    turn,
    session: row.session,
    agent: row.agent,
    state,
    response: result ? result.text || result.reason || "" : asked ? interim(asked) : state === "parked" ? PAUSED : "",
    notices: result?.notices ?? [],
    duplicate,
    ...(result?.reason ? { reason: result.reason } : {}),
    ...(result?.model ? { model: result.model } : {}),
    ...(result?.practice ? { practice: true } : {}),
    ...(result?.failure ? { failure: result.failure } : {}),
    ...(result?.cut ? { cut: true } : {}),
    ...(result ? { usage: result.usage } : {}),
    ...(row.id === turn ? {} : { joined: row.id }),
    ...(asked ? { approval: await wireOne(parts, asked) } : {}),
    ...(result?.callerCalls ? { toolCalls: result.callerCalls } : {}),
  };
}

const PAUSED = "This waits for something that ends by itself; the answer comes then.";

function interim(a: ApprovalView): string {
  return `This waits for your approval (${a.id}): ${a.shown}`;
}

/** The row says queued until it ends; the engine knows what runs. */
export function stateOf(parts: Pick<HandlerParts, "house">, row: TurnRow): TurnRow["state"] {
  if (row.endedAt !== undefined) return row.state;
  return parts.house().engine.running(row.session) === row.id ? "running" : row.state;
}

/** What the journal says about a model call. */
function callFacts(payload: Json | undefined): { model?: string; usage?: Usage; failed?: FailedAttempt[] } {
  const { reply } = (payload ?? {}) as unknown as { reply?: ModelReply };
  if (!reply) return {};
  return {
    usage: reply.usage,
    ...(reply.ok ? { model: reply.model } : {}),
    ...(reply.failed?.length ? { failed: reply.failed } : {}),
  };
}

function line(m: HistoryEntry): HistoryMessage {
  const { at, ...rest } = m;
  const label = findLabel(m.content);
  return { ...rest, ...(label ? { label } : {}), timestamp: new Date(at).toISOString() } as unknown as HistoryMessage;
}

/** Of the action only the rule goes out: the rest is shown by the tool in its own words. */
async function wireAll(parts: Pick<HandlerParts, "house">, asked: readonly ApprovalView[]): Promise<Approval[]> {
  if (asked.length === 0) return [];
  const askers = await findAskers(
    parts.house().records.committed,
    asked.map((a) => a.turn),
  );
  return asked.map(({ action, ...rest }) => {
    const askedBy = askers.get(rest.turn);
    return {
      ...rest,
      ...(typeof action.rule === "string" && action.rule ? { rule: action.rule } : {}),
      ...(typeof action.whole === "string" ? { cut: true } : {}),
      ...(askedBy ? { askedBy } : {}),
    };
  });
}

async function wireOne(parts: Pick<HandlerParts, "house">, asked: ApprovalView): Promise<Approval> {
  return (await wireAll(parts, [asked]))[0]!;
}

function notFound(what: string, id: string): AppError {
  return new AppError("NOT_FOUND", { message: `There is no ${what} "${id}".` });
}
