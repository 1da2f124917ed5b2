/** The A2A door: the card for everyone, and tasks for peers with a token. What is behind it is loaded with the first task (`serve.ts`). */
import type { Context } from "hono";
import { AppError, type ErrorCode, toErrorShape } from "../../../core/domain/index.ts";
import { type HttpApp, type HttpEnv, publicShape, readJson } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { A2A_PATH, makeCard } from "./card.ts";
import type { A2aFace } from "./serve.ts";

const CARD = "/.well-known/agent-card.json";
/** The most a message and what is around it may take. */
const MOST_BYTES = 1_048_576;

/** For everyone, before anybody has shown a credential. */
export function cardRoutes(app: HttpApp, parts: GatewayParts): void {
  const answer = (c: Context<HttpEnv>, id?: string) => {
    const peers = parts.peers();
    const { agents } = peers.shown();
    const agent = id === undefined ? agents[0] : agents.find((one) => one.id === id);
    if (!peers.isOpen() || !agent) throw off();
    const base = peers.address() ?? `http://${c.req.header("host") ?? ""}`;
    return c.json(makeCard(peers, agent, { base, version: parts.version, isFirst: agent === agents[0] }), 200, {
      "cache-control": "max-age=60",
    });
  };
  app.get(CARD, (c) => answer(c));
  // Where clients of the older protocol look.
  app.get("/.well-known/agent.json", (c) => answer(c));
  app.get(`${A2A_PATH}/agents/:agent${CARD}`, (c) => answer(c, c.req.param("agent")));
}

/** Behind the credential. Returns how to end what runs behind it. */
export function a2aRoute(app: HttpApp, parts: GatewayParts): { close(): void } {
  let face: Promise<A2aFace> | undefined;
  const load = async () => new (await import("./serve.ts")).A2aFace(parts);
  const handle = async (c: Context<HttpEnv>) => {
    const principal = c.get("principal");
    if (!parts.peers().isOpen()) throw off();
    mayEnter(c);
    checkType(c);
    const most = Math.min(MOST_BYTES, parts.config().http.maxBodyBytes);
    const body = c.req.method === "POST" ? await readJson(c, most) : undefined;
    face ??= load();
    const { pathname, searchParams } = new URL(c.req.url);
    return (await face).handle({
      principal,
      body,
      query: searchParams,
      method: c.req.method,
      path: pathname.slice(A2A_PATH.length),
      version: c.req.header("a2a-version") ?? searchParams.get("A2A-Version") ?? undefined,
      signal: c.req.raw.signal,
    });
  };
  app.all(A2A_PATH, handle);
  app.all(`${A2A_PATH}/*`, handle);
  return { close: () => void face?.then((one) => one.close()) };
}

/** Tokens only: cookies are sent by browsers on their own. And only those that were made for peers. */
function mayEnter(c: Context<HttpEnv>): void {
  const hint = "Create one: lares a2a token NAME";
  if (c.req.header("authorization") === undefined)
    throw new AppError("UNAUTHORIZED", {
      message: "Agents show a token; a browser's login isn't accepted here.",
      hint,
    });
  if (!c.get("principal").scopes.has("peer"))
    throw new AppError("FORBIDDEN", {
      message: 'Tasks of other agents need a token with the right "peer".',
      hint,
      details: { missingScope: "peer" },
    });
}

/** Clients that leave the type out are understood; one that names another type means something else. */
function checkType(c: Context<HttpEnv>): void {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (c.req.method === "POST" && type && !/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new AppError("TYPE_REFUSED", {
      message: `Send JSON, with the content type application/json instead of ${type.slice(0, 100)}.`,
    });
}

function off(): AppError {
  return new AppError("NOT_FOUND", { message: "No agent card here.", hint: "See a2a in docs/CONFIG.md." });
}

const CODES: Partial<Record<ErrorCode, number>> = { BAD_JSON: -32_700, TYPE_REFUSED: -32_005 };

/** Refusals that come before the protocol has its say, in a shape that both of its bindings understand. */
export function a2aError(error: unknown, status: number, { redact }: Pick<GatewayParts, "redact">): Response {
  const { message, hint, code } = publicShape(toErrorShape(error), redact);
  const text = [message, hint].filter(Boolean).join(" ");
  const headers: Record<string, string> = status === 401 ? { "www-authenticate": 'Bearer realm="lares"' } : {};
  const number = CODES[code] ?? -32_600;
  return Response.json(
    { jsonrpc: "2.0", id: null, error: { code: number, message: text, status: code } },
    { status, headers },
  );
}
