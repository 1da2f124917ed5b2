/**
 * MCP servers that the editor brings to a session. The person is asked about each with its exact command or address before Lares uses
 * it, and Lares keeps it only as long as this program renews it.
 *
 * ACP-5: a yes is for one definition in one session. It is never stored: opening the session again asks again.
 */
import { randomUUID } from "node:crypto";
import { AppError, isObject } from "../../../core/domain/index.ts";
import { type Clock, defined } from "../../../core/kit/index.ts";
import type { Client, Params, Result } from "../../../core/protocol/index.ts";
import type { Output } from "../output.ts";
import { acpWords as words } from "../words/acp.ts";
import { resultContent } from "./calls.ts";
import type { SessionUpdate, ShownCall } from "./wire.ts";

type Definition = Params<"editor.servers">["servers"][number];
type Offered = Result<"editor.servers">["servers"][number];

export interface EditorServersParts {
  rpc: Client;
  clock: Clock;
  out: Pick<Output, "hint" | "ours">;
  update(update: SessionUpdate): void;
  askPermission(params: object, signal: AbortSignal): Promise<unknown>;
  notice(text: string): void;
}

/** A third of the time after which the gateway ends them. */
const RENEW_MS = 30_000;
/** A server that doesn't end by itself takes the gateway two seconds. */
const MOST_END_MS = 5000;
/** As the gateway takes them. */
const MOST_SERVERS = 32;

export class EditorServers {
  private readonly session: string;
  private readonly parts: EditorServersParts;
  private readonly given: Definition[];
  private readonly holder = randomUUID();
  private readonly over = new AbortController();
  private readonly told = new Map<string, string>();
  private yes: string[] = [];
  private stopRenewing: () => void = () => {};
  private begun: Promise<void> = Promise.resolve();

  constructor(session: string, given: unknown, parts: EditorServersParts) {
    this.session = session;
    this.parts = parts;
    this.given = readServers(given);
  }

  /** Asks about them, as soon as the client knows the session. */
  begin(known: Promise<void>): void {
    if (this.given.length > 0) this.begun = known.then(() => this.ask()).catch((error: unknown) => this.failed(error));
  }

  /** Resolves when the person has answered: a prompt is about an agent that has these tools. Never rejects. */
  settled(): Promise<void> {
    return this.begun;
  }

  /** A gateway that was restarted knows none of them. */
  renew(): void {
    this.stopRenewing();
    if (this.yes.length === 0 || this.over.signal.aborted) return;
    // Away, or restarting: the next time. A session that is gone has no servers, either.
    this.bring(this.yes)
      .then((servers) => this.tellFailures(servers))
      .catch(() => {});
    this.stopRenewing = this.parts.clock.after(RENEW_MS, () => this.renew());
  }

  /** Says what went wrong with them meanwhile. */
  async check(): Promise<void> {
    if (this.yes.length > 0) this.tellFailures(await this.bring(this.yes));
  }

  /** The session is closed. Resolves when the servers have ended, or can't be reached. */
  async close(): Promise<void> {
    this.stopRenewing();
    this.over.abort();
    if (this.yes.length === 0) return;
    this.yes = [];
    // A gateway that doesn't answer ends them by itself.
    await this.call([], [], AbortSignal.timeout(MOST_END_MS)).catch(() => {});
  }

  private async ask(): Promise<void> {
    const offered = await this.bring([]);
    for (const one of offered) {
      if (one.state === "refused") this.parts.notice(words.serverRefused(one.name, one.why ?? ""));
      else if (await this.isAllowed(one)) this.yes.push(one.id);
    }
    if (!this.over.signal.aborted) this.renew();
  }

  private async isAllowed(one: Offered): Promise<boolean> {
    const call = showServer(one);
    this.parts.update({ sessionUpdate: "tool_call", status: "pending", ...call });
    const options = [
      { optionId: "use", name: words.useServer, kind: "allow_once" },
      { optionId: "leave", name: words.leaveServer, kind: "reject_once" },
    ];
    const asked = { sessionId: this.session, toolCall: { ...call, status: "pending" }, options };
    const answer = await this.parts.askPermission(asked, this.over.signal).catch(() => undefined);
    const isAllowed = readAnswer(answer);
    const status = isAllowed ? "completed" : "failed";
    const content = isAllowed ? {} : { content: resultContent(words.serverLeft(one.name)) };
    this.parts.update({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status, ...content });
    return isAllowed;
  }

  private tellFailures(servers: Offered[]): void {
    for (const { id, name, state, why } of servers) {
      if (state !== "used" || why === undefined || this.told.get(id) === why) continue;
      this.told.set(id, why);
      this.parts.notice(words.serverFailed(name, why));
    }
  }

  private bring(yes: string[]): Promise<Offered[]> {
    return this.call(this.given, yes);
  }

  private async call(servers: Definition[], yes: string[], signal?: AbortSignal): Promise<Offered[]> {
    const { session, holder } = this;
    return (await this.parts.rpc.call("editor.servers", { session, holder, servers, yes }, signal)).servers;
  }

  private failed(error: unknown): void {
    if (!(error instanceof AppError)) throw error;
    const names = this.given.map(({ name }) => name).join(", ");
    const why = error.code === "FORBIDDEN" ? words.mayNotBring : this.parts.out.ours(error.message);
    this.parts.notice(words.serversNotUsed(names, why));
  }
}

function showServer({ id, name, target, gets }: Offered): ShownCall {
  return {
    toolCallId: `mcp-${id}`,
    title: words.startServer(name),
    name: "mcp",
    kind: "execute",
    content: [...resultContent(`\`\`\`\n${target}\n\`\`\``), ...resultContent(words.aboutServer(gets))],
    locations: [],
    rawInput: { server: name, target, gets },
  };
}

function readAnswer(answer: unknown): boolean {
  const { outcome } = (answer ?? {}) as { outcome?: { outcome?: unknown; optionId?: unknown } };
  return outcome?.outcome === "selected" && outcome.optionId === "use";
}

/** ACP's lists of names and values become plain objects; what a definition lacks, the gateway says. */
function readServers(given: unknown): Definition[] {
  if (!Array.isArray(given)) return [];
  return given.slice(0, MOST_SERVERS).flatMap((one: unknown): Definition[] => {
    if (!isObject(one)) return [];
    const { name, type, command, args, url } = one as Record<string, unknown>;
    const { env, headers } = one as { env?: unknown; headers?: unknown };
    const texts = Array.isArray(args) ? args.map(String) : undefined;
    return [
      {
        name: String(name || "?").slice(0, 128),
        ...defined({
          type: asText(type),
          command: asText(command),
          args: texts,
          url: asText(url),
          env: readPairs(env),
          headers: readPairs(headers),
        }),
      },
    ];
  });
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readPairs(given: unknown): Record<string, string> | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  const pairs = given.flatMap((one: unknown) => {
    const { name, value } = (one ?? {}) as { name?: unknown; value?: unknown };
    return typeof name === "string" ? [[name, String(value ?? "")] as const] : [];
  });
  return Object.fromEntries(pairs);
}
