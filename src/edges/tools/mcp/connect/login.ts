/**
 * Login to a server elsewhere (OAuth 2.1): the SDK speaks the protocol (discovery, PKCE, resource indicators, the check of `iss`); what
 * is known is kept in the vault, and who may be asked is decided here. Loaded with the SDK.
 *
 * MCP-15: a token is used before its last fifth only; then it is renewed, once for all calls that want it.
 * MCP-16: nothing of a login waits in memory: it is finished by the address the browser ends at, also after a restart. The browser
 *     brings it to the gateway by itself, or a person pastes it.
 * MCP-17: what a server names in its metadata is fetched like any page: no private address but the server's own and those listed in
 *     `web.privateHosts`, https elsewhere.
 * MCP-33: a client from the definition is shown to the issuer of its first login only. Which issuer that is says the server's metadata,
 *     so a server could name one of its own and get the secret.
 */
import { randomBytes } from "node:crypto";
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
  type OAuthClientInformationFull,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { AppError } from "../../../../core/domain/index.ts";
import { type Clock, defined, trimEndCharacters, visibleLine } from "../../../../core/kit/index.ts";
import type { FetchShape } from "../../web/stream.ts";
import type { ServerConfig } from "../config.ts";
import { NeedsLogin } from "./errors.ts";
import { isUnreachable, tellLoginFailure, tellRefusal } from "./login-failure.ts";
import { isEndOf, isOpen, type PendingLogin } from "./pending.ts";

/** A part of the token's life, after which it is renewed. */
const RENEW_AFTER = 0.8;
/** Each request on the way to a token. */
const ANSWER_MS = 20_000;
/** Rights that a server names, all together; a header is text from outside. */
const MOST_SCOPE = 2000;

export interface LoginStore {
  read(): string | undefined;
  write(text: string): Promise<void>;
}

/** What is known of a login. All of it is secret. */
interface Kept {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens & { gotAt: number };
  /** Where the client of the definition logged in. */
  pinned?: { clientId: string; issuer: string };
  discovery?: OAuthDiscoveryState;
  pending?: PendingLogin & { verifier: string };
  /** What the server said when it refused us: the rights it wants, and where its metadata is. */
  challenge?: { scope?: string; metadata?: string };
}

export interface LoginParts {
  server: string;
  url: string;
  oauth: ServerConfig["oauth"];
  clock: Clock;
  store: LoginStore;
  /** Where the browser ends: the gateway, which finishes the login when the browser runs on its machine. */
  redirect(): string;
  /** Bound by the web guard (MCP-17). */
  fetch: FetchShape;
}

interface AuthMore {
  authorizationCode?: string;
  iss?: string;
  forceReauthorization?: boolean;
  isRenewal?: true;
}

export class McpLogin implements AuthProvider {
  readonly #parts: LoginParts;
  #renewing: Promise<void> | undefined;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  /** For the next request; renewed early. Undefined when nobody logged in: some servers need no login. */
  async token(): Promise<string | undefined> {
    const { tokens } = this.#read();
    if (!tokens) return undefined;
    const { gotAt, expires_in: seconds, refresh_token: renewal } = tokens;
    const isOld = seconds !== undefined && this.#parts.clock.now() > gotAt + seconds * 1000 * RENEW_AFTER;
    if (isOld && renewal !== undefined) await this.#renew();
    return this.#read().tokens?.access_token;
  }

  /** The server refused the token: it is renewed once, or a person has to log in. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    await this.#noteChallenge(response);
    if (this.#read().tokens?.refresh_token === undefined) throw this.#needsLogin();
    await this.#renew();
  }

  /** The server wants more rights than were granted: only a person can grant them. Returns when that isn't the reason. */
  async onForbidden(response: Response): Promise<void> {
    if (extractWWWAuthenticateParams(response).error !== "insufficient_scope") return;
    const { scope = "" } = await this.#noteChallenge(response);
    throw this.#needsLogin(`it wants more rights: ${visibleLine(scope) || "it doesn't say which"}`);
  }

  /** Begins a login: the address to open. Undefined when it turned out that none is needed. */
  async begin(): Promise<string | undefined> {
    let opened: URL | undefined;
    const { pending: _old, client, ...rest } = this.#read();
    // A client is registered with the address it ends at, and the gateway's port may have changed.
    const isUsable = ((client as OAuthClientInformationFull)?.redirect_uris ?? []).includes(this.#parts.redirect());
    const kept: Kept = client && isUsable ? { ...rest, client } : rest;
    await this.#write(kept);
    const { scope } = kept.challenge ?? {};
    // Renewing a token never widens what it is good for.
    const isWider = kept.tokens !== undefined && isStrictScopeSuperset(scope, kept.tokens.scope);
    const done = await this.#auth((url) => (opened = url), { forceReauthorization: isWider });
    if (done === "AUTHORIZED") return undefined;
    // The link is for a person to click: an address of another kind would start a program.
    if (opened && !/^https?:$/.test(opened.protocol)) {
      throw new AppError("FORBIDDEN", {
        message: `The login of ${this.#parts.server} isn't a web page, so it isn't opened.`,
      });
    }
    return opened?.href;
  }

  /** `ended`: where the browser ended. Throws BAD_REQUEST when it is not the end of the login that was begun. */
  async finish(ended: string): Promise<void> {
    const { pending } = this.#read();
    const query = readQuery(ended);
    const state = query.get("state") ?? "";
    if (!isEndOf(pending, state, this.#parts.clock.now())) {
      const isLate = pending !== undefined && !isOpen(pending, this.#parts.clock.now());
      throw new AppError("BAD_REQUEST", {
        message: isLate
          ? "This login was begun more than half an hour ago, and can't be finished any more."
          : "This isn't the end of the login that was begun last.",
        hint: `Begin again: lares mcp login ${this.#parts.server}`,
      });
    }
    const code = query.get("code");
    if (!code) {
      await this.#forgetPending();
      throw tellRefusal(this.#parts.server, query);
    }
    await this.#auth(() => undefined, { authorizationCode: code, ...defined({ iss: query.get("iss") ?? undefined }) });
    await this.#forgetPending();
  }

  async #forgetPending(): Promise<void> {
    const { pending: _done, ...kept } = this.#read();
    await this.#write(kept);
  }

  /** Many calls find the token old at once; one of them renews it. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#authAsFetched(() => undefined, { isRenewal: true })
      .then(({ done, unreached }) => {
        if (done === "AUTHORIZED") return;
        // The SDK goes on to a page for a person also when the token's server just didn't answer; that isn't a lost login.
        const isLost = this.#read().tokens?.refresh_token === undefined;
        throw isLost || !unreached ? this.#needsLogin() : unreached;
      })
      .catch((error: unknown) => {
        if (error instanceof NeedsLogin || isUnreachable(error)) throw error;
        throw this.#needsLogin((error as Error).message);
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #auth(open: (url: URL) => void, more: AuthMore) {
    return (await this.#authAsFetched(open, more)).done;
  }

  /** Every failure becomes a sentence here, in one place. `unreached`: a request on the way that came to nothing. */
  async #authAsFetched(open: (url: URL) => void, { isRenewal, ...more }: AuthMore) {
    const { url, fetch, oauth, server, clock } = this.#parts;
    const { scope, metadata } = this.#read().challenge ?? {};
    const provider = this.#provider(open, isRenewal);
    let unreached: AppError | undefined;
    const tell = (error: unknown) =>
      tellLoginFailure(
        {
          server,
          discovery: this.#read().discovery,
          redirect: String(provider.redirectUrl),
          hasClient: (oauth?.clientId ?? this.#read().client) !== undefined,
        },
        error,
      );
    const timed: FetchShape = async (to, init) => {
      const late = new AbortController();
      clock.after(ANSWER_MS, () => late.abort(new DOMException("no answer in time", "TimeoutError")));
      try {
        const answer = await fetch(to, { ...init, signal: late.signal });
        if (answer.status >= 500) unreached = tell(new Error(`HTTP ${answer.status}`));
        return answer;
      } catch (error) {
        unreached = tell(error);
        throw error;
      }
    };
    try {
      const done = await auth(provider, {
        serverUrl: url,
        fetchFn: timed,
        ...defined({ scope: computeScopeUnion(oauth?.scope, scope) }),
        ...(metadata === undefined ? {} : { resourceMetadataUrl: new URL(metadata) }),
        ...more,
      });
      return { done, unreached };
    } catch (error) {
      throw error instanceof NeedsLogin ? error : tell(error);
    }
  }

  /** Kept with the login: a person may begin it much later, or after a restart. */
  async #noteChallenge(response: Response): Promise<NonNullable<Kept["challenge"]>> {
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const kept = this.#read();
    const challenge = defined({
      scope: computeScopeUnion(kept.challenge?.scope, scope)?.slice(0, MOST_SCOPE),
      metadata: resourceMetadataUrl?.href ?? kept.challenge?.metadata,
    });
    // A token that isn't good any more is refused with every call; only news is worth a write.
    if (JSON.stringify(challenge) !== JSON.stringify(kept.challenge ?? {})) await this.#write({ ...kept, challenge });
    return challenge;
  }

  /** A renewal leaves a login that a person began as it is. */
  #provider(open: (url: URL) => void, isRenewal = false): OAuthClientProvider {
    const { oauth, clock } = this.#parts;
    const given: StoredOAuthClientInformation | undefined = oauth?.clientId
      ? { client_id: oauth.clientId, ...defined({ client_secret: oauth.clientSecret }) }
      : undefined;
    const keep = (change: Partial<Kept>) => this.#write({ ...this.#read(), ...change });
    const read = () => this.#read();
    // The one it was begun with: Lares may have restarted on another port since.
    const redirect = read().pending?.redirect ?? this.#parts.redirect();
    return {
      redirectUrl: redirect,
      clientMetadata: { ...CLIENT, redirect_uris: [redirect] },
      state: async () => {
        const state = randomBytes(24).toString("base64url");
        if (!isRenewal) await keep({ pending: { state, verifier: "", at: clock.now(), redirect } });
        return state;
      },
      // Credentials belong to the server that issued them and are never shown to another one.
      clientInformation: (at) => (given ? this.#pinned(given, at?.issuer) : ofIssuer(read().client, at?.issuer)),
      saveClientInformation: (client) => keep({ client }),
      tokens: (at) => ofIssuer(read().tokens, at?.issuer),
      saveTokens: (tokens) => {
        const { issuer } = tokens;
        const pinned = given && issuer !== undefined ? { clientId: given.client_id, issuer } : undefined;
        return keep({ tokens: { ...tokens, gotAt: clock.now() }, ...defined({ pinned }) });
      },
      redirectToAuthorization: open,
      async saveCodeVerifier(verifier) {
        const { pending } = read();
        if (pending && !isRenewal) await keep({ pending: { ...pending, verifier } });
      },
      codeVerifier: () => read().pending?.verifier ?? "",
      saveDiscoveryState: (discovery) => (isRenewal ? undefined : keep({ discovery })),
      // Only while a login is under way: the server may have moved since.
      discoveryState: () => (read().pending?.verifier && !isRenewal ? read().discovery : undefined),
      invalidateCredentials: async (scope) => {
        const { client, tokens, ...rest } = read();
        if (scope === "all") await this.#write(rest);
        if (scope === "tokens") await this.#write({ ...rest, ...defined({ client }) });
        if (scope === "client") await this.#write({ ...rest, ...defined({ tokens }) });
      },
    };
  }

  #pinned(given: StoredOAuthClientInformation, issuer: string | undefined): StoredOAuthClientInformation {
    const { pinned } = this.#read();
    if (pinned?.clientId !== given.client_id || issuer === undefined) return given;
    if (trimEndCharacters(pinned.issuer, "/") === trimEndCharacters(issuer, "/")) return given;
    const { server } = this.#parts;
    throw new AppError("FORBIDDEN", {
      message: `The login of ${server} has moved from ${visibleLine(pinned.issuer)} to ${visibleLine(issuer.slice(0, 200))}, and the client in its definition was made for the old one.`,
      hint: `If that is right, give mcp.servers.${server}.oauth a client of the new one.`,
      retry: "after-change",
    });
  }

  #needsLogin(why = "nobody is logged in"): NeedsLogin {
    return new NeedsLogin(`it needs a login (${why.slice(0, 200)}): lares mcp login ${this.#parts.server}`);
  }

  #read(): Kept {
    const text = this.#parts.store.read();
    return text === undefined ? {} : (JSON.parse(text) as Kept);
  }

  #write(kept: Kept): Promise<void> {
    return this.#parts.store.write(JSON.stringify({ version: 1, ...kept }));
  }
}

const CLIENT: Omit<OAuthClientMetadata, "redirect_uris"> = {
  client_name: "Lares",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

function ofIssuer<T extends { issuer?: string | undefined }>(
  kept: T | undefined,
  issuer: string | undefined,
): T | undefined {
  return kept && (issuer === undefined || kept.issuer === undefined || kept.issuer === issuer) ? kept : undefined;
}

function readQuery(ended: string): URLSearchParams {
  const at = ended.indexOf("?");
  return new URLSearchParams(at < 0 ? ended : ended.slice(at + 1).split("#")[0]);
}
