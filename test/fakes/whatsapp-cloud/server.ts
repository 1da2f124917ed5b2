/**
 * A FAKE of Meta's WhatsApp Cloud API for tests (the real one needs Meta's servers). Graph API over real HTTP, and a caller
 * of our webhook that keeps:
 * - events are posted with X-Hub-Signature-256 (HMAC SHA-256 of the raw body with the app secret) and repeated until the
 *   answer is 200, in growing steps; several events may come in one post, and a repeated post is byte-identical.
 * - `send` takes no idempotency key: the same call twice is two messages. `biz_opaque_callback_data` comes back in every
 *   status event of the message.
 * - outside 24 hours after the person's last message a send is refused with 131047; too fast is 130429.
 * - no edit, no delete; at most three reply buttons with titles of at most 20 characters; bodies of at most 4096.
 *
 * Acknowledgement: an event is posted again until it is answered with 200.
 *
 * Documentation: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
 * Documentation: https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components
 * Documentation: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/reaction/
 */
import { createHmac } from "node:crypto";
import { type Answer, type Call, type Faults, multipart, startWire } from "../wire/index.ts";

export interface WhatsAppShown {
  id: string;
  to: string;
  type: string;
  text: string;
  buttons: { id: string; title: string }[];
  quote?: string;
  file?: { name?: string; type: string; data: Buffer };
  opaque?: string;
}

export interface WhatsAppFake {
  url: string;
  token: string;
  phoneId: string;
  appSecret: string;
  verifyToken: string;
  faults: Faults;
  calls: string[];
  sent: WhatsAppShown[];
  reactions: { target: string; emoji: string }[];
  /** Message ids the business marked as read, with the typing sign. */
  typing: string[];
  /** Webhook posts not yet answered with 200. */
  unanswered: number;
  /** Where events go; the challenge is asked at once. */
  subscribe(url: string): Promise<{ status: number; text: string }>;
  say(chat: string, from: string, text: string, more?: SayMore): string;
  press(message: string, button: string, from: string): string;
  react(from: string, target: string, emoji: string): string;
  file(from: string, file: { name: string; type: string; data: Buffer; kind?: string; text?: string }): string;
  /** A file on Meta's side that no event has named yet; its id. */
  hold(file: { name: string; type: string; data: Buffer }): string;
  /** Where files are said to be, instead of here. */
  mediaHost: string | undefined;
  /** No more than this many messages are taken; more is too fast. */
  mostMessages: number;
  /** A status of a sent message, as Meta reports it. */
  status(message: string, state: "sent" | "delivered" | "read" | "failed", code?: number): void;
  /** As if the person wrote last more than 24 hours ago. */
  closeWindow(person: string): void;
  /** Posts these bytes as an event, signed as asked, once; for tests of signatures. */
  post(body: string, headers?: Record<string, string>): Promise<{ status: number; text: string }>;
  event(messages: object[], statuses?: object[]): string;
  down(): Promise<void>;
  up(): Promise<void>;
}

interface SayMore {
  name?: string;
  quote?: string;
  more?: Record<string, unknown>;
  /** Also in this event: messages are batched as Meta may. */
  with?: object[];
}

export async function startWhatsAppFake(options: { statuses?: boolean } = {}): Promise<WhatsAppFake> {
  const token = "fake-system-user-token-0123456789";
  const phoneId = "106540352242922";
  const appSecret = "fake-app-secret-0123456789abcdef";
  const verifyToken = "fake-verify-token-0123";
  const sent: WhatsAppShown[] = [];
  const reactions: WhatsAppFake["reactions"] = [];
  const typing: string[] = [];
  const media = new Map<string, { name?: string; type: string; data: Buffer }>();
  const heard = new Map<string, number>();
  const queue: string[] = [];
  let hook: string | undefined;
  let pumping = false;
  let stopped = false;
  let counter = 0;

  const wire = await startWire({
    handle: serve,
    limited: () => graphError(429, 130429, "(#130429) Rate limit hit"),
  });

  function serve(call: Call): Answer {
    const isMedia = /^\/fake-cdn\/(\w+)$/.exec(call.path);
    if (call.headers.authorization !== `Bearer ${token}`) return graphError(401, 190, "Invalid OAuth access token.");
    if (isMedia) {
      const file = media.get(isMedia[1]!);
      return file ? { body: file.data, headers: { "content-type": file.type } } : { status: 404, body: "" };
    }
    const [, , id, verb] = call.path.split("/");
    if (id === phoneId && verb === "messages" && call.method === "POST") return send(call.json);
    if (id === phoneId && verb === "media" && call.method === "POST") return upload(call);
    if (id === phoneId && !verb) {
      return { json: { id: phoneId, display_phone_number: "+1 555 000 0002", verified_name: "Fake" } };
    }
    const file = media.get(id ?? "");
    if (!file) return graphError(404, 100, "Unsupported get request.");
    const url = `${fake.mediaHost ?? wire.url}/fake-cdn/${id}`;
    return { json: { id, url, mime_type: file.type, file_size: file.data.length, messaging_product: "whatsapp" } };
  }

  function send(body: Record<string, unknown>): Answer {
    if (body.status === "read") {
      if (body.typing_indicator) typing.push(String(body.message_id));
      return { json: { success: true } };
    }
    if (sent.length >= fake.mostMessages) return graphError(429, 130429, "(#130429) Rate limit hit");
    const to = String(body.to ?? "");
    const type = String(body.type ?? "text");
    const part = (body[type] ?? {}) as Record<string, unknown>;
    if (type === "reaction") {
      reactions.push({ target: String(part.message_id), emoji: String(part.emoji) });
      return accepted(to);
    }
    if (Date.now() - (heard.get(to) ?? 0) > 24 * 3_600_000 && type !== "template") {
      return graphError(
        400,
        131047,
        "(#131047) Re-engagement message",
        "More than 24 hours have passed since the customer last replied.",
      );
    }
    const interactive = part as {
      body?: { text?: string };
      action?: { buttons?: { reply: { id: string; title: string } }[] };
    };
    const buttons = (interactive.action?.buttons ?? []).map((b) => b.reply);
    const text = String(type === "text" ? (part.body ?? "") : (interactive.body?.text ?? part.caption ?? ""));
    if (buttons.length > 3 || buttons.some((b) => b.title.length > 20 || b.id.length > 256)) {
      return graphError(400, 131009, "(#131009) Parameter value is not valid");
    }
    if (text.length > (type === "interactive" ? 1024 : 4096)) return graphError(400, 100, "(#100) Param text too long");
    const file = type === "text" || type === "interactive" ? undefined : media.get(String(part.id));
    const context = body.context as { message_id?: string } | undefined;
    const opaque = body.biz_opaque_callback_data as string | undefined;
    const answer = accepted(to);
    const id = (answer.json as { messages: { id: string }[] }).messages[0]!.id;
    sent.push({
      id,
      to,
      type,
      text,
      buttons,
      ...(context?.message_id ? { quote: context.message_id } : {}),
      ...(file ? { file: { ...file, name: (part.filename as string | undefined) ?? file.name } } : {}),
      ...(opaque ? { opaque } : {}),
    });
    if (options.statuses ?? true) status(id, "sent");
    return answer;
  }

  function accepted(to: string): Answer {
    const id = `wamid.out${++counter}`;
    return { json: { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }], messages: [{ id }] } };
  }

  function upload(call: Call): Answer {
    const file = multipart(String(call.headers["content-type"]), call.body).get("file");
    if (!file) return graphError(400, 100, "(#100) The parameter file is required.");
    const id = `9${++counter}`;
    media.set(id, { type: file.type ?? "application/octet-stream", data: file.data, name: file.filename });
    return { json: { id } };
  }

  function event(messages: object[], statuses: object[] = []): string {
    const contacts = messages.map((m) => {
      const { from, name } = m as { from: string; name?: string };
      return { profile: { name: name ?? from }, wa_id: from };
    });
    const value = {
      messaging_product: "whatsapp",
      metadata: { display_phone_number: "15550000002", phone_number_id: phoneId },
      ...(messages.length ? { contacts, messages: messages.map(({ name: _, ...m }: { name?: string }) => m) } : {}),
      ...(statuses.length ? { statuses } : {}),
    };
    const changes = [{ value, field: "messages" }];
    return JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes }] });
  }

  function status(id: string, state: string, code?: number): void {
    const message = sent.find((m) => m.id === id);
    const errors = code ? { errors: [{ code, title: "Re-engagement message" }] } : {};
    const opaque = message?.opaque ? { biz_opaque_callback_data: message.opaque } : {};
    const timestamp = String(Math.floor(Date.now() / 1000));
    push(event([], [{ id, status: state, timestamp, recipient_id: message?.to ?? "", ...opaque, ...errors }]));
  }

  function message(from: string, body: Record<string, unknown>, more: SayMore = {}): string {
    heard.set(from, Date.now());
    const id = `wamid.in${++counter}`;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const context = more.quote ? { context: { from: phoneId, id: more.quote } } : {};
    const name = more.name ? { name: more.name } : {};
    push(event([{ from, id, timestamp, ...context, ...name, ...body }, ...(more.with ?? [])]));
    return id;
  }

  function push(body: string): void {
    queue.push(body);
    void pump();
  }

  /** Posts the oldest event until it is answered with 200, then the next. */
  async function pump(): Promise<void> {
    if (pumping || !hook) return;
    pumping = true;
    let waitMs = 20;
    while (queue.length && !stopped) {
      const answer = await post(queue[0]!).catch(() => ({ status: 0 }));
      if (answer.status === 200) {
        queue.shift();
        waitMs = 20;
        continue;
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 2, 500);
    }
    pumping = false;
  }

  async function post(body: string, headers?: Record<string, string>): Promise<{ status: number; text: string }> {
    const signature = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
    const response = await fetch(hook!, {
      method: "POST",
      headers: { "content-type": "application/json", ...(headers ?? { "x-hub-signature-256": signature }) },
      body,
    });
    return { status: response.status, text: await response.text() };
  }

  const fake: WhatsAppFake = {
    ...wire,
    mediaHost: undefined,
    mostMessages: Number.POSITIVE_INFINITY,
    token,
    phoneId,
    appSecret,
    verifyToken,
    sent,
    reactions,
    typing,
    get unanswered() {
      return queue.length;
    },
    async subscribe(url) {
      hook = url;
      const asked = new URL(url);
      asked.searchParams.set("hub.mode", "subscribe");
      asked.searchParams.set("hub.challenge", "1158201444");
      asked.searchParams.set("hub.verify_token", verifyToken);
      const response = await fetch(asked);
      void pump();
      return { status: response.status, text: await response.text() };
    },
    say: (_chat, from, text, more = {}) => message(from, { type: "text", text: { body: text }, ...more.more }, more),
    press(target, button, from) {
      const reply = sent.find((m) => m.id === target)?.buttons.find((b) => b.id === button || b.title === button);
      if (!reply) throw new Error(`the message has no button "${button}"`);
      const interactive = { type: "button_reply", button_reply: reply };
      return message(from, { type: "interactive", interactive }, { quote: target });
    },
    react: (from, target, emoji) => message(from, { type: "reaction", reaction: { message_id: target, emoji } }),
    hold(file) {
      const id = `9${++counter}`;
      media.set(id, file);
      return id;
    },
    file(from, file) {
      const id = fake.hold(file);
      const kind = file.kind ?? "document";
      const caption = file.text ? { caption: file.text } : {};
      const about = { id, mime_type: file.type, filename: file.name, sha256: "fake", ...caption };
      return message(from, { type: kind, [kind]: about });
    },
    status,
    closeWindow(person) {
      heard.set(person, Date.now() - 25 * 3_600_000);
    },
    post,
    event,
    down() {
      stopped = true;
      return wire.down();
    },
    async up() {
      stopped = false;
      await wire.up();
      void pump();
    },
  };
  return fake;
}

function graphError(status: number, code: number, message: string, details?: string): Answer {
  const data = details ? { error_data: { messaging_product: "whatsapp", details } } : {};
  return { status, json: { error: { message, type: "OAuthException", code, ...data, fbtrace_id: "fake" } } };
}
