/** One call of a run: set money aside, pass it on, stream the answer back, settle (PROXY-1 to PROXY-3). */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ModelRelay, RelayCall, RelayedAnswer, RelayFailure } from "../../../core/contracts/index.ts";
import { type Clock, following } from "../../../core/kit/index.ts";
import type { Lease } from "./leases.ts";
import type { ProxiedHold, ProxyLedger } from "./ports.ts";
import type { AskedBody } from "./read-request.ts";
import { badRequest, noAnswer, overBudget } from "./refusals.ts";
import { say, sendText } from "./replies.ts";

export interface Passing {
  relay: ModelRelay;
  ledger: ProxyLedger;
  clock: Clock;
  lease: Lease;
  call: RelayCall;
  body: AskedBody;
  response: ServerResponse;
}

export async function passOn(passing: Passing): Promise<void> {
  const { relay, lease, call, response } = passing;
  const chosen = relay.choose(call.api, call.meant ?? call.model);
  if ("message" in chosen) {
    lease.listener?.onFailure?.({ failure: "not-found", ...chosen });
    say(response, call.api, badRequest(`${chosen.message} ${chosen.hint}`));
    return;
  }
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once("close", leave);
  if (response.destroyed) leave();
  const { signal, done } = following(lease.signal, gone.signal);
  try {
    const hold = await setAside(passing, chosen.model, signal);
    if (hold !== undefined) await send(passing, hold, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    response.destroy();
  } finally {
    response.off("close", leave);
    done();
  }
}

/** Counting tokens is free. */
const FREE: ProxiedHold = { settle: () => [], drop() {}, release() {} };

/** Undefined when the budget has no room, which is said. */
async function setAside(
  { ledger, lease, call, body, response }: Passing,
  model: string,
  signal: AbortSignal,
): Promise<ProxiedHold | undefined> {
  if (call.kind === "count") return FREE;
  const { turn, session, agent, runtime } = lease;
  const { bytes, pictures, maxOutputTokens } = body;
  const held = await ledger.hold({ turn, session, agent, runtime, model, bytes, pictures, maxOutputTokens }, signal);
  if (!("refused" in held)) return held;
  lease.listener?.onFailure?.({ failure: "budget", message: held.refused, hint: null });
  say(response, call.api, overBudget(held.refused));
  return undefined;
}

async function send(passing: Passing, hold: ProxiedHold, signal: AbortSignal): Promise<void> {
  const { relay, clock, lease, call, response } = passing;
  const start = clock.now();
  let answer: RelayedAnswer | RelayFailure;
  try {
    answer = await relay.send(call, (wait) => lease.listener?.onWait?.(wait), signal);
  } catch (error) {
    // It may have reached a provider: nobody can say what that cost.
    hold.drop();
    throw error;
  }
  if (!answer.ok) {
    hold.release();
    const { failure, message, hint } = answer;
    lease.listener?.onFailure?.({ failure, message, hint });
    if (answer.said) sendText(response, answer.said.status, answer.said.body, answer.said.headers);
    else say(response, call.api, noAnswer(answer));
    return;
  }
  try {
    await stream(answer, response, signal);
  } finally {
    const { usage, isWhole } = answer.used();
    const basis = isWhole ? "priced" : "guessed";
    const warnings = hold.settle({ model: answer.model, usage, basis, ms: clock.now() - start });
    for (const warning of warnings) lease.listener?.onWarning?.(warning);
    if (call.kind === "answer") lease.listener?.onUsage?.({ model: answer.model, usage, basis });
  }
}

async function stream(answer: RelayedAnswer, response: ServerResponse, signal: AbortSignal): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  try {
    for await (const piece of answer.pieces()) {
      if (signal.aborted) break;
      if (!response.write(piece)) await untilTaken(response, signal);
    }
  } catch {
    // The answer broke off: so does ours, or the child would take it for a whole one.
    response.destroy();
    return;
  }
  if (signal.aborted) response.destroy();
  else response.end();
}

/** Until the child has taken what was written, or is gone. */
async function untilTaken(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, "drain", { signal }).catch(() => {});
}
