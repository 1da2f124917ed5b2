/** Small things every route needs: bounded bodies, errors as answers, tokens from headers. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Hono } from "hono";
import type { z } from "zod";
import {
  AppError,
  asObject,
  ERROR_CODES,
  type ErrorShape,
  type Json,
  type JsonObject,
  toErrorShape,
} from "../../core/domain/index.ts";
import { type Explained, explainIssue, type Log, nearest, parseJsonBody } from "../../core/kit/index.ts";
import { asCalled } from "../../core/protocol/client.ts";
import type { MethodName, Principal } from "../../core/protocol/index.ts";
import type { GatewayParts } from "./ports.ts";

export type HttpEnv = {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse };
  Variables: { principal: Principal };
};
export type HttpApp = Hono<HttpEnv>;

/** A body that trickles longer than this is dropped. */
const SLOWEST_BODY_MS = 30_000;
/** After a refusal the rest of a body is read past for so long, so that the answer is seen; then the line is cut. */
const GRACE_MS = 1000;

/** How long a body may take of which it is not known whose it is: the one rule for hooks, platforms and logins (WH-05). */
export function unproven({ http }: { http: { bodySeconds: number } }): { withinMs: number } {
  return { withinMs: http.bodySeconds * 1000 };
}

/** Reads the body up to a bound; a larger or slower one is refused before it is parsed. */
export function readBody(
  { incoming }: Pick<HttpEnv["Bindings"], "incoming">,
  most: number,
  { withinMs = SLOWEST_BODY_MS, key = "gateway.http.maxBodyBytes" } = {},
): Promise<Buffer> {
  const tooLarge = () =>
    new AppError("BODY_TOO_LARGE", {
      message: `The body is larger than ${most} bytes.`,
      hint: `Send less, or raise ${key}.`,
    });
  if (Number(incoming.headers["content-length"] ?? 0) > most) {
    letGo(incoming);
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const fail = (error: AppError) => {
      clearTimeout(slow);
      incoming.removeAllListeners("data");
      letGo(incoming);
      reject(error);
    };
    const slow = setTimeout(
      () => fail(new AppError("BAD_REQUEST", { message: "The body did not arrive in time.", retry: "later" })),
      withinMs,
    );
    incoming.on("data", (part: Buffer) => {
      size += part.length;
      if (size > most) fail(tooLarge());
      else parts.push(part);
    });
    incoming.on("end", () => {
      clearTimeout(slow);
      resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    });
    incoming.on("error", () => fail(new AppError("BAD_REQUEST", { message: "The body was cut off." })));
  });
}

/** Reads past the rest of a refused body. */
export function letGo(incoming: IncomingMessage): void {
  incoming.resume();
  const cut = setTimeout(() => incoming.destroy(), GRACE_MS);
  cut.unref();
  incoming.once("end", () => clearTimeout(cut));
}

export async function readJson(c: Context<HttpEnv>, most: number): Promise<unknown> {
  const body = await readBody(c.env, most);
  if (body.length === 0) return {};
  return parseJsonBody(body, "Send one JSON object with content-type application/json.");
}

/** Checks what came in. The error names the field, what is wrong, and the nearest known name for an unknown one. */
export function parse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const known = Object.keys(asObject("shape" in schema ? schema.shape : undefined));
    const near = nearest(key, known);
    throw new AppError("BAD_REQUEST", {
      message: `There is no field "${key}".`,
      hint: near ? `Did you mean "${near}"?` : `Known fields: ${known.join(", ")}.`,
      details: { field: key },
    });
  }
  const [{ path, say }] = explainIssue(issue, value) as [Explained];
  const field = path.join(".") || "(body)";
  throw new AppError("BAD_REQUEST", {
    message: `${say(path.length ? `Field ${field}` : "The body")}.`,
    hint: "Correct the field and send it again.",
    details: { field },
  });
}

/** Methods that need nothing of the records. What went wrong must be readable while nothing else works. */
export const WITHOUT_RECORDS: ReadonlySet<string> = new Set<MethodName>(["logs.tail", "health"]);

/** Throws NOT_READY with the reason, and what ends it. */
export function mustBeReady({ notReady }: Pick<GatewayParts, "notReady">): void {
  const why = notReady();
  if (!why) return;
  throw new AppError("NOT_READY", { message: why.message, hint: why.hint ?? "Try again shortly.", retry: "later" });
}

export interface Speaking {
  log: Log;
  /** The log's redactor: what it hides, an answer hides too (LK-01). */
  redact: (text: string) => string;
  /** How people call this program. */
  program: string;
}

export function errorResponse(c: Context<HttpEnv>, error: unknown, { log, redact, program }: Speaking): Response {
  const shape = asRead(toErrorShape(error), program);
  if (shape.code === "INTERNAL")
    log.error("request broke", { error: error instanceof Error ? (error.stack ?? "") : String(error) });
  return c.json({ error: publicShape(shape, redact) }, ERROR_CODES[shape.code] as 400);
}

/**
 * Hints on the wire say `lares …`, and the page or command line puts in the name that works where it is shown. A caller who is not
 * signed in is often neither, and reads the answer as it comes.
 */
export function asRead(shape: ErrorShape, program: string): ErrorShape {
  return shape.code === "UNAUTHORIZED" && shape.hint ? { ...shape, hint: asCalled(shape.hint, program) } : shape;
}

/** What a caller may see of an error. A bug's own words stay in the log. */
export function publicShape(shape: ErrorShape, redact: (text: string) => string): ErrorShape {
  if (shape.code === "INTERNAL") {
    return { code: "INTERNAL", message: "Lares had an internal error.", hint: "See: lares logs", retry: "later" };
  }
  const { message, hint, details } = shape;
  return {
    ...shape,
    message: redact(message),
    ...(hint ? { hint: redact(hint) } : {}),
    ...(details ? { details: mapTexts(details, redact) as JsonObject } : {}),
  };
}

/** The same value with every text in it changed. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item as Json, change)]));
}

export function bearer(header: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(header ?? "")?.[1];
}
