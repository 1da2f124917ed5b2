/**
 * Who may do what: the owner's token, scoped tokens, browser logins. Everything a request needs is in memory, so that
 * checking costs one hash; the tables are the truth and are read at start.
 *
 * ACCESS-3: only hashes are stored; a credential is found by its hash, so a comparison takes the same time for any input.
 * ACCESS-4: new rights are a subset of the creator's rights, and end with the credential they depend on.
 * ACCESS-6: a browser's login is two secrets. Cookies go to every port of a host, so the cookie alone opens nothing; the second
 * secret is given to the page once and stays in its origin's storage, which another port can't read.
 * ACCESS-5: once `revoke` has resolved, the credential no longer opens anything, and everyone using it has been asked to
 * disconnect.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Records } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { type Clock, type IdMaker, sha256 } from "../../core/kit/index.ts";
import { type Principal, SCOPES, type Scope } from "../../core/protocol/index.ts";
import { type CodeCheck, LoginCodes } from "./codes.ts";
import {
  deleteLogin,
  deleteToken,
  insertLogin,
  insertToken,
  type LoginRow,
  readLogins,
  readTokens,
  type TokenRow,
  touchLogin,
  touchToken,
} from "./store.ts";

export interface AccessParts {
  records: () => Records;
  clock: Clock;
  ids: IdMaker;
  /** The owner's token. It opens everything and cannot be revoked here. */
  ownerToken: string;
}

/** An unused login ends after this long. */
const LOGIN_MS = 30 * 86_400_000;
/** Last-used times are written at most this often. */
const TOUCH_MS = 3_600_000;
const MOST_TOKENS = 500;
/** The least recently used login makes room. */
const MOST_LOGINS = 200;

type Known<Row> = { row: Row; principal: Principal };

export class Access {
  readonly owner: Principal = { id: "owner", name: "owner", scopes: new Set(SCOPES), credential: "owner" };
  private readonly parts: AccessParts;
  private readonly ownerHash: string;
  private readonly tokens = new Map<string, Known<TokenRow>>();
  private readonly logins = new Map<string, Known<LoginRow>>();
  private readonly codes = new LoginCodes();
  private readonly listeners = new Set<(credential: string) => void>();

  constructor(parts: AccessParts) {
    this.parts = parts;
    this.ownerHash = sha256(parts.ownerToken);
  }

  /** Reads the tables. Before it only the owner's token is known. */
  async load(): Promise<void> {
    const db = this.parts.records();
    for (const row of await readTokens(db)) this.tokens.set(row.hash, { row, principal: tokenPrincipal(row) });
    const now = this.parts.clock.now();
    const logins = await readLogins(db);
    for (const row of logins)
      if (row.expiresAt > now) this.logins.set(row.hash, { row, principal: loginPrincipal(row) });
    const old = logins.filter((row) => row.expiresAt <= now);
    if (old.length) void db.write((tx) => old.forEach((row) => void deleteLogin(tx, row.id))).catch(() => {});
  }

  /** Whom a bearer token belongs to. */
  byToken(token: string): Principal | undefined {
    const hash = sha256(token);
    if (hash === this.ownerHash) return this.owner;
    const known = this.tokens.get(hash);
    if (!known) return undefined;
    const now = this.parts.clock.now();
    if (now - (known.row.usedAt ?? 0) > TOUCH_MS) {
      known.row.usedAt = now;
      this.quietly((tx) => touchToken(tx, known.row.id, now));
    }
    return known.principal;
  }

  /** The login that a cookie and its proof belong to (ACCESS-6). Using both extends it; the cookie alone changes nothing. */
  byLogin(cookie: string, proof: string | undefined): Principal | "unknown" | "unproven" {
    const known = this.logins.get(sha256(cookie));
    if (!known) return "unknown";
    const now = this.parts.clock.now();
    const { row } = known;
    if (row.expiresAt <= now) {
      this.logins.delete(row.hash);
      this.quietly((tx) => deleteLogin(tx, row.id));
      this.tell(row.id);
      return "unknown";
    }
    if (proof === undefined || !isSame(sha256(proof), row.proof)) return "unproven";
    if (now - row.usedAt > TOUCH_MS) {
      row.usedAt = now;
      row.expiresAt = now + LOGIN_MS;
      this.quietly((tx) => touchLogin(tx, row.id, row.usedAt, row.expiresAt));
    }
    return known.principal;
  }

  newCode(by: Principal): { code: string; expiresAt: number } {
    return this.codes.make(by, this.parts.clock.now());
  }

  /** Turns a code into a login. Both secrets are durable as hashes before they are handed out. */
  async redeem(
    code: string,
    agent: string,
  ): Promise<Exclude<CodeCheck, { ok: true }> | { ok: true; cookie: string; proof: string; maxAgeS: number }> {
    const now = this.parts.clock.now();
    const check = this.codes.use(code, now);
    if (!check.ok) return check;
    const cookie = randomBytes(32).toString("base64url");
    const proof = randomBytes(32).toString("base64url");
    const row: LoginRow = {
      id: this.parts.ids.next("login"),
      hash: sha256(cookie),
      proof: sha256(proof),
      principal: check.by.id,
      name: check.by.name,
      scopes: [...check.by.scopes],
      source: check.by.credential,
      agent: agent.slice(0, 200),
      madeAt: now,
      usedAt: now,
      expiresAt: now + LOGIN_MS,
    };
    const crowd = this.logins.size >= MOST_LOGINS ? this.oldestLogin() : undefined;
    await this.parts.records().write((tx) => {
      if (crowd) deleteLogin(tx, crowd.id);
      insertLogin(tx, row);
    });
    if (crowd) {
      this.logins.delete(crowd.hash);
      this.tell(crowd.id);
    }
    this.logins.set(row.hash, { row, principal: loginPrincipal(row) });
    return { ok: true, cookie, proof, maxAgeS: LOGIN_MS / 1000 };
  }

  async createToken(by: Principal, wanted: { name: string; scopes: readonly Scope[] }) {
    const more = wanted.scopes.filter((scope) => !by.scopes.has(scope));
    if (more.length) {
      throw new AppError("FORBIDDEN", {
        message: `A token can't have a right that its creator doesn't have: ${more.join(", ")}.`,
        hint: "Leave it out, or use a token that has it.",
        details: { missingScope: more[0]! },
      });
    }
    if (wanted.name.toLowerCase() === this.owner.name) {
      throw new AppError("BAD_REQUEST", {
        message: `A token can't be called "${wanted.name}": its actions would look like the owner's.`,
        hint: "Choose another name.",
        details: { field: "name" },
      });
    }
    if (this.tokens.size >= MOST_TOKENS) {
      throw new AppError("TOO_MANY", {
        message: `There are already ${MOST_TOKENS} tokens.`,
        hint: "Revoke some first.",
      });
    }
    const id = this.parts.ids.next("tok");
    const token = this.deriveToken(id);
    const row: TokenRow = {
      id,
      hash: sha256(token),
      name: wanted.name,
      scopes: SCOPES.filter((scope) => wanted.scopes.includes(scope)),
      madeBy: by.name,
      madeAt: this.parts.clock.now(),
      usedAt: undefined,
    };
    await this.parts.records().write((tx) => insertToken(tx, row));
    this.tokens.set(row.hash, { row, principal: tokenPrincipal(row) });
    return { id, token, name: row.name, scopes: row.scopes, createdAt: row.madeAt };
  }

  /**
   * The token's text from its id and the owner's token, so that a repeated `tokens.create` can answer the same without the
   * text being stored anywhere.
   */
  deriveToken(id: string): string {
    return `lares_${createHmac("sha256", this.parts.ownerToken).update(`token:${id}`).digest("base64url")}`;
  }

  list(): { tokens: TokenRow[]; logins: LoginRow[] } {
    const now = this.parts.clock.now();
    return {
      tokens: [...this.tokens.values()].map((known) => known.row),
      logins: [...this.logins.values()].map((known) => known.row).filter((row) => row.expiresAt > now),
    };
  }

  /** Ends a token or a login, and every login made with it. False when there is no such thing. */
  async revoke(id: string): Promise<boolean> {
    const token = [...this.tokens.values()].find((known) => known.row.id === id)?.row;
    const logins = [...this.logins.values()]
      .map((known) => known.row)
      .filter((row) => row.id === id || row.source === id);
    if (!token && !logins.length) return false;
    // In memory first: from here on it opens nothing, even if the disk fails.
    if (token) this.tokens.delete(token.hash);
    for (const row of logins) this.logins.delete(row.hash);
    for (const gone of [id, ...logins.map((row) => row.id)]) {
      this.codes.drop(gone);
      this.tell(gone);
    }
    await this.parts.records().write((tx) => {
      if (token) deleteToken(tx, token.id);
      for (const row of logins) deleteLogin(tx, row.id);
    });
    return true;
  }

  /** Calls back with each credential that ended. */
  onRevoked(listener: (credential: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private oldestLogin(): LoginRow | undefined {
    return [...this.logins.values()].map((known) => known.row).sort((a, b) => a.usedAt - b.usedAt)[0];
  }

  private tell(credential: string): void {
    for (const listener of this.listeners) listener(credential);
  }

  /** For writes that may be lost: a full disk must not cause a valid token to be refused. */
  private quietly(change: Parameters<Records["write"]>[0]): void {
    try {
      this.parts
        .records()
        .write(change)
        .catch(() => {});
    } catch {
      // No records at the moment.
    }
  }
}

function isSame(given: string, known: string): boolean {
  return timingSafeEqual(Buffer.from(given), Buffer.from(known));
}

function tokenPrincipal(row: TokenRow): Principal {
  return { id: row.id, name: row.name, scopes: new Set(row.scopes), credential: row.id };
}

function loginPrincipal(row: LoginRow): Principal {
  return { id: row.principal, name: row.name, scopes: new Set(row.scopes), credential: row.id };
}
