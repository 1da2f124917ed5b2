/**
 * Webhooks: `POST /hooks/<name>` with signed JSON becomes a system event. The sender chooses the text and nothing else: who is
 * woken and where is in the settings.
 *
 * HOOKS-1: nothing is stored, parsed or even read for long before the sender has proven itself as far as headers can.
 * HOOKS-2: it answers after the event is durable (I1). The same delivery again is the same event, also after a restart (I2).
 * HOOKS-3: a delivery that stopped Lares twice while it was read is refused: its sender would bring it to every start (I13).
 */
import { createHash } from "node:crypto";
import {
  type AgentId,
  AppError,
  asId,
  eventKeys,
  type Json,
  type ReplyRoute,
  type SessionKey,
  sessionKeys,
} from "../../core/domain/index.ts";
import {
  type Clock,
  type Crash,
  type Guard,
  guarded,
  type IdMaker,
  parseJsonBody,
  STOPPED_LARES,
  truthy,
} from "../../core/kit/index.ts";
import type { Hook, HooksConfig } from "./config.ts";
import { fill, type HookDelivery, matches, readPath } from "./fill.ts";
import { check, type HookHeaders, shown } from "./verify.ts";

/** What is reported to the rest of Lares. */
export interface Rung {
  key: string;
  hook: string;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  label: string;
  body: string;
  note?: string;
  /** How long the key must be remembered; null forever. */
  keepMs: number | null;
}

export interface HookParts {
  config: () => HooksConfig;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  defaultAgent: () => string;
  /** Durable when it resolves; idempotent per key. */
  tell: (rung: Rung) => Promise<{ duplicate: boolean }>;
}

export type WebhookAnswer = { accepted: boolean; duplicate?: boolean; why?: string };
export type HookResult = "accepted" | "duplicate" | "filtered" | "refused" | "unusable";

/** A signature with a time is refused by then; a day leaves room for clocks. */
const FADED_MS = 86_400_000;

export class Hooks {
  private readonly parts: HookParts;
  private readonly counts = new Map<string, Map<HookResult, number>>();
  private readonly last = new Map<string, number>();

  constructor(parts: HookParts) {
    this.parts = parts;
  }

  /** Throws AppError: 404 no such hook, 401 not proven, 413 or 400 for a body that cannot be used. */
  async receive(
    name: string,
    headers: HookHeaders,
    readBody: (most: number) => Promise<Buffer>,
  ): Promise<WebhookAnswer> {
    const hook = Object.hasOwn(this.parts.config(), name) ? this.parts.config()[name] : undefined;
    if (!hook) {
      this.count("(unknown)", "refused");
      throw new AppError("NOT_FOUND", { message: "There is no such hook.", hint: "Hooks are listed in lares.yaml." });
    }
    const proof = shown(hook, headers, this.parts.clock.now());
    if (!proof) throw this.refused(name);
    const body = await readBody(hook.maxBytes).catch((error: unknown) => {
      this.count(name, "unusable");
      throw error;
    });
    const checked = check(hook, proof, headers, body);
    if (!checked.ok) throw this.refused(name);
    const print = createHash("sha256").update(body).digest("hex").slice(0, 40);
    return guarded(
      this.parts.guard,
      eventKeys.hook(name, print),
      () => this.take(name, hook, headers, body, checked),
      async () => {
        this.count(name, "unusable");
        throw new AppError("BAD_REQUEST", { message: STOPPED_LARES, hint: "Send something else.", retry: "never" });
      },
    );
  }

  private async take(
    name: string,
    hook: Hook,
    headers: HookHeaders,
    body: Buffer,
    checked: { key: string | undefined; fades: boolean },
  ): Promise<WebhookAnswer> {
    this.parts.crash.at("hook.filling", () => body.toString("utf8"));
    let delivery: HookDelivery;
    try {
      delivery = { body: parse(body), headers: withoutProof(hook, headers) };
    } catch (error) {
      this.count(name, "unusable");
      throw error;
    }
    if (!matches(hook.when, delivery)) {
      this.count(name, "filtered");
      return { accepted: false, why: "No rule of this hook wants it." };
    }
    const rung = this.rung(name, hook, delivery, checked);
    const { duplicate } = await this.parts.tell(rung);
    this.last.set(name, this.parts.clock.now());
    this.count(name, duplicate ? "duplicate" : "accepted");
    return { accepted: true, duplicate };
  }

  /** Since this start, for /metrics. */
  figures(): { hook: string; result: HookResult; n: number }[] {
    return [...this.counts].flatMap(([hook, by]) => [...by].map(([result, n]) => ({ hook, result, n })));
  }

  list(): { name: string; scheme: Hook["scheme"]; agent: string; session: string; lastAt?: number }[] {
    return Object.entries(this.parts.config()).map(([name, hook]) => {
      const lastAt = this.last.get(name);
      const agent = hook.agent ?? this.parts.defaultAgent();
      const base = { name, scheme: hook.scheme, agent, session: hook.session };
      return lastAt === undefined ? base : { ...base, lastAt };
    });
  }

  private rung(
    name: string,
    hook: Hook,
    delivery: HookDelivery,
    checked: { key: string | undefined; fades: boolean },
  ): Rung {
    const named = hook.id === undefined ? undefined : readPath(delivery, hook.id);
    const id = named === undefined || named === null ? checked.key : `id ${JSON.stringify(named)}`;
    const print = createHash("sha256")
      .update(id ?? this.parts.ids.next("d"))
      .digest("hex")
      .slice(0, 40);
    const agent = asId<AgentId>(hook.agent ?? this.parts.defaultAgent());
    const session = () => {
      if (hook.session === "isolated") return sessionKeys.hook(name, print.slice(0, 16));
      return hook.session === "main" ? sessionKeys.main(agent) : asId<SessionKey>(hook.session);
    };
    return {
      key: eventKeys.hook(name, print),
      hook: name,
      session: session(),
      agent,
      route: hook.deliver ?? { channel: "none", account: "hook", chat: name },
      label: `Webhook ${name}`,
      body: fill(hook.text, delivery),
      ...truthy({ note: hook.prompt }),
      // What a settled id or a time keeps from coming back need not be remembered forever.
      keepMs: checked.fades && hook.id === undefined ? FADED_MS : null,
    };
  }

  private refused(name: string): AppError {
    this.count(name, "refused");
    return new AppError("UNAUTHORIZED", {
      message: "The signature is missing, wrong or too old.",
      hint: "Sign with this hook's secret as its scheme in lares.yaml says, and send it as a header.",
    });
  }

  private count(hook: string, result: HookResult): void {
    const by = this.counts.get(hook) ?? new Map<HookResult, number>();
    this.counts.set(hook, by.set(result, (by.get(result) ?? 0) + 1));
  }
}

/** What proves the sender is not for the agent's eyes. */
function withoutProof(hook: Hook, headers: HookHeaders): HookHeaders {
  const proof = new Set(["authorization", "cookie", "proxy-authorization", hook.header]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !proof.has(name) && !/signature/.test(name)));
}

function parse(body: Buffer): Json {
  return parseJsonBody(body, "Send one JSON value.") as Json;
}
