/**
 * Microsoft Teams, over the Bot Framework's REST interface by a client of our own.
 *
 * In: activities are posted to us, each with a signed token, and answered 200 after the commit. Whether Teams tries again after another
 * answer is not assured: what comes while Lares is away may be lost.
 * Out: the interface takes no key; a send whose answer is lost is uncertain. Answers go to the place the conversation came from, which must
 * be on the list: a forged one would get our token.
 */

import type { Channel, ChannelAnswer, Door, Outgoing } from "../../../core/contracts/index.ts";
import { AppError, type ReplyRoute } from "../../../core/domain/index.ts";
import { defined, trimEndCharacters } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asNumber, asObject, asText, callApi } from "../api.ts";
import { parseBody, readRaw, untilAborted } from "../incoming.ts";
import { RecentMap } from "../recent.ts";
import { failedIfUncertain, notTaken, refused } from "../sending.ts";
import type { TeamsAccount } from "./config.ts";
import { toChat, toConversation, toEvents } from "./events.ts";
import { TeamsTokens } from "./token.ts";

const MOST_CONVERSATIONS = 1000;
const WHERE = "Teams";
const SCOPE = "https://api.botframework.com/.default";

export function create({ account, config, clock }: AdapterParts<TeamsAccount>): Channel {
  const tokens = new TeamsTokens(config.keysUrl, config.appId, clock);
  /** Where conversations are served; one place for a tenant, mostly. */
  const services = new RecentMap<string>(MOST_CONVERSATIONS);
  let lastService: string | undefined;
  let own: { token: string; until: number } | undefined;

  async function getToken(signal: AbortSignal): Promise<string> {
    if (own && own.until > clock.now()) return own.token;
    const form = {
      grant_type: "client_credentials",
      client_id: config.appId,
      client_secret: config.appPassword,
      scope: SCOPE,
    };
    const url = `${trimEndCharacters(config.loginUrl, "/")}/${config.tenant}/oauth2/v2.0/token`;
    const body = Buffer.from(new URLSearchParams(form).toString());
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    // It leaves nothing in a chat: it counts as reading.
    const answer = await callApi({ method: "POST", url, body, headers, reads: true }, "Microsoft's login", signal);
    const token = asText(answer.json.access_token);
    if (!answer.ok || !token) {
      throw new AppError("CHANNEL_SEND", {
        message: `Microsoft refused the bot's login: ${asText(answer.json.error_description)?.slice(0, 200) ?? answer.status}`,
        hint: "Look at appId, appPassword and tenant: lares channels add teams",
        retry: "later",
      });
    }
    own = { token, until: clock.now() + ((asNumber(answer.json.expires_in) ?? 3600) - 60) * 1000 };
    return token;
  }

  /** A call about a conversation; `path` begins behind its id. */
  async function call(
    route: ReplyRoute,
    { method, path, json }: { method: "POST" | "PUT" | "DELETE"; path: string; json?: object },
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const service = services.get(route.chat) ?? lastService;
    if (!service) throw refused("Nobody wrote through this account yet: where to answer is not known.", "later");
    const token = await getToken(signal);
    const conversation = encodeURIComponent(toConversation(route.chat, route.thread));
    const url = `${trimEndCharacters(service, "/")}/v3/conversations/${conversation}/activities${path}`;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await callApi({ method, url, headers, ...defined({ json }) }, WHERE, signal);
    if (answer.ok) return answer.json;
    if (answer.status === 401) {
      own = undefined;
      throw refused("Teams did not accept the bot's token.", "later");
    }
    const retryAfter = Number(answer.headers.get("retry-after")) || undefined;
    throw notTaken(answer.status, WHERE, { retryAfter, detail: asText(asObject(answer.json.error).message) });
  }

  function isListed(service: string): boolean {
    return config.services.some((one) => {
      try {
        const [given, listed] = [new URL(service), new URL(one)];
        return given.origin === listed.origin && given.pathname.startsWith(listed.pathname);
      } catch {
        return false;
      }
    });
  }

  return {
    name: "teams",
    account,

    /** Nothing to connect to; what was learnt before the last stop is found again. */
    async run(door, signal) {
      lastService ??= asText(await door.kept("service"));
      door.alive();
      await untilAborted(signal);
    },

    knock({ method, headers }) {
      if (method !== "POST" || /^Bearer\s+\S/i.test(headers.authorization ?? "")) return;
      throw new AppError("UNAUTHORIZED", { message: "The token of the Bot Framework is missing." });
    },

    async receive(request, door): Promise<ChannelAnswer> {
      if (request.method !== "POST") return { status: 405 };
      const activity = asObject(parseBody(request.body));
      const claims = await tokens.claims(request.headers.authorization, asText(activity.channelId) ?? "");
      const service = asText(activity.serviceUrl) ?? "";
      const signedFor = asText(claims.serviceurl) ?? asText(claims.serviceUrl);
      if (signedFor !== service || !isListed(service)) {
        throw new AppError("FORBIDDEN", {
          message: "The place answers would go to is not the signed one, or not on the list.",
        });
      }
      await learn(door, asText(asObject(activity.conversation).id) ?? "", service);
      const raw = { kind: asText(activity.type) ?? "activity", id: asText(activity.id), value: activity };
      const events = readRaw(door, raw, () => toEvents(activity)) ?? [];
      const heard = events.length ? await door.hear(events) : [];
      if (activity.type !== "invoke") return { status: 200, body: {} };
      return {
        status: 200,
        body: { statusCode: 200, type: "application/vnd.microsoft.activity.message", value: heard[0]?.say ?? "Done." },
      };
    },

    async check(signal) {
      await getToken(signal);
      const note = `Messaging endpoint of the bot: https://YOUR-HOST/channels/teams/${account}`;
      return { id: config.appId, name: config.appId, note };
    },

    async send(message, signal) {
      const answer = await call(message.route, { method: "POST", path: "", json: toActivity(message) }, signal);
      return { platformId: asText(answer.id) ?? null };
    },

    async edit(at, message, signal) {
      const path = `/${encodeURIComponent(at.platformId)}`;
      await call(at.route, { method: "PUT", path, json: toActivity(message) }, signal).catch(failedIfUncertain);
    },

    async remove(at, signal) {
      await call(at.route, { method: "DELETE", path: `/${encodeURIComponent(at.platformId)}` }, signal).catch(
        failedIfUncertain,
      );
    },

    async typing(route, signal) {
      await call(route, { method: "POST", path: "", json: { type: "typing" } }, signal);
    },
  };

  async function learn(door: Door, conversation: string, service: string): Promise<void> {
    services.set(toChat(conversation).id, service);
    if (lastService === service) return;
    await door.keep("service", service);
    lastService = service;
  }
}

function toActivity(message: Outgoing): object {
  const text = message.html ?? message.text;
  if (!message.buttons?.length) return { type: "message", text, textFormat: message.html ? "xml" : "plain" };
  const actions = message.buttons.map(({ id, label, kind }) => ({
    type: "Action.Submit",
    title: label,
    ...(kind === "plain" ? {} : { style: kind === "yes" ? "positive" : "destructive" }),
    // Comes back as it is, with who pressed it; nothing of the question is in it.
    data: { lares: id },
  }));
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    // Runs are shown as they are; a TextBlock would read marks and links out of what is asked about.
    body: message.text
      .split("\n")
      .map((line) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text: line || " " }] })),
    actions,
  };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
}
