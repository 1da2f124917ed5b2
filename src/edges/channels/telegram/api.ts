/** One call of the Bot API. What it throws says whether Telegram may have taken something (CHANNEL-2). It holds the token and shows it nowhere. */

import { ChannelBusy, type OutgoingFile, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError, asNumber, asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { trimEndCharacters, truthy } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";
import { readBody, refused } from "../sending.ts";

/** For a wrong token Telegram answers 404 as well, because the token is part of the address. */
const TOKEN_REJECTED = {
  message: "Telegram rejected the bot token.",
  hint: "Copy the token from BotFather again: lares channels add telegram",
  retry: "after-change",
} as const;

function whyRefused(status: number, said: string) {
  // 409: another program is polling. That passes, so the message is kept.
  return { message: `Telegram answered ${status}: ${said}.`, retry: status === 409 ? "later" : "never" } as const;
}

/** Telegram said no: nothing was taken. `said` is its own sentence. */
export class TelegramRefusal extends AppError {
  readonly said: string;
  /** The group lives on under another id. */
  readonly movedTo: string | undefined;

  constructor(status: number, said: string, movedTo: string | undefined) {
    super("CHANNEL_SEND", status === 401 || status === 404 ? TOKEN_REJECTED : whyRefused(status, said));
    this.said = said;
    this.movedTo = movedTo;
  }
}

export interface CallOptions {
  /** Leaves nothing behind at Telegram. */
  reads?: boolean;
  patienceMs?: number;
  /** Sent along in the field of this name. */
  file?: { field: string; file: OutgoingFile };
}

/** Telegram's limit for a file that a bot downloads. */
export const MOST_DOWNLOAD = 20 * 1024 * 1024;

export class TelegramApi {
  private readonly root: string;
  private readonly token: string;

  constructor(root: string, token: string) {
    this.root = trimEndCharacters(root, "/");
    this.token = token;
  }

  async call<T>(method: string, params: JsonObject, signal: AbortSignal, options: CallOptions = {}): Promise<T> {
    const { reads = false, patienceMs, file } = options;
    const { status, json } = await callApi(
      {
        method: "POST",
        url: `${this.root}/bot${this.token}/${method}`,
        ...(file ? { body: await form(params, file) } : { json: params }),
        reads,
        ...truthy({ patienceMs }),
      },
      "Telegram",
      signal,
    );
    if (json.ok === true) return json.result as T;
    const said = asText(json.description) ?? "";
    const more = asObject(json.parameters);
    if (status === 429)
      throw new ChannelBusy((asNumber(more.retry_after) ?? 1) * 1000, "Telegram asks us to slow down.");
    if (status >= 500 || status < 400) {
      const what = `Telegram answered ${status}.`;
      throw reads ? refused(what, "later") : new SendUncertain(what);
    }
    const moved = asNumber(more.migrate_to_chat_id);
    throw new TelegramRefusal(status, said, moved === undefined ? undefined : String(moved));
  }

  /** The bytes of a file somebody sent. */
  async download(fileId: string, claimed: number | undefined, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if ((claimed ?? 0) > MOST_DOWNLOAD) throw refused("Telegram doesn't let bots download files over 20 MB.", "never");
    const found = await this.call<{ file_path?: string }>("getFile", { file_id: fileId }, signal, { reads: true });
    if (!found.file_path) throw refused("Telegram doesn't hand out this file.", "never");
    const url = `${this.root}/file/bot${this.token}/${found.file_path}`;
    // The address contains the token, so the error of `fetch`, which may quote it, goes no further.
    const response = await fetch(url, { redirect: "error", signal }).catch(() => {
      throw refused("The file could not be fetched from Telegram.", "later");
    });
    return readBody(response);
  }
}

async function form(params: JsonObject, { field, file }: NonNullable<CallOptions["file"]>): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  form.set(field, new Blob([new Uint8Array(await file.read())], { type: file.mediaType }), file.name);
  return form;
}
