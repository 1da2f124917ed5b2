/** The signed body of a request, and the event it becomes. */
import { z } from "zod";
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { parseBody } from "../incoming.ts";

const inbound = z.strictObject({
  id: z.string().min(1).max(256),
  chat: z.string().min(1).max(256),
  thread: z.string().min(1).max(256).optional(),
  sender: z.strictObject({ id: z.string().min(1).max(256), name: z.string().max(256).optional() }),
  text: z.string().min(1).max(262_144),
});

/** Throws what the caller reads: where the body isn't as expected. */
export function toEvent(body: Buffer): PlatformEvent {
  const parsed = inbound.safeParse(parseBody(body));
  if (!parsed.success) throw unexpected(parsed.error.issues[0]!);
  const { id, chat, thread, sender, text } = parsed.data;
  return {
    kind: "message",
    id,
    chat: { id: chat, kind: "direct", ...truthy({ thread }) },
    sender: { id: sender.id, ...truthy({ name: sender.name }) },
    text,
  };
}

function unexpected({ path, message }: z.core.$ZodIssue): AppError {
  const what = path.length ? `The field ${path.join(".")} of the body` : "The body";
  return new AppError("BAD_REQUEST", {
    message: `${what} is not as expected: ${message}.`,
    hint: 'Send {"id","chat","sender":{"id"},"text"}.',
  });
}
