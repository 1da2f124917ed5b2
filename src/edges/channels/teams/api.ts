/** Calls to the Bot Framework, with the bot's own token. What they throw says whether Teams may have taken something (CHANNEL-2). */
import { AppError, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { type Clock, defined, trimEndCharacters } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";
import { notTaken, refused } from "../sending.ts";
import type { TeamsAccount } from "./config.ts";

const WHERE = "Teams";
const SCOPE = "https://api.botframework.com/.default";
/** A token is replaced this long before it ends, so that it is still good when the call arrives. */
const EARLY_S = 60;

export interface TeamsCall {
  method: "POST" | "PUT" | "DELETE";
  /** The address the conversation is served at. */
  service: string;
  conversation: string;
  /** What follows `activities`. */
  path: string;
  json?: object;
}

export class TeamsApi {
  private readonly config: TeamsAccount;
  private readonly clock: Clock;
  private own: { token: string; until: number } | undefined;

  constructor(config: TeamsAccount, clock: Clock) {
    this.config = config;
    this.clock = clock;
  }

  /** A call about the activities of a conversation. */
  async call(
    { method, service, conversation, path, json }: TeamsCall,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const token = await this.logIn(signal);
    const base = `${trimEndCharacters(service, "/")}/v3/conversations/${encodeURIComponent(conversation)}`;
    const headers = { authorization: `Bearer ${token}` };
    const url = `${base}/activities${path}`;
    const answer = await callApi({ method, url, headers, ...defined({ json }) }, WHERE, signal);
    if (answer.ok) return answer.json;
    if (answer.status === 401) {
      this.own = undefined;
      throw refused("Teams didn't accept the bot's token.", "later");
    }
    const retryAfter = Number(answer.headers.get("retry-after")) || undefined;
    throw notTaken(answer.status, WHERE, { retryAfter, detail: asText(asObject(answer.json.error).message) });
  }

  /** The bot's own token, from Microsoft or from the last time. */
  async logIn(signal: AbortSignal): Promise<string> {
    if (this.own && this.own.until > this.clock.now()) return this.own.token;
    const { appId, appPassword, tenant, loginUrl } = this.config;
    const form = {
      grant_type: "client_credentials",
      client_id: appId,
      client_secret: appPassword,
      scope: SCOPE,
    };
    const url = `${trimEndCharacters(loginUrl, "/")}/${tenant}/oauth2/v2.0/token`;
    const body = Buffer.from(new URLSearchParams(form).toString());
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    // A login leaves nothing in a chat, so it counts as reading.
    const answer = await callApi({ method: "POST", url, body, headers, reads: true }, "Microsoft's login", signal);
    const token = asText(answer.json.access_token);
    if (!answer.ok || !token) {
      throw new AppError("CHANNEL_SEND", {
        message: `Microsoft refused the bot's login: ${asText(answer.json.error_description)?.slice(0, 200) ?? answer.status}`,
        hint: "Check appId, appPassword and tenant: lares channels add teams",
        retry: "later",
      });
    }
    const seconds = (asNumber(answer.json.expires_in) ?? 3600) - EARLY_S;
    this.own = { token, until: this.clock.now() + seconds * 1000 };
    return token;
  }
}
