/**
 * Who sent an activity: a signed token (JWT) in the request. Its key must be one of the Bot Framework's, and it must have been made by
 * the Bot Framework, for this bot, just now. The address that answers go to must be the one that was signed (receive.ts).
 */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { AppError, asList, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";

const ISSUER = "https://api.botframework.com";
const SKEW_MS = 300_000;
const KEYS_MS = 86_400_000;
/** Made-up key ids must not make us fetch the keys again and again. */
const AGAIN_MS = 300_000;

interface Key {
  key: KeyObject;
  endorsements: string[] | undefined;
}

export class TeamsTokens {
  private readonly url: string;
  private readonly appId: string;
  private readonly clock: Clock;
  private keys = new Map<string, Key>();
  private fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(url: string, appId: string, clock: Clock) {
    this.url = url;
    this.appId = appId;
    this.clock = clock;
  }

  /** What the token says, or UNAUTHORIZED. */
  async claims(authorization: string | undefined, channelId: string): Promise<Record<string, unknown>> {
    const token = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization ?? "");
    if (!token) throw no("There is no token.");
    const [head, body, signature] = [json(token[1]!), json(token[2]!), Buffer.from(token[3]!, "base64url")];
    // Fixed here, not taken from the token: with "none" or a symmetric algorithm anybody could sign.
    if (head.alg !== "RS256") throw no("The token is not signed with RS256.");
    const key = await this.keyFor(asText(head.kid) ?? "");
    const signed = Buffer.from(`${token[1]}.${token[2]}`);
    if (!key || !verify("sha256", signed, key.key, signature)) throw no("The token's signature is wrong.");
    if (key.endorsements && !key.endorsements.includes(channelId)) throw no("The key is not for this channel.");
    const now = this.clock.now();
    const [from, until] = [asNumber(body.nbf), asNumber(body.exp)];
    if (until === undefined || until * 1000 < now - SKEW_MS) throw no("The token is too old.");
    if (from !== undefined && from * 1000 > now + SKEW_MS) throw no("The token is not valid yet.");
    if (body.iss !== ISSUER) throw no("The token was issued by somebody else.");
    if (body.aud !== this.appId) throw no("The token is for another bot.");
    return body;
  }

  private async keyFor(id: string): Promise<Key | undefined> {
    const age = this.clock.now() - this.fetchedAt;
    if (age > KEYS_MS || (!this.keys.has(id) && age > AGAIN_MS)) await this.fetchKeys();
    return this.keys.get(id);
  }

  private async fetchKeys(): Promise<void> {
    const get = async (url: string) =>
      (await callApi({ method: "GET", url, reads: true }, "The Bot Framework", AbortSignal.timeout(15_000))).json;
    const where = asText((await get(this.url)).jwks_uri);
    if (!where)
      throw new AppError("CHANNEL_SEND", {
        message: "The Bot Framework doesn't say where its keys are.",
        retry: "later",
      });
    const found = new Map<string, Key>();
    for (const raw of asList((await get(where)).keys).map(asObject)) {
      const id = asText(raw.kid);
      if (!id || raw.kty !== "RSA") continue;
      const endorsements = Array.isArray(raw.endorsements) ? raw.endorsements.map(String) : undefined;
      found.set(id, { key: createPublicKey({ key: raw as JsonWebKey, format: "jwk" }), endorsements });
    }
    this.keys = found;
    this.fetchedAt = this.clock.now();
  }
}

function no(message: string): AppError {
  return new AppError("UNAUTHORIZED", { message });
}

function json(part: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(Buffer.from(part, "base64url").toString("utf8")));
  } catch {
    return {};
  }
}
