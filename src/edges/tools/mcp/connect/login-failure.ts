/** Why a login didn't work, in a sentence for the person who wants it, and what they do next. Loaded with the SDK. */
import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  type OAuthDiscoveryState,
  OAuthError,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import { AppError, type ErrorCode, type ErrorShape } from "../../../../core/domain/index.ts";
import { visibleLine, withoutHidden } from "../../../../core/kit/index.ts";
import { whyFailed } from "../../web/failure.ts";

export interface LoginAt {
  server: string;
  /** What the server said about its login, as far as it was asked. */
  discovery: OAuthDiscoveryState | undefined;
  /** Where the browser ends: what has to be given where a client is registered by hand. */
  redirect: string;
  /** A client is known, by registration or from the definition. */
  hasClient: boolean;
}

interface Told {
  code: ErrorCode;
  /** The end of a sentence. */
  why: string;
  hint?: string;
  retry?: ErrorShape["retry"];
}

/** Words of somebody else in a sentence of ours. */
const MOST_WORDS = 200;

/** `error`: anything that was thrown on the way. What isn't known is said as such; its words are in the log only. */
export function tellLoginFailure(at: LoginAt, error: unknown): AppError {
  const { code, why, hint, retry } = explain(at, error);
  return new AppError(code, {
    message: `You aren't logged in to ${at.server}: ${why}.`,
    hint: hint ?? `Try again: lares mcp login ${at.server}`,
    retry: retry ?? "later",
    cause: error,
  });
}

/** Why the browser came back without a code. */
export function tellRefusal(server: string, query: URLSearchParams): AppError {
  const error = query.get("error");
  const said = words(query.get("error_description") ?? "");
  const more = said === "" ? "" : `: ${said}`;
  const message =
    error === "access_denied"
      ? `The login was declined in the browser (access_denied${more}).`
      : `The login failed: ${error === null ? "there is no code in the address" : `${words(error)}${more}`}.`;
  return new AppError("FORBIDDEN", { message, hint: `Begin again: lares mcp login ${server}` });
}

/** Whether the login's server just can't be reached now: then nothing is lost. */
export function isUnreachable(error: unknown): boolean {
  return (error instanceof AppError && error.code === "NOT_READY") || isTimeout(error);
}

function explain(at: LoginAt, error: unknown): Told {
  if (error instanceof AppError) return explainOwn(error);
  if (isTimeout(error)) return { code: "NOT_READY", why: "its login didn't answer in time" };
  if (error instanceof RegistrationRejectedError) return explainRegistration(at, error.status);
  if (error instanceof IssuerMismatchError) return explainIssuer(at, error);
  if (error instanceof AuthorizationServerMismatchError) {
    return { code: "FORBIDDEN", why: "the answer came from another login server than the one it was begun at" };
  }
  if (error instanceof InsecureTokenEndpointError) {
    return { code: "FORBIDDEN", why: "its login would send the token without https", hint: ASK_OPERATOR };
  }
  if (error instanceof OAuthError) return explainRefusal(error);
  const status = /^HTTP (\d{3})\b/.exec(error instanceof Error ? error.message : "")?.[1];
  if (status !== undefined) return { code: "NOT_READY", why: `its login answered with an error (HTTP ${status})` };
  const { authorizationServerMetadata: metadata } = at.discovery ?? {};
  if (metadata && !metadata.registration_endpoint && !at.hasClient) {
    return { ...byHand(at), why: "its login doesn't take new programs by itself" };
  }
  return { code: "NOT_READY", why: "what it says about its login can't be read", retry: "after-change" };
}

function explainOwn(error: AppError): Told {
  if (error.code !== "FORBIDDEN") return { code: "NOT_READY", why: whyFailed(error) };
  return {
    code: "FORBIDDEN",
    why: `Lares doesn't go where it sends for the login. ${whyFailed(error)}`,
    hint: "If this host is yours, list it: lares config set web.privateHosts '[\"HOST:PORT\"]'",
    retry: "after-change",
  };
}

function explainRegistration(at: LoginAt, status: number): Told {
  if (at.discovery?.authorizationServerMetadata === undefined) {
    return {
      code: "NOT_FOUND",
      why: "it doesn't say how one logs in (no OAuth metadata)",
      hint: `Check its address. If it wants a key instead, put it in a header: mcp.servers.${at.server}.headers`,
      retry: "after-change",
    };
  }
  return { ...byHand(at), why: `its login refused to register Lares (HTTP ${status})` };
}

function byHand({ server, redirect }: LoginAt): Omit<Told, "why"> {
  return {
    code: "FORBIDDEN",
    hint: `Register a client there, with the redirect address ${redirect}, and name it in mcp.servers.${server}.oauth.clientId.`,
    retry: "after-change",
  };
}

function explainIssuer({ server }: LoginAt, { kind, expected, received }: IssuerMismatchError): Told {
  const begin = `Begin again: lares mcp login ${server}. If it stays so, ask who runs the server.`;
  const why =
    kind === "metadata"
      ? `its login calls itself ${words(String(received))}, and it was named as ${words(String(expected))}`
      : "the browser came back from another login server than the one it was sent to, so its answer isn't used";
  return { code: "FORBIDDEN", why, hint: begin };
}

/** The login's server said no, in the protocol's words. */
function explainRefusal({ code, message }: OAuthError): Told {
  if (code === "invalid_grant") {
    return { code: "FORBIDDEN", why: "its login didn't take the code; it may be too old, or was used already" };
  }
  // What isn't an answer of the protocol is repeated by the SDK in full, with the page it was.
  const isAnswer = !message.includes("Invalid OAuth error response");
  const status = /^HTTP (\d{3})/.exec(message)?.[1];
  if (!isAnswer) {
    return { code: "NOT_READY", why: `its login answered with an error${status ? ` (HTTP ${status})` : ""}` };
  }
  const said = words(message);
  return { code: "FORBIDDEN", why: `its login refused: ${said === "" ? words(code) : `${said} (${words(code)})`}` };
}

const ASK_OPERATOR = "Ask who runs the server.";

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function words(text: string): string {
  return visibleLine(withoutHidden(text.slice(0, MOST_WORDS)).trim()).replace(/\.$/, "");
}
