/** The signed body of a request, and the event it becomes. */
import { z } from "zod";
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { firstIssue, type Issue, truthy } from "../../../core/kit/index.ts";
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
  const given = parseBody(body);
  const parsed = inbound.safeParse(given);
  if (!parsed.success) throw unexpected(parsed.error.issues, given);
  const { id, chat, thread, sender, text } = parsed.data;
  return {
    kind: "message",
    id,
    chat: { id: chat, kind: "direct", ...truthy({ thread }) },
    sender: { id: sender.id, ...truthy({ name: sender.name }) },
    text,
  };
}

function unexpected(issues: readonly Issue[], given: unknown): AppError {
  return new AppError("BAD_REQUEST", {
    message: `The body is not as expected: ${firstIssue(issues, given, "it")}`,
    hint: 'Send {"id","chat","sender":{"id"},"text"}.',
  });
}
