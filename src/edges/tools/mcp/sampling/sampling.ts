/**
 * Servers that want a model to write something for them, at the owner's cost.
 *
 * MCP-28: nothing is sampled unless the server's setting allows it and the gate or a person has said yes to this definition of the server.
 *     The number of calls in a turn and the length of each answer are limited, every call is paid for like a turn's own, and no model
 *     that is asked this way has tools. Only the rule `NAME/sampling` itself is the gate's yes; `NAME/*` is about tools.
 */
import type {
  ActionPlan,
  ModelReply,
  ModelRequest,
  Records,
  ToolCaller,
  Tx,
} from "../../../../core/contracts/index.ts";
import {
  type AgentId,
  type Authority,
  asId,
  type JsonObject,
  passTurn,
  type QuestionForm,
  type SessionKey,
  type TurnId,
} from "../../../../core/domain/index.ts";
import { defined, type IdMaker, Late } from "../../../../core/kit/index.ts";
import type { ServerConfig } from "../config.ts";
import { addressTool } from "../listed/names.ts";
import { readWanted, type WantedText, writeSampled } from "./request.ts";

/** What is built after the tools: the gate, and the one way to a paid model call. */
export interface SamplePort {
  judge(
    who: { agent: AgentId; session: SessionKey },
    plan: ActionPlan,
    standing: { authority: Authority; tainted: boolean },
  ): Promise<{ verdict: "allow" | "ask" | "deny"; because: string }>;
  call(
    planned: { turn: TurnId; call: number; session: SessionKey; agent: string; request: ModelRequest },
    signal: AbortSignal,
  ): Promise<{ reply: ModelReply; record(tx: Tx): void } | { refused: string }>;
  model(agent: string): string | undefined;
}

export interface SamplingServers {
  config(server: string): Pick<ServerConfig, "sampling" | "samplingCalls" | "samplingTokens">;
  definition(server: string): string;
  /** Whether a person has said yes to this definition of the server. */
  maySample(server: string): boolean;
  allowSampling(server: string): void;
}

export type Sampled =
  | { kind: "sampled"; result: JsonObject }
  /** A person has to agree first. */
  | { kind: "ask"; shown: string; form: QuestionForm }
  | { kind: "refused"; why: string };

/** Turns whose calls are counted; the oldest is forgotten first. */
const MOST_TURNS = 1000;

export class Sampling {
  readonly #records: Records;
  readonly #ids: IdMaker;
  readonly #port = new Late<SamplePort>();
  readonly #calls = new Map<string, number>();

  constructor({ records, ids }: { records: Records; ids: IdMaker }) {
    this.#records = records;
    this.#ids = ids;
  }

  /** Set once. */
  by(port: SamplePort): void {
    this.#port.set(port);
  }

  async sample(
    servers: SamplingServers,
    { server, caller, params }: { server: string; caller: ToolCaller; params: unknown },
    signal: AbortSignal,
  ): Promise<Sampled> {
    const { sampling, samplingCalls, samplingTokens } = servers.config(server);
    if (!sampling) return { kind: "refused", why: samplingIsOff(server) };
    const wanted = readWanted(server, params);
    if (typeof wanted === "string") return { kind: "refused", why: `${wanted}.` };
    const judged = await this.#judge(servers, server, caller, wanted);
    if (judged) return judged;
    const key = JSON.stringify([caller.turn, server]);
    const call = this.#calls.get(key) ?? 0;
    if (call >= samplingCalls)
      return {
        kind: "refused",
        why: `${server} asked for text from a model more than ${samplingCalls} times in a turn.`,
      };
    this.#count(key, call + 1);
    const { call: ask, model } = this.#port.get();
    const request: ModelRequest = {
      system: wanted.system,
      messages: wanted.messages,
      tools: [],
      // Thinking would come on top of the limit.
      thinking: "off",
      maxOutputTokens: Math.min(wanted.maxTokens ?? samplingTokens, samplingTokens),
      cacheKey: `sampling-${server}`,
      ...defined({ model: model(caller.agent) }),
    };
    const turn = passTurn("sampling", this.#ids.next("x"));
    const session = asId<SessionKey>(caller.session);
    const done = await ask({ turn, call: 0, session, agent: caller.agent, request }, signal);
    if ("refused" in done) return { kind: "refused", why: done.refused };
    await this.#records.write((tx) => done.record(tx));
    if (!done.reply.ok) return { kind: "refused", why: `The model didn't answer ${server}: ${done.reply.message}` };
    return { kind: "sampled", result: writeSampled(done.reply) };
  }

  /** Undefined: it may. */
  async #judge(
    servers: SamplingServers,
    server: string,
    { agent, session, authority = "stranger" }: ToolCaller,
    { shown }: WantedText,
  ): Promise<Sampled | undefined> {
    const plan: ActionPlan = {
      tool: "mcp",
      risk: "service",
      targets: [addressTool(server, "sampling")],
      shown,
      binding: { server, definition: servers.definition(server) },
      apart: true,
    };
    const who = { agent: asId<AgentId>(agent), session: asId<SessionKey>(session) };
    const { verdict, because } = await this.#port.get().judge(who, plan, { authority, tainted: false });
    if (verdict === "deny") return { kind: "refused", why: because };
    if (verdict === "allow" || servers.maySample(server)) return undefined;
    const lines = [
      `${server} wants your model to write something for it, at your cost:`,
      shown,
      `If you agree, it may do so from now on. To stop it, set mcp.servers.${server}.sampling to false.`,
    ];
    return { kind: "ask", shown: lines.join("\n"), form: { fields: [] } };
  }

  #count(key: string, calls: number): void {
    this.#calls.delete(key);
    this.#calls.set(key, calls);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_TURNS) this.#calls.delete(oldest!);
  }
}

export function samplingIsOff(server: string): string {
  return `${server} wants a model to write something for it, which is off. To allow it, set mcp.servers.${server}.sampling to true.`;
}
