/** Wires the server: events, access, method handlers and the gateway, over the instance that runs at the moment. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AppError, asId, type TurnId } from "../core/domain/index.ts";
import { type Bus, type Crash, type Guard, isLoopbackBind } from "../core/kit/index.ts";
import { createFetcher, withListed } from "../edges/tools/index.ts";
import { EventStream, type Gateway, startGateway, withKeys } from "../faces/gateway/index.ts";
import { Access } from "../flow/access/index.ts";
import { MOST_BYTES } from "../flow/attachments/index.ts";
import { deliveriesByState } from "../flow/outbox/index.ts";
import { Replays } from "../flow/replays/index.ts";
import { turnsByState, usageByModel } from "../flow/turns/index.ts";
import { type Counted, type Logbook, makeMetrics } from "../ground/observe/index.ts";
import type { LaresConfig, LaresSettings } from "./config.ts";
import type { Instance } from "./instance.ts";
import { withGuard } from "./methods/guarded.ts";
import { makeMethods } from "./methods/index.ts";
import type { ModelMethodParts } from "./methods/models.ts";
import type { MethodParts } from "./methods/parts.ts";
import { withReach } from "./methods/reach.ts";
import { openThings } from "./methods/status.ts";

export interface ServerParts extends Omit<MethodParts, "url" | "config" | "redact"> {
  /** How people call this program. */
  program: string;
  settings: LaresSettings;
  /** What setting up a model needs besides. */
  setup: Pick<ModelMethodParts, "vault" | "modelEnv" | "tryModels">;
  token: { text: string; fromEnvironment: boolean };
  bus: Bus;
  crash: Crash;
  guard: Guard;
  log: Logbook;
  /** Why nothing can be served now, or nothing. */
  trouble: () => string | undefined;
  uiDir?: string;
}

export interface Server {
  gateway: Gateway;
  /** A link that signs a browser in, once, within ten minutes. */
  loginUrl(): string;
  close(): Promise<void>;
}

export async function openServer(parts: ServerParts): Promise<Server> {
  const { settings, bus, log, clock, instance } = parts;
  const config: LaresConfig = settings.view;
  mayExpose(config, parts.token.text);
  const events = new EventStream(bus, () => clock.now());
  const records = () => instance().records;
  const access = new Access({ records, clock, ids: parts.ids, ownerToken: parts.token.text });
  await access.load();
  let gateway: Gateway;
  const url = () => gateway.url;
  // Behind the #: browsers do not send that part, so the code is in no log on the way.
  const loginUrl = (code: string) => `${reachable(gateway)}/login#code=${code}`;
  const every = makeMethods({
    ...parts,
    ...parts.setup,
    ...{ config, url, access, events, loginUrl },
    redact: (text) => log.redactor.redact(text),
    addSecret: (value) => log.redactor.addSecret(value),
    auditing: () => ({ bind: config.gateway.bind, token: parts.token }),
  });
  const handlers = withKeys(
    withGuard(withReach(every, instance), parts.guard, parts.crash),
    new Replays(records, clock),
    {
      // The token's text is not written down; it is made again from its id.
      "tokens.create": {
        keep: (result) => ({ ...(result as object), token: undefined }),
        revive: (kept) => ({ ...(kept as object), token: access.deriveToken((kept as { id: string }).id) }),
      },
    },
  );
  const metrics = makeMetrics({
    counted: () => countedIn(instance()),
    version: parts.version,
    sockets: () => gateway.sockets(),
    uptimeMs: parts.uptimeMs,
  });
  gateway = await startGateway({
    get config() {
      return config.gateway;
    },
    version: parts.version,
    program: parts.program,
    door: access,
    handlers: () => handlers,
    notReady: parts.trouble,
    hook: (name, headers, readBody) => instance().hooks.receive(name, headers, readBody),
    speak: (account, token, peer) => instance().channels.accounts.speak({ channel: "external", account }, token, peer),
    channel: (channel, account, head, readBody) =>
      instance().channels.accounts.receive({ channel, account }, head, readBody),
    findSession: async (turn) => (await instance().watch.read(asId<TurnId>(turn)))?.session,
    attachments: {
      mostBytes: MOST_BYTES,
      put: (body, about) => instance().attachments.put(body, about),
      get: (id, asker) => instance().attachments.get(id, asker),
    },
    fetchFile: async (url, maxBytes, signal) => {
      const fetcher = createFetcher(withListed(() => config.web, { clock }));
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
