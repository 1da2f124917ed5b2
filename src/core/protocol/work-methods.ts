/** Methods about an agent's work on files: what turns changed, and the way back. */
import { z } from "zod";
import { method, withIdempotencyKey } from "./method.ts";
import { sessionKey, turnId } from "./shapes.ts";

const changedTurn = z.object({
  turn: z.string().describe("a turn, or an undo"),
  session: z.string(),
  agent: z.string(),
  at: z.number(),
  undoes: z.string().optional().describe("the turn or undo that this one undid"),
  undoneBy: z.string().optional(),
  files: z.array(
    z.object({
      path: z.string().describe("below the agent's workspace"),
      change: z.enum(["created", "changed", "deleted"]),
      kept: z.boolean().describe("false: no copy of the old content"),
    }),
  ),
  notes: z.array(z.string()).describe("what its commands changed beyond the files listed"),
});

export const WORK_METHODS = {
  "undo.list": method({
    in: z.strictObject({ session: sessionKey.optional(), limit: z.number().int().min(1).max(200).optional() }),
    out: z.object({ turns: z.array(changedTurn) }),
    scope: "read",
    mutates: false,
    doc: "Turns that changed files, and undos of them, newest first.",
  }),
  // For a diff: what the call itself says is only the new content.
  "undo.before": method({
    in: z.strictObject({ turn: turnId, call: z.string().min(1).max(256).describe("a tool call's id") }),
    out: z.object({
      kept: z.boolean().describe("false: Lares keeps no copies (`checkpoints.megabytes: 0`)"),
      files: z.array(
        z.object({
          path: z.string(),
          text: z
            .string()
            .nullable()
            .optional()
            .describe("null: there was no file. Absent: no text, too large, or not kept"),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "The files that a tool call changed, as they were before it; those of a call that waits for an approval, as they are now.",
  }),
  // Files that somebody changed since are left alone and listed: overwriting them would lose newer work.
  "undo.turn": method({
    in: z.strictObject({
      turn: turnId.describe("a turn or an undo from undo.list"),
      dryRun: z.boolean().optional(),
      ...withIdempotencyKey,
    }),
    out: z.object({
      turn: z.string(),
      undo: z.string().optional().describe("pass it to undo.turn to undo this; absent if nothing was done"),
      files: z.array(
        z.object({
          path: z.string(),
          result: z.enum(["restored", "removed", "already", "conflict", "lost"]),
          reason: z.string().optional(),
        }),
      ),
      notes: z.array(z.string()),
    }),
    scope: "write",
    mutates: true,
    doc: "Restores a turn's files if they are still as it left them; others are listed and left alone.",
  }),
} as const;
