/** signal-cli's daemon: JSON-RPC by POST, and a stream of server-sent events. */
import { randomUUID } from "node:crypto";
import { ChannelBusy, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { callApi, numberOf, objectOf, textOf } from "../api.ts";
import { refused } from "../sending.ts";

const WHERE = "signal-cli";
/** Error codes of signal-cli. */
const IO_ERROR = -3;
const RATE_LIMIT = -5;
const HOW = "Start it: signal-cli -a NUMBER daemon --http --receive-mode=on-connection";

export class SignalRpc {
  private readonly base: string;
  private readonly number: string;

  constructor(url: string, number: string) {
    this.base = url.replace(/\/+$/, "");
    this.number = number;
  }

  async call(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    reads = false,
  ): Promise<Record<string, unknown>> {
    const json = { jsonrpc: "2.0", id: randomUUID(), method, params: { account: this.number, ...params } };
    const answer = await callApi({ method: "POST", url: `${this.base}/api/v1/rpc`, json, reads }, WHERE, signal);
    const error = objectOf(answer.json.error);
    const code = numberOf(error.code);
    const said = `signal-cli: ${textOf(error.message) ?? `answered ${answer.status}`}.`;
    if (code === RATE_LIMIT) throw new ChannelBusy(30_000, said);
    // It broke between signal-cli and Signal: who knows how far it came.
    if (code === IO_ERROR || answer.status >= 500) throw reads ? refused(said, "later") : new SendUncertain(said);
    if (code !== undefined || !answer.ok) throw refused(said, "never");
    return objectOf(answer.json.result);
  }

  /** One event after another; every sign of life is told. Ends by throwing. */
  async *events(alive: () => void, signal: AbortSignal): AsyncGenerator<Record<string, unknown>> {
    const response = await fetch(`${this.base}/api/v1/events`, { signal, redirect: "error" }).catch((cause) => {
      throw new AppError("CHANNEL_SEND", {
        message: "signal-cli cannot be reached.",
        hint: HOW,
        retry: "later",
        cause,
      });
    });
    if (!response.ok || !response.body) throw refused(`signal-cli answered ${response.status}.`, "later");
    alive();
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      alive();
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const data = dataOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (data) yield data;
      }
      if (text.length > 16 * 1024 * 1024) throw new Error("signal-cli sent an event without an end.");
    }
    throw new Error("signal-cli closed the stream.");
  }
}

function dataOf(block: string): Record<string, unknown> | undefined {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  if (!lines.length) return undefined;
  try {
    return objectOf(JSON.parse(lines.map((line) => line.slice(5)).join("\n")));
  } catch {
    return undefined;
  }
}
