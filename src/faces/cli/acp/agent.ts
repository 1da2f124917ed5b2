/**
 * `lares acp`: Lares as the agent of a code editor, over the Agent Client Protocol. A thin bridge: sessions, history, approvals and rules are
 * the gateway's, and a fresh process goes on where another one ended.
 *
 * ACP-4: the capabilities that `initialize` lists are those the bridge has; everything else is refused in words.
 */
import { AppError, EDITOR_MARK, type LiveEvent, readEditorSession } from "../../../core/domain/index.ts";
import { type Clock, defined, RPC_CODES, RpcFailure, type RpcHandler, RpcPeer } from "../../../core/kit/index.ts";
import type { Client } from "../../../core/protocol/index.ts";
import { type Events, followEvents } from "../chat/events.ts";
import type { FindGateway } from "../connection.ts";
import type { Output } from "../output.ts";
import { acpWords as words } from "../words/acp.ts";
import { replayBefore } from "./before.ts";
import { EditorServers } from "./servers.ts";
import { EditorSession, type OpenedPlace, PATIENCE_MS } from "./session.ts";
import { listCommands, OWN_MODEL, toModes, toOptions } from "./shown.ts";
import { MEANINGS, replay } from "./updates.ts";
import { upload } from "./upload.ts";
import { PROTOCOL_VERSION, type SessionUpdate, said } from "./wire.ts";

export interface AgentParts {
  find: FindGateway;
  rpc: Client;
  clock: Clock;
  out: Pick<Output, "hint" | "ours">;
  version: string;
  /** The agent to talk to; without a word, the default one. */
  agent: string | undefined;
  write(line: string): void;
}

/** Sessions one editor has open: each costs little, but a client that never closes any must not grow without end. */
const MOST_SESSIONS = 256;
/** Messages that are replayed when a session is loaded; the rest can be read on the page. */
const MOST_REPLAYED = 2000;
const PAGE = 500;
const MOST_LISTED = 500;

type RpcParams = Record<string, unknown>;

export class AcpAgent {
  readonly peer: RpcPeer;
  private readonly parts: AgentParts;
  private readonly sessions = new Map<string, EditorSession>();
  private events: Promise<Events> | undefined;
  private givingUp: (() => void) | undefined;
  private isReady = false;
  private showsNotices = false;
  private isClosed = false;

  constructor(parts: AgentParts) {
    this.parts = parts;
    this.peer = new RpcPeer({
      words,
      write: parts.write,
      requests: { initialize: async (params) => this.initialize(params), ...this.requests() },
      mayAnswer: (method) => this.isReady || method === "initialize",
      notifications: { "session/cancel": ({ sessionId }) => this.sessions.get(String(sessionId))?.cancel() },
      explain: (error) => (error instanceof AppError ? this.explain(error) : undefined),
    });
  }

  /** Resolves when nothing of the editor's is left at the gateway. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.peer.close();
    this.givingUp?.();
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
    this.events?.then((events) => events.close()).catch(() => {});
  }

  private requests(): Record<string, RpcHandler> {
    return {
      // There is nothing to log in with: the token is the home's, or was given to this program.
      authenticate: async () => {
        await this.parts.rpc.call("health", {});
        return {};
      },
      "session/new": async (params, { answered }) => {
        const place = await this.place(params);
        return this.opened(place, params, answered);
      },
      "session/load": async (params, { answered }) => {
        const place = await this.place(params, text(params, "sessionId"));
        await this.replay(place);
        return this.opened(place, params, answered);
      },
      "session/resume": async (params, { answered }) => {
        const place = await this.place(params, text(params, "sessionId"));
        return this.opened(place, params, answered);
      },
      "session/list": async (params) => this.list(params),
      "session/close": async (params) => {
        const session = this.get(params);
        session.cancel();
        await session.close();
        this.sessions.delete(session.place.session);
        return {};
      },
      "session/delete": async (params) => {
        const session = text(params, "sessionId");
        await this.sessions.get(session)?.close();
        this.sessions.delete(session);
        await this.parts.rpc.call("sessions.delete", { session }).catch(unlessGone);
        return {};
      },
      "session/prompt": async (params, { signal }) => ({
        stopReason: await this.get(params).prompt(params.prompt, signal),
      }),
      "session/set_mode": async (params) => {
        const mode = text(params, "modeId") as OpenedPlace["mode"];
        await this.tune(this.get(params), { mode });
        return {};
      },
      "session/set_config_option": async (params) => {
        const session = this.get(params);
        if (params.configId !== "model")
          throw new RpcFailure(RPC_CODES.invalidParams, words.missing("model", "configId"));
        const value = text(params, "value");
        await this.tune(session, { model: value === OWN_MODEL ? null : value });
        return { configOptions: await this.options(session.place) };
      },
    };
  }

  private initialize(params: RpcParams): object {
    const { clientCapabilities } = params as { clientCapabilities?: { session?: { notices?: unknown } | null } };
    this.isReady = true;
    this.showsNotices = Boolean(clientCapabilities?.session?.notices);
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "lares", title: "Lares", version: this.parts.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    };
  }

  /** The session in its folder, as the gateway knows it; without a key a new one. */
  private async place(params: RpcParams, session?: string): Promise<OpenedPlace> {
    if (this.sessions.size >= MOST_SESSIONS && !this.sessions.has(session ?? ""))
      throw new RpcFailure(RPC_CODES.invalidRequest, words.tooManySessions(MOST_SESSIONS));
    await this.follow();
    const { agent, rpc } = this.parts;
    const named = session === undefined ? { agent } : { session };
    return rpc.call("editor.open", { folder: text(params, "cwd"), ...defined(named) });
  }

  private async opened(place: OpenedPlace, params: RpcParams, answered: Promise<void>): Promise<object> {
    await this.sessions.get(place.session)?.close();
    const sessionId = place.session;
    const { rpc, clock, out } = this.parts;
    const shared = {
      rpc,
      clock,
      out,
      update: (one: SessionUpdate) => this.update(sessionId, one),
      askPermission: (asked: object, signal: AbortSignal) => this.peer.ask("session/request_permission", asked, signal),
      notice: (notice: string) => this.notice(sessionId, notice),
    };
    const servers = new EditorServers(sessionId, params.mcpServers, shared);
    const session = new EditorSession(place, {
      ...shared,
      servers,
      upload: async (file) => upload(await this.parts.find(), file),
    });
    this.sessions.set(sessionId, session);
    const configOptions = await this.options(place);
    servers.begin(answered);
    // Only now does the client know the session.
    void answered.then(() => this.introduce(session, params));
    return { sessionId, modes: toModes(place), configOptions };
  }

  private async introduce(session: EditorSession, params: RpcParams): Promise<void> {
    const { place } = session;
    try {
      const availableCommands = await listCommands(this.parts.rpc, place.agent);
      this.update(place.session, { sessionUpdate: "available_commands_update", availableCommands });
      if (Array.isArray(params.additionalDirectories) && params.additionalDirectories.length)
        this.notice(place.session, words.noFolders);
      await session.resume();
    } catch (error) {
      // A convenience; what is wrong is said with the next prompt.
      if (!(error instanceof AppError)) throw error;
    }
  }

  private async replay({ session, folder }: OpenedPlace): Promise<void> {
    const pages: { update: SessionUpdate; turn: string }[][] = [];
    let before: number | undefined;
    let count = 0;
    for (let more = true; more && count < MOST_REPLAYED; ) {
      const page = await this.parts.rpc.call("chat.history", {
        session,
        limit: PAGE,
        ...defined({ before }),
      });
      const shown = page.messages.filter(({ replacedBy }) => !replacedBy);
      pages.unshift(shown.flatMap((one) => replay(one, folder).map((update) => ({ update, turn: one.turn }))));
      count += page.messages.length;
      before = page.messages[0]?.seq;
      more = page.more;
      if (more && count >= MOST_REPLAYED) pages.unshift([{ update: said(words.earlierLeftOut(count)), turn: "" }]);
    }
    for (const update of await replayBefore(this.parts.rpc, pages.flat())) this.update(session, update);
  }

  private async list(params: RpcParams): Promise<object> {
    const { sessions } = await this.parts.rpc.call("sessions.list", { search: EDITOR_MARK, limit: MOST_LISTED });
    const listed = sessions.flatMap(({ session, title, updatedAt }) => {
      const folder = readEditorSession(session)?.folder;
      const isWanted = folder !== undefined && (typeof params.cwd !== "string" || params.cwd === folder);
      return isWanted ? [{ sessionId: session, cwd: folder, title, updatedAt: new Date(updatedAt).toISOString() }] : [];
    });
    return { sessions: listed };
  }

  private async tune(
    session: EditorSession,
    change: { mode?: OpenedPlace["mode"]; model?: string | null },
  ): Promise<void> {
    Object.assign(
      session.place,
      await this.parts.rpc.call("editor.tune", { session: session.place.session, ...change }),
    );
  }

  private async options(place: OpenedPlace): Promise<ReturnType<typeof toOptions>> {
    return toOptions(place, (await this.parts.rpc.call("models.list", {})).models);
  }

  /** Somebody changed the session: in another editor, on the page, in the settings. */
  private async changed(session: EditorSession): Promise<void> {
    const { session: id, folder, mode, model } = session.place;
    const now = await this.parts.rpc.call("editor.open", { session: id, folder });
    Object.assign(session.place, now);
    if (now.mode !== mode) this.update(id, { sessionUpdate: "current_mode_update", currentModeId: now.mode });
    if (now.model === model) return;
    this.update(id, { sessionUpdate: "config_option_update", configOptions: await this.options(now) });
  }

  private onEvent(event: LiveEvent): void {
    const session = "session" in event ? this.sessions.get(event.session) : undefined;
    if (!session) return;
    const meaning = MEANINGS[event.event];
    if (meaning === "session") this.changed(session).catch(() => {});
    else if (meaning !== "nothing") session.onEvent(event);
  }

  /** One connection for all sessions. Rejects when the gateway can't be reached now; afterwards it reconnects by itself. */
  private async follow(): Promise<void> {
    const { find, clock } = this.parts;
    this.events ??= followEvents({
      find,
      clock,
      onEvent: (event) => this.onEvent(event),
      onOpen: ({ first, restarted }) => {
        this.givingUp?.();
        this.givingUp = undefined;
        if (!first) for (const session of this.sessions.values()) session.reconnected(restarted);
      },
      onLost: () => {
        this.givingUp ??= clock.after(PATIENCE_MS, () => {
          for (const session of this.sessions.values()) session.lost();
        });
      },
    });
    try {
      const events = await this.events;
      if (this.isClosed) events.close();
    } catch (error) {
      this.events = undefined;
      throw error;
    }
  }

  private get(params: RpcParams): EditorSession {
    const id = text(params, "sessionId");
    const session = this.sessions.get(id);
    if (!session) throw new RpcFailure(RPC_CODES.notFound, words.noSession(id));
    return session;
  }

  private update(sessionId: string, update: SessionUpdate): void {
    this.peer.notify("session/update", { sessionId, update });
  }

  private notice(sessionId: string, title: string): void {
    this.update(
      sessionId,
      this.showsNotices ? { sessionUpdate: "notice", severity: "warning", title } : said(`${title}\n\n`),
    );
  }

  private explain(error: AppError): RpcFailure {
    const { code, message, hint } = error;
    if (code === "UNKNOWN_METHOD") return new RpcFailure(RPC_CODES.internal, words.older, { code });
    const whole = [message, hint && this.parts.out.ours(hint)].filter(Boolean).join(" ");
    return new RpcFailure(KNOWN_CODES[code] ?? RPC_CODES.internal, whole, { code });
  }
}

const KNOWN_CODES: Partial<Record<AppError["code"], number>> = {
  UNAUTHORIZED: RPC_CODES.authRequired,
  NOT_FOUND: RPC_CODES.notFound,
  BAD_REQUEST: RPC_CODES.invalidParams,
  AGENT_UNKNOWN: RPC_CODES.invalidParams,
  MODEL_UNKNOWN: RPC_CODES.invalidParams,
  FORBIDDEN: RPC_CODES.invalidParams,
};

function text(params: RpcParams, field: string): string {
  const value = params[field];
  if (typeof value === "string" && value !== "") return value;
  throw new RpcFailure(RPC_CODES.invalidParams, words.missing(field, "It"));
}

/** Deleting what isn't there any more is done already. */
function unlessGone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
}
