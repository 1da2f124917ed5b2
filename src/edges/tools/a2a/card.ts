/**
 * A peer's card: fetched from the owner's own address, bounded, and compared with what the owner accepted.
 *
 * HIRE-5: requests, and the token with them, go to the configured origin only; a card that names another is refused, and no redirect is
 *     followed.
 */
import { AppError, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { BODY_TOO_LARGE, deadline, parseJson, textWithin, visible } from "../../../core/kit/index.ts";
import { digestJson } from "../mcp/listed/manifest.ts";
import { createStreamFetch, type FetchShape } from "../web/stream.ts";
import { NO_INTERFACE, pointsElsewhere } from "./words.ts";

const CARD_PATH = ".well-known/agent-card.json";
/** A card is a page of text; one that is longer isn't meant to be read. */
const MOST_CARD = 262_144;
const MOST_ANSWER = 2_097_152;
const PATIENCE_MS = 30_000;
/** As people read it. */
const MOST_SHOWN = 8000;

export interface PeerCard {
  card: JsonObject;
  digest: string;
  /** Everything of it, for people. */
  shown: string;
  /** It promises that a message sent again is the same task. */
  repeats: boolean;
}

/** The peer got a request and said no: nothing was begun. Other errors leave that open. */
export class PeerRefused extends Error {}

/** The peer answered, and the answer can't be read or makes no sense. A peer that is away throws something else. */
export class PeerNonsense extends AppError {
  constructor(message: string, cause?: unknown) {
    super("BAD_REQUEST", { message, retry: "later", cause });
  }
}

/** A status in place of an answer: the peer, or a server in front of it, did not deal with the request. */
export class PeerStatus extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }

  get isAboutToken(): boolean {
    return this.status === 401 || this.status === 403;
  }

  /** Nothing was begun. A request that took too long (408) or failed over there may have been. */
  get isRefusal(): boolean {
    return this.status < 500 && this.status !== 408;
  }
}

/** Reaches the owner's own address wherever it is, and nothing else. Every answer is whole, bounded and in time. */
export function ownFetch(url: string, token: string | undefined, patienceMs = PATIENCE_MS): FetchShape {
  const own = new URL(url);
  const port = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  const host = own.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const fetch = createStreamFetch({ mayReach: (name, _address, at) => name === host && at === port });
  return async (given, init = {}) => {
    const to = new URL(given);
    if (to.origin !== own.origin) throw new AppError("FORBIDDEN", { message: pointsElsewhere("the peer", to.host) });
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const patience = deadline(init.signal ?? new AbortController().signal, patienceMs);
    try {
      const answer = await fetch(to, { ...init, headers, signal: patience.signal });
      const text = await textWithin(answer, MOST_ANSWER);
      return new Response(answer.status === 204 ? null : text, { status: answer.status, headers: answer.headers });
    } catch (error) {
      if (error instanceof AppError || init.signal?.aborted) throw error;
      const why = error instanceof Error ? error.message : String(error);
      if (isTooLarge(error)) throw new PeerNonsense(`${to.host}: ${why}.`, error);
      throw new AppError("NOT_READY", { message: `${to.host}: ${why}.`, retry: "later", cause: error });
    } finally {
      patience.done();
    }
  };
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === BODY_TOO_LARGE;
}

/** Throws an AppError when there is no card, or none that can be used. */
export async function fetchCard(
  name: string,
  url: string,
  fetch: FetchShape,
  signal: AbortSignal,
  same: string,
): Promise<PeerCard> {
  const at = url.endsWith(".json") ? new URL(url) : new URL(CARD_PATH, url.endsWith("/") ? url : `${url}/`);
  const answer = await fetch(at, { signal, headers: { accept: "application/json" } });
  const text = await textWithin(answer, MOST_CARD);
  if (answer.status !== 200)
    throw unusable(`${at.host} has no agent card at ${at.pathname} (status ${answer.status}).`);
  const card = readCard(text);
  const interfaces = readInterfaces(card);
  if (interfaces.length === 0) throw unusable(NO_INTERFACE);
  const strange = interfaces.find((one) => findOrigin(one, at) !== at.origin);
  if (strange !== undefined) throw unusable(pointsElsewhere(name, strange));
  const repeats = JSON.stringify(card.capabilities ?? null).includes(JSON.stringify(same));
  return {
    card,
    digest: digestJson(card),
    shown: visible(JSON.stringify(card, null, 2)).slice(0, MOST_SHOWN),
    repeats,
  };
}

function readCard(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new AppError("BAD_REQUEST", { message: "The agent card isn't JSON.", retry: "later", cause });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw unusable("The agent card isn't an object.");
  return value as JsonObject;
}

/** Every address the card sends callers to, in both versions of the protocol. */
function readInterfaces(card: JsonObject): string[] {
  const lists: Json[] = [card.supportedInterfaces ?? [], card.additionalInterfaces ?? []];
  const listed = lists
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((one) => (one as { url?: unknown } | null)?.url);
  return [...listed, card.url].filter((one) => typeof one === "string");
}

function findOrigin(address: string, base: URL): string {
  return URL.canParse(address, base.href) ? new URL(address, base).origin : "";
}

function unusable(message: string): AppError {
  return new AppError("BAD_REQUEST", { message, retry: "later" });
}
