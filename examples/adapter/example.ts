/**
 * The adapter: speaks the platform, knows nothing about agents or who may talk. In place: src/edges/channels/example/example.ts.
 */
import type { Channel, PlatformEvent } from "../../src/core/contracts/index.ts";
import { AppError, asList, asNumber, asObject, asText } from "../../src/core/domain/index.ts";
import type { AdapterParts } from "../../src/edges/channels/account.ts";
import { callApi } from "../../src/edges/channels/api.ts";
import { notTaken, readBody } from "../../src/edges/channels/sending.ts";
import type { ExampleAccount } from "./config.ts";

const WHERE = "Example";

export function create({ account, config }: AdapterParts<ExampleAccount>): Channel {
  const headers = { authorization: `Bearer ${config.token}` };

  /** Throws what the outbox understands: surely not taken, come back later, or unknown (CHANNEL-2). */
  async function call(method: "GET" | "POST", path: string, signal: AbortSignal, json?: object) {
    const request = { method, url: config.url + path, headers, reads: method === "GET", patienceMs: 60_000, json };
    const answer = await callApi(request, WHERE, signal);
    if (!answer.ok) {
      const seconds = Number(answer.headers.get("retry-after") ?? 1);
      throw notTaken(answer.status, WHERE, { retryAfter: seconds, detail: asText(answer.json.error) });
    }
    return answer.json;
  }

  function toEvents(value: unknown): PlatformEvent[] {
    const { id, at, chat, group, from, text, mentioned, file } = asObject(value);
    const [who, said] = [asObject(from), asText(text) ?? ""];
    if (typeof id !== "string" || typeof chat !== "string" || typeof who.id !== "string") return [];
    const name = asText(who.name);
    const url = asText(file);
    // Named here, but fetched only after the door has let the sender in (CHANNEL-3).
    const open = async (signal: AbortSignal) =>
      readBody(await fetch(config.url + url, { headers, signal, redirect: "error" }));
    return [
      {
        kind: "message",
        // The platform's own stable id: if the message comes again, it is known by it.
        id,
        at: asNumber(at) ?? Date.now(),
        chat: { id: chat, kind: group ? "group" : "direct" },
        // The stable id says who it is; the name is only shown.
        sender: { id: who.id, ...(name ? { name } : {}), ...(who.bot === true ? { isBot: true } : {}) },
        text: said,
        addressed: !group || mentioned === true,
        ...(url ? { files: [{ name: url.split("/").at(-1)!, open }] } : {}),
      },
    ];
  }

  return {
    name: "example",
    account,

    async check(signal) {
      const me = await call("GET", "/me", signal).catch((cause: AppError) => {
        if (cause.retry !== "never") throw cause;
        const hint = "Create a new token at chat.example.com/bots, then run: lares channels add example";
        throw new AppError("CHANNEL_SEND", {
          message: "Example refused the token.",
          hint,
          retry: "after-change",
          cause,
        });
      });
      return { id: String(me.id), name: String(me.name) };
    },

    async run(door, signal) {
      door.known((await this.check(signal)).name);
      let at = asNumber(await door.cursor());
      while (!signal.aborted) {
        // Asking for what comes after `at` acknowledges what came before it, so only after `hear` (CHANNEL-1).
        const batch = await call("GET", at === undefined ? "/updates" : `/updates?after=${at}`, signal);
        door.alive();
        at = asNumber(batch.next) ?? at;
        await door.hear(asList(batch.messages).flatMap(toEvents), at);
      }
    },

    async send(message, signal) {
      const sent = await call("POST", "/send", signal, { chat: message.route.chat, text: message.text });
      return { platformId: asText(sent.id) ?? null };
    },
  };
}
