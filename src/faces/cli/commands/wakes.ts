/** `lares wake` rings for an agent. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { deliverOf } from "./schedule.ts";

export const wake: Action = async (ctx, [session = "", text = ""]) => {
  const { rpc, out, options } = ctx;
  const deliver = deliverOf(options.deliver, options.thread);
  const done = await rpc.call("wakes.send", {
    session,
    text,
    ...(options.agent ? { agent: options.agent } : {}),
    ...(deliver ? { deliver } : {}),
    ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
  });
  out.document(done);
  out.say(done.duplicate ? `${done.session} was told this before.` : `${done.session} is told.`);
  return EXIT.done;
};
