/**
 * A FAKE of the Bot Framework and Microsoft Teams: a key set and signed activities, the bot's login, and the connector's REST interface.
 * It keeps what matters: activities are posted once and not tried again when the bot is away; sends take no key; a wrong token is 401;
 * an edit or a deletion of an unknown activity is 404. It is not Teams, and proves nothing about Teams.
 *
 * Acknowledgement: by the HTTP status; whether an activity is posted again is not promised, so here it is not.
 *
 * Documentation: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
 * Documentation: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
 * Documentation: https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/conversations/subscribe-to-conversation-events
 * Documentation: https://github.com/microsoft/botframework-sdk/blob/main/specs/botframework-activity/botframework-activity.md (messageUpdate, messageDelete)
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";

export interface TeamsMessage {
  id: string;
  conversation: string;
  text: string;
  buttons: { title: string; data: { lares: string } }[];
}

const APP = "00000000-aaaa-4000-8000-000000000001";
const SECRET = "the-client-secret";
const BOT = `28:${APP}`;

export async function startTeams() {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const sent: TeamsMessage[] = [];
  let typed = 0;
  let target = "";
  let url = "";
  const service = () => `${url}/teams/`;
  let refusals = 0;
  let n = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { status, body, headers } = answer(
        request.method ?? "",
        request.url ?? "",
        request.headers,
        Buffer.concat(chunks),
      );
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    });
  });

  type Answered = { status: number; body: object; headers?: Record<string, string> };
  function answer(method: string, path: string, headers: Record<string, unknown>, raw: Buffer): Answered {
    if (path === "/openid") return { status: 200, body: { jwks_uri: `${url}/keys` } };
    if (path === "/keys") {
      const jwk = { ...keys.publicKey.export({ format: "jwk" }), kid: "k1", endorsements: ["msteams"] };
      return { status: 200, body: { keys: [jwk] } };
    }
    if (path.endsWith("/oauth2/v2.0/token")) {
      const isRight = new URLSearchParams(raw.toString("utf8")).get("client_secret") === SECRET;
      if (!isRight) return { status: 401, body: { error_description: "Invalid client secret" } };
      return { status: 200, body: { access_token: "bot-token", expires_in: 3600 } };
    }
    if (headers.authorization !== "Bearer bot-token") return { status: 401, body: {} };
    const at = /^\/teams\/v3\/conversations\/([^/]+)\/activities(?:\/([^/]+))?$/.exec(path);
    if (!at) return { status: 404, body: {} };
    const conversation = decodeURIComponent(at[1]!);
    if (method === "DELETE") {
      const found = sent.findIndex((one) => one.id === at[2]);
      if (found < 0) return { status: 404, body: {} };
      sent.splice(found, 1);
      return { status: 200, body: {} };
    }
    const activity = JSON.parse(raw.toString("utf8")) as Record<string, unknown>;
    if (activity.type === "typing") {
      typed++;
      return { status: 200, body: { id: "typing" } };
    }
    if (method === "POST" && refusals > 0) {
      refusals--;
      return { status: 429, body: {}, headers: { "retry-after": "0.05" } };
    }
    const shown = { conversation, ...shownOf(activity) };
    if (method === "PUT") {
      const old = sent.find((one) => one.id === decodeURIComponent(at[2] ?? ""));
      if (!old) return { status: 404, body: {} };
      Object.assign(old, shown);
      return { status: 200, body: { id: old.id } };
    }
    const id = `1700000000${String(++n).padStart(3, "0")}`;
    sent.push({ id, ...shown });
    return { status: 201, body: { id } };
  }

  /** A token as the Bot Framework makes it; parts of it can be made wrong. */
  const tokenOf = (more: Record<string, unknown> = {}, how: { head?: object; key?: KeyObject } = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: "https://api.botframework.com",
      aud: APP,
      nbf: now - 5,
      exp: now + 3600,
      serviceurl: service(),
      ...more,
    };
    const head = { alg: "RS256", typ: "JWT", kid: "k1", ...how.head };
    const text = [head, claims].map((one) => Buffer.from(JSON.stringify(one)).toString("base64url")).join(".");
    return `${text}.${sign("sha256", Buffer.from(text), how.key ?? keys.privateKey).toString("base64url")}`;
  };

  const fake = {
    get url() {
      return url;
    },
    appId: APP,
    botId: BOT,
    secret: SECRET,
    sent,
    /** How often the bot showed that it types. */
    get typed() {
      return typed;
    },
    /** Where Lares listens. */
    to: (url: string) => {
      target = url;
    },
    refuse: (times: number) => {
      refusals = times;
    },
    get service() {
      return service();
    },
    token: tokenOf,
    activity: (person: { id: string; name: string }, conversation: string, more: object) => ({
      type: "message",
      id: `a${++n}`,
      channelId: "msteams",
      serviceUrl: service(),
      timestamp: new Date().toISOString(),
      from: { id: `29:${person.id}`, aadObjectId: person.id, name: person.name },
      recipient: { id: BOT, name: "Lares" },
      conversation: { id: conversation, conversationType: conversation.startsWith("19:") ? "channel" : "personal" },
      ...more,
    }),
    post: (activity: object, token = tokenOf()) =>
      fetch(`${target}/channels/teams/main`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(activity),
      }),
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return fake;
}

function shownOf(activity: Record<string, unknown>): { text: string; buttons: TeamsMessage["buttons"] } {
  const card = (
    activity.attachments as
      | { content: { body: { inlines: { text: string }[] }[]; actions: TeamsMessage["buttons"] } }[]
      | undefined
  )?.[0];
  if (card)
    return { text: card.content.body.map((block) => block.inlines[0]!.text).join("\n"), buttons: card.content.actions };
  const text = String(activity.text ?? "");
  const plain = activity.textFormat === "xml" ? text.replace(/<br ?\/?>|<\/p>/g, "\n").replace(/<[^>]*>/g, "") : text;
  return { text: plain.trim(), buttons: [] };
}
