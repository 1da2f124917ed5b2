/** One call of Discord's REST API. What it throws says whether Discord may have taken something (CHANNEL-2). */

import { ChannelBusy, type OutgoingFile, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError, asNumber, asText, type JsonObject } from "../../../core/domain/index.ts";
import { trimEndCharacters } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";
import { readBody, refused } from "../sending.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Answer = Record<string, unknown>;

export class DiscordApi {
  private readonly root: string;
  private readonly token: string;

  constructor(root: string, token: string) {
    this.root = `${trimEndCharacters(root, "/")}/v10`;
    this.token = token;
  }

  /** A list comes back as `list`. */
  async call(
    method: Method,
    path: string,
    signal: AbortSignal,
    more: { json?: JsonObject; files?: readonly OutgoingFile[] } = {},
  ): Promise<Answer> {
    const { json: params, files = [] } = more;
    const reads = method === "GET";
    const { status, json, headers } = await callApi(
      {
        method,
        url: `${this.root}${path}`,
        // Discord refuses callers whose name doesn't have this form.
        headers: { authorization: `Bot ${this.token}`, "user-agent": "DiscordBot (lares, 1.0)" },
        ...(await makeContent(params, files)),
        reads,
      },
      "Discord",
      signal,
    );
    if (status >= 200 && status < 300) return json;
    if (status === 429) {
      const seconds = asNumber(json.retry_after) ?? (Number(headers.get("retry-after") ?? "") || 1);
      throw new ChannelBusy(Math.ceil(seconds * 1000), "Discord asks for a pause.");
    }
    if (status >= 500) {
      const what = `Discord answered ${status}.`;
      throw reads ? refused(what, "later") : new SendUncertain(what);
    }
    throw refusal(status, json);
  }

  /** From Discord's own file store only, and without the token. */
  async download(url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { origin, hostname, protocol } = new URL(url);
    const isDiscord = protocol === "https:" && /(^|\.)(discordapp\.(com|net)|discord\.com)$/.test(hostname);
    if (!isDiscord && origin !== new URL(this.root).origin) throw refused("The file isn't on Discord.", "never");
    const response = await fetch(url, { redirect: "error", signal }).catch(() => {
      throw refused("The file could not be fetched from Discord.", "later");
    });
    return readBody(response);
  }
}

/** Discord said no: nothing was taken. */
function refusal(status: number, json: Answer): AppError {
  if (status === 401) {
    return new AppError("CHANNEL_SEND", {
      message: "Discord rejected the bot token.",
      hint: "Reset the token in the developer portal: lares channels add discord",
      retry: "after-change",
    });
  }
  const said = [asText(json.message), asNumber(json.code)].filter(Boolean).join(" ");
  return refused(`Discord answered ${status}: ${said}.`, "never");
}

/** Files go in a form, and take longer. */
async function makeContent(params: JsonObject | undefined, files: readonly OutgoingFile[]) {
  if (files.length) return { body: await form(params ?? {}, files), patienceMs: 120_000 };
  return params ? { json: params } : {};
}

async function form(params: JsonObject, files: readonly OutgoingFile[]): Promise<FormData> {
  const form = new FormData();
  form.set("payload_json", JSON.stringify(params));
  for (const [i, file] of files.entries()) {
    form.set(`files[${i}]`, new Blob([new Uint8Array(await file.read())], { type: file.mediaType }), file.name);
  }
  return form;
}
