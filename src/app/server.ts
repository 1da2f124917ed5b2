/** Wires the server: events, access, method handlers and the gateway, over the instance that runs at the moment. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type AgentId, type AppError, asId, type TurnId } from "../core/domain/index.ts";
import { type Bus, type Crash, type Guard, Late } from "../core/kit/index.ts";
import { ProviderSetup, type ProviderSetupParts } from "../edges/models/index.ts";
import { createFetcher, withListed } from "../edges/tools/index.ts";
import {
  type EventStream,
  type Gateway,
  type GatewayParts,
  type Handlers,
  localUrl,
  mayExpose,
  startGateway,
  withKeys,
  withReach,
} from "../faces/gateway/index.ts";
import { Access, mustReach } from "../flow/access/index.ts";
import { MOST_BYTES } from "../flow/attachments/index.ts";
import { Replays } from "../flow/idempotency/index.ts";
import { deliveriesByState } from "../flow/outbox/index.ts";
import { hasSession } from "../flow/sessions/index.ts";
import { findTurnSession, hasSpokenIn, turnsByState, usageByModel } from "../flow/turns/index.ts";
import { makeReader } from "../ground/config/index.ts";
import { type Counted, emitLog, type Logbook, makeMetrics } from "../ground/observe/index.ts";
import type { Vault } from "../ground/vault/index.ts";
import type { LaresConfig, LaresSettings } from "./config.ts";
import type { Instance } from "./instance.ts";
import { type AllMethodParts, makeMethods } from "./methods/index.ts";
import type { MethodParts } from "./methods/parts.ts";
import { openThings } from "./methods/status.ts";

export interface ServerParts extends Omit<MethodParts, "url" | "config" | "redact"> {
  /** The instance that runs now. Throws while there is none. */
  instance: () => Instance;
  /** How people call this program. */
  program: string;
  settings: LaresSettings;
  vault: Vault;
  /** What setting up a model needs besides. */
  setup: Pick<ProviderSetupParts, "env" | "tryModels">;
  token: { text: string; fromEnvironment: boolean };
  bus: Bus;
  /** Hears turns from before the first of them goes on, so that nothing they say after a restart is missed. */
  events: EventStream;
  crash: Crash;
  guard: Guard;
  log: Logbook;
  /** Why nothing can be served now, or nothing. */
  trouble: () => AppError | undefined;
  uiDir?: string;
}

export interface Server {
  gateway: Gateway;
  /** A link that signs a browser in, once, within ten minutes. */
  loginUrl(): string;
  close(): Promise<void>;
}

export async function openServer(parts: ServerParts): Promise<Server> {
  const { settings, bus, log, clock, instance, events } = parts;
  const config: LaresConfig = settings.view;
  mayExpose(config.gateway, parts.token.text);
  const access = new Access({
    clock,
    ids: parts.ids,
    ownerToken: parts.token.text,
    records: () => instance().records,
  });
  await access.load();
  const opened = new Late<Gateway>();
  // Behind the #: browsers do not send that part, so the code is in no log on the way.
  const loginUrl = (code: string) => `${localUrl(opened.get())}/login#code=${code}`;
  const handlers = makeHandlers(parts, { access, events, loginUrl, url: () => opened.get().url });
  const metrics = makeMetrics({
    counted: () => countedIn(instance()),
    version: parts.version,
    sockets: () => opened.get().sockets(),
    uptimeMs: parts.uptimeMs,
  });
  const gateway = opened.set(
    await startGateway({
      config: makeReader(config, "gateway"),
      ...instancePorts(instance),
      version: parts.version,
      program: parts.program,
      door: access,
      events,
      clock,
      handlers,
      notReady: parts.trouble,
      fetchFile: async (url, maxBytes, signal) => {
        const fetcher = createFetcher(withListed(makeReader(config, "web"), { clock }));
        const { status, body } = await fetcher.fetch({ url, maxBytes }, signal);
        return { status, bytes: body };
      },
      metrics: () => metrics.text(),
      uiDir: parts.uiDir ?? builtUi(),
      log: log.child("gateway"),
      redact: (text) => log.redactor.redact(text),
    }),
  );
  const offLog = emitLog(log, bus);
  return {
    gateway,
    loginUrl: () => loginUrl(access.newCode(access.owner).code),
    async close() {
      offLog();
      metrics.stop();
      await gateway.close();
    },
  };
}

/** Every method, behind the rules that hold for many of them: what a caller may reach, idempotency. */
function makeHandlers(
  parts: ServerParts,
  made: Pick<AllMethodParts, "access" | "events" | "loginUrl" | "url">,
): Handlers {
  const { settings, log, clock, instance } = parts;
  const { access } = made;
  const config: LaresConfig = settings.view;
  const redact = (text: string) => log.redactor.redact(text);
  const providers = new ProviderSetup({
    ...parts.setup,
    vault: parts.vault,
    models: parts.models,
    clock,
    redact,
    config: makeReader(config, "models"),
    change: (edits) => settings.change(edits),
    addSecret: (value) => log.redactor.addSecret(value),
  });
  const every = makeMethods({
    ...parts,
    ...made,
    config,
    redact,
    providers,
    auditing: () => ({ bind: config.gateway.bind, token: parts.token }),
  });
  const within = withReach(every, (principal, target) => mustReach(actParts(instance()), principal, target));
  return withKeys(within, new Replays(() => instance().records, clock), {
    // The token's text is not written down; it is made again from its id.
    "tokens.create": {
      keep: (result) => ({ ...(result as object), token: undefined }),
      revive: (kept) => ({ ...(kept as object), token: access.deriveToken((kept as { id: string }).id) }),
    },
  });
}

/** Where it is looked up whether a caller may act in a conversation. */
function actParts({ records: { committed }, agents }: Pick<Instance, "records" | "agents">) {
  return {
    isAgent: (name: string) => agents.exists(asId<AgentId>(name)),
    hasSession: (session: string) => hasSession(committed, session),
    findTurnSession: (turn: string) => findTurnSession(committed, turn),
    hasSpokenIn: (session: string, id: string) => hasSpokenIn(committed, session, id),
  };
}

/** What the gateway hands to the instance that runs now. */
function instancePorts(instance: () => Instance) {
  return {
    hook: (name, headers, readBody) => instance().hooks.receive(name, headers, readBody),
    speak: (account, token, peer) => instance().channels.accounts.speak({ channel: "external", account }, token, peer),
    channel: (channel, account, head, readBody) =>
      instance().channels.accounts.receive({ channel, account }, head, readBody),
    peers: () => instance().peers,
    endLogin: (query) => instance().mcp.servers.endLogin(query),
    findSession: async (turn) => (await instance().turnEnds.read(asId<TurnId>(turn)))?.session,
    attachments: {
      mostBytes: MOST_BYTES,
      put: (body, about) => instance().attachments.put(body, about),
      get: (id, asker) => instance().attachments.get(id, asker),
    },
  } satisfies Partial<GatewayParts>;
}

/** What the metrics count. */
function countedIn(instance: Instance): Counted {
  const db = instance.records.committed;
  return {
    ...openThings(instance),
    turnsByState: () => turnsByState(db),
    deliveriesByState: () => deliveriesByState(db),
    usageByModel: () => usageByModel(db),
    hooks: () => instance.hooks.figures(),
    accounts: () => instance.channels.accounts.list(),
    statements: () => instance.records.ran,
  };
}

/** Beside the built program, or where the build puts it when the sources run. */
function builtUi(): string {
  const beside = fileURLToPath(new URL("./ui", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../dist/ui", import.meta.url));
}
