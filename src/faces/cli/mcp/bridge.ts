/**
 * `lares mcp serve`: an MCP server on stdin and stdout that keeps no state beyond the connection. Each message is handed to the running gateway,
 * and what the gateway says is handed back.
 *
 * CLI-8: the client doesn't notice that the gateway restarted. A request without an answer is sent again under the same
 *     idempotency key, so nothing is done twice (I2), and a session of the older era is opened again with what the client follows.
 */
import { randomUUID } from "node:crypto";
import { type Clock, jsonProblem, parseJson, pause, truthy } from "../../../core/kit/index.ts";
import type { FindGateway } from "../connection.ts";
import { bridgeWords as words } from "../words/talk.ts";
import { exchange, mirrored, type RpcMessage, TurnedAway, versionIn } from "./exchange.ts";

export interface BridgeParts {
  find: FindGateway;
  write(line: string): void;
  clock: Clock;
}

/** How long a request waits for a gateway that is away: a restart takes a second, an update a few. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 250;
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const UPDATED = "notifications/resources/updated";

export class Bridge {
  private readonly parts: BridgeParts;
  private readonly over = new AbortController();
  private readonly running = new Map<string | number, AbortController>();
  private readonly follows = new Map<string, RpcMessage>();
  /** The older era: how the client introduced itself, and the session that was opened for it. */
  private hello: RpcMessage | undefined;
  private session: string | undefined;
  private version: string | undefined;
  private opening: Promise<void> | undefined;
  private listening = false;

  constructor(parts: BridgeParts) {
    this.parts = parts;
  }

  /** One line of the client's. Resolves when it was handed over and, for a request, answered. */
  async take(line: string): Promise<void> {
    if (!line.trim()) return;
    let message: RpcMessage;
    try {
      message = parseJson(line) as RpcMessage;
    } catch {
      this.fail(null, -32_700, words.notJson(jsonProblem(line)));
      return;
    }
    const { id, method } = message;
    if (method !== undefined && id !== undefined && id !== null) return this.ask(message, id);
    const cancelled = method === "notifications/cancelled" ? message.params?.requestId : undefined;
    const running = this.running.get(cancelled as string | number);
    // The newer era knows no such notification over HTTP: ending the exchange says the same.
    if (running && this.session === undefined) return running.abort();
    await this.send(message, () => {}).catch(() => {});
    if (method === "notifications/initialized") void this.listen();
  }

  close(): void {
    this.over.abort();
    for (const running of this.running.values()) running.abort();
  }

  private async ask(message: RpcMessage, id: string | number): Promise<void> {
    const own = new AbortController();
    this.running.set(id, own);
    const key = randomUUID();
    let isAnswered = false;
    const onMessage = (again: boolean) => (got: RpcMessage) => {
      const answers = got.method === undefined;
      isAnswered ||= answers;
      if (again && got.method === ACKNOWLEDGED) return this.mayHaveChanged({ message, id });
      // First: the client may speak again as soon as it has the answer.
      if (answers) this.note(message, got);
      // A refusal before the message was read has no id.
      this.hand(answers ? { ...got, id } : got);
    };
    let since: number | undefined;
    for (let again = false; !isAnswered && !this.isOver(own.signal); again = true) {
      try {
        await this.send(message, onMessage(again), { key, signal: own.signal });
        since = undefined;
      } catch (cause) {
        if (this.isOver(own.signal)) break;
        const now = this.parts.clock.now();
        since ??= now;
        if (now - since > PATIENCE_MS) this.fail(id, -32_000, words.unreachable(problem(cause)));
        isAnswered = now - since > PATIENCE_MS;
      }
      if (!isAnswered) await this.rest(own.signal);
    }
    this.running.delete(id);
  }

  /** One exchange, in a session that is known there. */
  private async send(
    message: RpcMessage,
    onMessage: (got: RpcMessage) => void,
    how: { key?: string; signal?: AbortSignal } = {},
  ): Promise<void> {
    await this.opening;
    try {
      await this.exchange(onMessage, message, how);
    } catch (cause) {
      if (!(cause instanceof TurnedAway) || cause.why !== "session") throw cause;
      await this.reopen();
      await this.exchange(onMessage, message, how);
    }
  }

  private async exchange(
    onMessage: (got: RpcMessage) => void,
    message: RpcMessage | undefined,
    how: { key?: string; signal?: AbortSignal } = {},
  ) {
    const isNew = message?.method === "initialize";
    const legacy: Record<string, string> = {
      ...(this.session !== undefined && !isNew ? { "mcp-session-id": this.session } : {}),
      ...(this.version !== undefined && !isNew ? { "mcp-protocol-version": this.version } : {}),
    };
    const isModern = message !== undefined && versionIn(message) !== undefined;
    return exchange({
      gateway: await this.parts.find(),
      headers: {
        ...(message && isModern ? mirrored(message) : legacy),
        ...truthy({ "idempotency-key": how.key }),
      },
      onMessage,
      onHead: (status, session) => {
        if (isNew) this.session = session;
        if (message === undefined && status === 200) this.mayHaveChanged();
      },
      signal: how.signal ?? this.over.signal,
      ...truthy({ message }),
    });
  }

  /** What the server says by itself; as long as there is a session. */
  private async listen(): Promise<void> {
    if (this.session === undefined || this.listening) return;
    this.listening = true;
    while (!this.over.signal.aborted) {
      try {
        const status = await this.exchange((got) => got.method !== undefined && this.hand(got), undefined);
        if (status !== 200) return;
      } catch (cause) {
        // Away for a moment; or back, and it has forgotten the session.
        if (cause instanceof TurnedAway && cause.why === "session") await this.reopen().catch(() => {});
      }
      await this.rest(this.over.signal);
    }
  }

  private reopen(): Promise<void> {
    this.opening ??= this.openAgain().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openAgain(): Promise<void> {
    if (!this.hello) return;
    const ignore = () => {};
    await this.exchange(ignore, this.hello);
    await this.exchange(ignore, { jsonrpc: "2.0", method: "notifications/initialized" });
    for (const message of this.follows.values()) await this.exchange(ignore, { ...message, id: randomUUID() });
  }

  /** What happened while nobody listened isn't known, so the client is made to look at everything it follows. */
  private mayHaveChanged(listening?: { message: RpcMessage; id: string | number }): void {
    const { notifications } = (listening?.message.params ?? {}) as {
      notifications?: { resourceSubscriptions?: string[] };
    };
    const uris = listening ? (notifications?.resourceSubscriptions ?? []) : this.follows.keys();
    const more = listening ? { _meta: { [SUBSCRIPTION]: listening.id } } : {};
    for (const uri of uris) this.hand({ jsonrpc: "2.0", method: UPDATED, params: { uri, ...more } });
  }

  private note(asked: RpcMessage, got: RpcMessage): void {
    if (got.error) return;
    const uri = asked.params?.uri;
    if (asked.method === "initialize") {
      this.hello = asked;
      this.version = String(got.result?.protocolVersion ?? "");
    } else if (asked.method === "resources/subscribe") this.follows.set(String(uri), asked);
    else if (asked.method === "resources/unsubscribe") this.follows.delete(String(uri));
  }

  private hand(message: RpcMessage): void {
    if (!this.over.signal.aborted) this.parts.write(`${JSON.stringify(message)}\n`);
  }

  private fail(id: string | number | null, code: number, text: string): void {
    this.hand({ jsonrpc: "2.0", id, error: { code, message: text } });
  }

  private isOver(own: AbortSignal): boolean {
    return own.aborted || this.over.signal.aborted;
  }

  private async rest(signal: AbortSignal): Promise<void> {
    await pause(this.parts.clock, LOOK_AGAIN_MS, signal);
  }
}

function problem(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
