/** The front of the house: events, access, method handlers and the gateway, built over whatever house stands behind. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AppError, asId, type TurnId } from "../core/domain/index.ts";
import { type Bus, type Crash, type Guard, isLoopbackBind } from "../core/kit/index.ts";
import { createFetcher, type WebConfig, withListed } from "../edges/tools/index.ts";
import { EventStream, type Gateway, type Handlers, startGateway, withKeys } from "../faces/gateway/index.ts";
import { Access } from "../flow/access/index.ts";
import { MOST_BYTES } from "../flow/attachments/index.ts";
import { deliveriesByState } from "../flow/outbox/index.ts";
import { Replays } from "../flow/replays/index.ts";
import { turnsByState, usageByModel } from "../flow/turns/index.ts";
import { type Counted, type Logbook, makeMetrics } from "../ground/observe/index.ts";
import { makeAttentionHandlers } from "./attention-handlers.ts";
import { makeChannelHandlers } from "./channel-handlers.ts";
import type { LaresConfig, LaresSettings } from "./config.ts";
import { makeContextHandlers } from "./context-handlers.ts";
import { withGuard } from "./guarded.ts";
import { type HandlerParts, makeHandlers, openThings } from "./handlers.ts";
import type { House } from "./house.ts";
import { makeHouseHandlers } from "./house-handlers.ts";
import { makeImportHandlers } from "./import-handlers.ts";
import { makeProposalHandlers } from "./import-proposals.ts";
import { makeMemoryHandlers } from "./memory-handlers.ts";
import { type ModelHandlerParts, makeModelHandlers } from "./model-handlers.ts";
import { withReach } from "./reach.ts";
import { makeSecretHandlers } from "./secret-handlers.ts";
import { makeSkillHandlers } from "./skill-handlers.ts";
import { makeTimeHandlers } from "./time-handlers.ts";
import { makeWakeHandlers } from "./wake-handlers.ts";
import { makeWorkHandlers } from "./work-handlers.ts";

export interface FrontParts extends Omit<HandlerParts, "url" | "config" | "redact"> {
  /** How people call this program. */
  program: string;
  settings: LaresSettings;
  /** What setting up a model needs besides. */
  setup: Pick<ModelHandlerParts, "vault" | "modelEnv" | "tryModels">;
  token: { text: string; fromEnvironment: boolean };
  bus: Bus;
  crash: Crash;
  guard: Guard;
  log: Logbook;
  /** Why nothing can be served now, or nothing. */
  trouble: () => string | undefined;
  uiDir?: string;
}

export interface Front {
  gateway: Gateway;
  /** A link that signs a browser in, once, within ten minutes. */
  loginUrl(): string;
  close(): Promise<void>;
}

export async function openFront(parts: FrontParts): Promise<Front> {
  const { settings, bus, log, clock, house } = parts;
  const config: LaresConfig = settings.view;
  mayExpose(config, parts.token.text);
  const events = new EventStream(bus, () => clock.now());
  const records = () => house().records;
  const access = new Access({ records, clock, ids: parts.ids, ownerToken: parts.token.text });
  await access.load();
  let gateway: Gateway;
  const url = () => gateway.url;
  // Behind the #: browsers do not send that part, so the code is in no log on the way.
  const loginUrl = (code: string) => `${reachable(gateway)}/login#code=${code}`;
  const shared = { ...parts, config, url, redact: (text: string) => log.redactor.redact(text) };
  const every: Handlers = {
    ...makeHandlers(shared),
    ...makeChannelHandlers({ ...shared, vault: parts.setup.vault, log: log as never }),
    ...makeTimeHandlers(shared),
    ...makeMemoryHandlers(shared),
    ...makeImportHandlers({ ...shared, vault: parts.setup.vault }),
    ...makeProposalHandlers(shared),
    ...makeWakeHandlers(shared),
    ...makeSecretHandlers({ ...shared, vault: parts.setup.vault }),
    ...makeSkillHandlers(shared),
    ...makeWorkHandlers(shared),
    ...makeContextHandlers(shared),
    ...makeAttentionHandlers(shared),
    ...makeModelHandlers({ ...shared, ...parts.setup, addSecret: (value) => log.redactor.addSecret(value) }),
    ...makeHouseHandlers({
      ...shared,
      access,
      events,
      loginUrl,
      auditing: () => ({ bind: config.gateway.bind, token: parts.token }),
    }),
  };
  const handlers = withKeys(withGuard(withReach(every, house), parts.guard, parts.crash), new Replays(records, clock), {
    // The token's text is not written down; it is made again from its id.
    "tokens.create": {
      keep: (result) => ({ ...(result as object), token: undefined }),
      revive: (kept) => ({ ...(kept as object), token: access.deriveToken((kept as { id: string }).id) }),
    },
  });
  const metrics = makeMetrics({
    counted: () => countedIn(house()),
    version: parts.version,
    sockets: () => gateway.sockets(),
    uptimeMs: parts.uptimeMs,
  });
  gateway = await startGateway({
    get config() {
      return config.gateway as never;
    },
    version: parts.version,
    program: parts.program,
    door: access,
    handlers: () => handlers,
    notReady: parts.trouble,
    hook: (name, headers, readBody) => house().hooks.receive(name, headers, readBody),
    speak: (account, token, peer) => house().channels.accounts.speak({ channel: "external", account }, token, peer),
    channel: (channel, account, head, readBody) =>
      house().channels.accounts.receive({ channel, account }, head, readBody),
    findSession: async (turn) => (await house().watch.read(asId<TurnId>(turn)))?.session,
    attachments: {
      mostBytes: MOST_BYTES,
      put: (body, about) => house().attachments.put(body, about),
      get: (id, asker) => house().attachments.get(id, asker),
    },
    fetchFile: async (url, maxBytes, signal) => {
      const fetcher = createFetcher(withListed(() => config.web as WebConfig, { clock }));
      const { status, body } = await fetcher.fetch({ url, maxBytes }, signal);
      return { status, bytes: body };
    },
    metrics: () => metrics.text(),
    events,
    uiDir: parts.uiDir ?? builtUi(),
    clock,
    log: log.child("gateway"),
    redact: (text) => log.redactor.redact(text),
  });
  const offLog = log.follow((line) => bus.emit({ event: "log", ...line }));
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

/** What the metrics count. */
function countedIn(house: House): Counted {
  const db = house.records.committed;
  return {
    ...openThings(house),
    turnsByState: () => turnsByState(db),
    deliveriesByState: () => deliveriesByState(db),
    usageByModel: () => usageByModel(db),
    hooks: () => house.hooks.figures(),
    accounts: () => house.channels.accounts.list(),
    statements: () => house.records.ran,
  };
}

/** A guessable token is no lock on a door that others can reach. */
function mayExpose({ gateway }: LaresConfig, token: string): void {
  if (isLoopbackBind(gateway.bind) || token.length >= 16) return;
  throw new AppError("CONFIG_INVALID", {
    message: `Listening on ${gateway.bind} needs a token of at least 16 characters.`,
    hint: "Unset LARES_TOKEN to have one made, or set a longer one.",
    retry: "after-change",
  });
}

/** An address a browser on this machine can open. */
function reachable({ url, port }: Gateway): string {
  return /\/\/(0\.0\.0\.0|\[::\]):/.test(url) ? `http://127.0.0.1:${port}` : url;
}

/** Beside the built program, or where the build puts it when the sources run. */
function builtUi(): string {
  const beside = fileURLToPath(new URL("./ui", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../dist/ui", import.meta.url));
}
