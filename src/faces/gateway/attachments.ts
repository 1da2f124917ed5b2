/**
 * `POST /attachments`: a file as the raw body, its name in `x-lares-name` (percent-encoded). `GET /attachments/<id>`: its bytes.
 *
 * What is served was sent by somebody: it never runs here. No sniffing, a sandbox for a file that is opened as a page, and only
 * pictures are shown in place; everything else is saved.
 */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { AppError } from "../../core/domain/index.ts";
import type { Principal, Scope } from "../../core/protocol/index.ts";
import { type HttpApp, type HttpEnv, letGo } from "./http.ts";
import type { AttachmentDoor, GatewayParts } from "./ports.ts";

/** Nothing came for so long: the sender is gone or does not want to end. */
const IDLE_MS = 30_000;
/** And the whole body: 20 MB over a slow telephone. */
const WHOLE_MS = 600_000;

export function attachmentRoutes(app: HttpApp, parts: GatewayParts): void {
  const { attachments } = parts;
  app.post("/attachments", async (c) => {
    const principal = withRight(c, "write");
    const { incoming } = c.env;
    try {
      if (Number(incoming.headers["content-length"] ?? 0) > attachments.mostBytes) throw tooLarge(attachments);
      const name = decoded(c.req.header("x-lares-name"));
      const made = await attachments.put(readBody(incoming), { name, by: principal.id });
      return c.json(made, 201);
    } catch (error) {
      letGo(incoming);
      throw error;
    }
  });
  app.get("/attachments/:id", async (c) => {
    const principal = withRight(c, "read");
    const asker = { id: principal.id, isOwner: principal.scopes.has("admin") };
    const found = await attachments.get(c.req.param("id"), asker);
    if (!found) throw new AppError("NOT_FOUND", { message: "There is no such attachment." });
    const how = found.kind === "image" ? "inline" : "attachment";
    const headers = {
      "content-type": found.kind === "text" ? "text/plain; charset=utf-8" : found.mediaType,
      "content-disposition": `${how}; filename*=UTF-8''${inHeader(found.name)}`,
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
      // Asked about each time: it may have gone with its session.
      "cache-control": "private, no-cache",
      etag: `"${found.sha256.slice(0, 32)}"`,
    };
    if (c.req.header("if-none-match") === headers.etag) return c.body(null, 304, headers);
    return c.body(found.content, 200, headers);
  });
}

function withRight(c: Context<HttpEnv>, scope: Scope): Principal {
  const principal = c.get("principal");
  if (principal.scopes.has(scope)) return principal;
  letGo(c.env.incoming);
  throw new AppError("FORBIDDEN", {
    message: `Attachments need the right "${scope}" for this.`,
    hint: "Use a token that has it.",
    details: { missingScope: scope },
  });
}

/** The body piece by piece, as fast as it is taken. Leaves the connection open when the reader stops, for the answer. */
async function* readBody(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const deadline = Date.now() + WHOLE_MS;
  for (;;) {
    const next = await inTime(pieces.next(), Math.min(IDLE_MS, deadline - Date.now()));
    if (next.done) break;
    yield next.value;
  }
  if (!incoming.complete) throw new AppError("BAD_REQUEST", { message: "The body was cut off." });
}

function inTime<T>(piece: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new AppError("BAD_REQUEST", { message: "The body did not arrive in time.", retry: "later" })),
      Math.max(0, ms),
    );
    piece.then(resolve, (cause) => reject(new AppError("BAD_REQUEST", { message: "The body was cut off.", cause })));
    const done = () => clearTimeout(late);
    piece.then(done, done);
  });
}

function tooLarge({ mostBytes }: AttachmentDoor): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: `The file is larger than ${Math.floor(mostBytes / 1_048_576)} MB.`,
    hint: "Send a smaller one, or put it in the agent's workspace.",
  });
}

/** Headers are Latin-1, so a name comes percent-encoded; one that is not is taken as it is. */
function decoded(name = ""): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function inHeader(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
