/** signal-cli's daemon: JSON-RPC by POST. Its stream of events is the listener's (listener.ts). */

import { randomUUID } from "node:crypto";
import { ChannelBusy, SendUncertain } from "../../../core/contracts/index.ts";
import { asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { trimEndCharacters } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";
import { refused } from "../sending.ts";

const WHERE = "signal-cli";
/** Error codes of signal-cli. */
const IO_ERROR = -3;
const RATE_LIMIT = -5;

export class SignalRpc {
  private readonly base: string;
  private readonly number: string;

  constructor(url: string, number: string) {
    this.base = trimEndCharacters(url, "/");
    this.number = number;
  }

  get events(): string {
    return `${this.base}/api/v1/events`;
  }

  async call(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    reads = false,
  ): Promise<Record<string, unknown>> {
    const json = { jsonrpc: "2.0", id: randomUUID(), method, params: { account: this.number, ...params } };
    const answer = await callApi({ method: "POST", url: `${this.base}/api/v1/rpc`, json, reads }, WHERE, signal);
    const error = asObject(answer.json.error);
    const code = asNumber(error.code);
    const said = `signal-cli: ${asText(error.message) ?? `answered ${answer.status}`}.`;
    if (code === RATE_LIMIT) throw new ChannelBusy(30_000, said);
    // The connection between signal-cli and Signal broke: nobody knows how far the message came.
    if (code === IO_ERROR || answer.status >= 500) throw reads ? refused(said, "later") : new SendUncertain(said);
    if (code !== undefined || !answer.ok) throw refused(said, "never");
    return asObject(answer.json.result);
  }
}
