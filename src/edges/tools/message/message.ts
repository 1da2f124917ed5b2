/**
 * `message`: says something before the answer, in another chat, or with files. What a model writes never attaches a file by
 * itself: a file leaves only by this tool, only from the workspace, and only when this turn made it (FS-07).
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ActionPlan, Tool, ToolCaller } from "../../../core/contracts/index.ts";
import { AppError, type Json, type ReplyRoute, toAccountName, toChatName } from "../../../core/domain/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import { withInside } from "../paths/index.ts";

/** What the tool needs from the rest of Lares. */
export interface MessagePort {
  /** When the turn that calls began. */
  startedAt(turn: string): Promise<number | undefined>;
  /** Why nothing can be sent there, or nothing. */
  refuses(route: ReplyRoute): string | undefined;
  /** Takes the files in and puts the message on its way; `key` again is the same message. Returns what to tell the model. */
  send(message: {
    key: string;
    caller: ToolCaller;
    route: ReplyRoute;
    text: string;
    files: { name: string; content: Uint8Array }[];
  }): Promise<string>;
}

export const MOST_FILES = 8;
const MOST_BYTES = 20 * 1024 * 1024;

const part = z.string().min(1).max(256);
const schema = z.strictObject({
  text: z.string().max(20_000).default(""),
  files: z.array(z.string().min(1)).max(MOST_FILES).default([]),
  to: z.strictObject({ channel: part, account: part, chat: part, thread: part.optional() }).optional(),
});

export function createMessageTool(port: MessagePort): Tool {
  const read = (input: Json) => {
    const wanted = parseInput("message", schema, input);
    if (wanted.text.trim() || wanted.files.length) return wanted;
    throw new AppError("TOOL_INPUT", { message: "There is nothing to send.", hint: "Give text, files, or both." });
  };
  return {
    spec: {
      name: "message",
      description: `Send a message now, before your answer: one line before slow work, or up to ${MOST_FILES} files you made in this turn. Your final text is sent by itself: don't repeat it here. Another chat is asked about first.`,
      input: {
        type: "object",
        properties: {
          text: { type: "string", description: "may be left out with files" },
          files: { type: "array", items: { type: "string" }, description: "paths in the workspace, made in this turn" },
          to: {
            type: "object",
            description: "another chat; default: this one",
            properties: {
              channel: { type: "string" },
              account: { type: "string" },
              chat: { type: "string" },
              thread: { type: "string" },
            },
            required: ["channel", "account", "chat"],
          },
        },
      },
    },
    repeat: "with-key",
    opensFiles: (input) => {
      const { files } = (input ?? {}) as { files?: unknown };
      return Array.isArray(files) && files.length > 0;
    },
    words: { result: "own", failure: "own" },
    async plan(input, place): Promise<ActionPlan> {
      const { text, files, to } = read(input);
      const { caller } = place;
      const route = chooseRoute(caller, to);
      const why = port.refuses(route);
      if (why) throw new AppError("TOOL_INPUT", { message: why, hint: "Answer here instead." });
      const found = await Promise.all(files.map((path) => made(port, place.workspace, caller, path)));
      const elsewhere = !same(route, caller.route);
      const where = `${toAccountName(route)}, chat ${route.chat}${route.thread ? `, thread ${route.thread}` : ""}`;
      return {
        tool: "message",
        // The person who asked gets what was made for them; anyone else is a new destination.
        risk: elsewhere ? "state" : "read",
        targets: [toChatName(route)],
        shown: [
          elsewhere ? `Send to ${visibleLine(where)}:` : "Send here:",
          ...(text ? [visible(text)] : []),
          ...found.map((f) => `[file ${visibleLine(f.path)}, ${f.bytes} bytes]`),
        ].join("\n"),
        binding: { route: { ...route }, text, files: found.map(({ path, sha256 }) => ({ path, sha256 })) },
        ...(elsewhere ? { changes: "destination" as const } : {}),
      };
    },
    async run(input, place, key) {
      const { text, files, to } = read(input);
      const { caller } = place;
      const found = await Promise.all(files.map((path) => made(port, place.workspace, caller, path)));
      const route = chooseRoute(caller, to);
      return { text: await port.send({ key, caller, route, text, files: found }) };
    },
  };
}

function chooseRoute(caller: ToolCaller, to: z.output<typeof schema>["to"]): ReplyRoute {
  if (!to) return caller.route;
  const { thread, ...rest } = to;
  return thread === undefined ? rest : { ...rest, thread };
}

function same(a: ReplyRoute, b: ReplyRoute): boolean {
  return a.channel === b.channel && a.account === b.account && a.chat === b.chat && a.thread === b.thread;
}

/** A file of the workspace that this turn made or changed. The change time cannot be set back by the file's writer. */
async function made(port: MessagePort, workspace: string, caller: ToolCaller, path: string) {
  const since = await port.startedAt(caller.turn);
  return withInside({ root: workspace, path }, async (inside) => {
    const file = await inside.open();
    try {
      const { ctimeMs, size } = await file.stat();
      // File systems round their clocks.
      if (since === undefined || ctimeMs < since - 10) {
        throw new AppError("TOOL_INPUT", {
          message: `${visibleLine(path)} wasn't made in this turn, so it can't be sent.`,
          hint: "Only files made for this request can be sent. If the person asked for this one, write a copy of it now.",
        });
      }
      if (size > MOST_BYTES) {
        const most = MOST_BYTES / 1024 / 1024;
        throw new AppError("TOOL_INPUT", {
          message: `${visibleLine(path)} is larger than ${most} MB.`,
          hint: "Send a smaller file, or say where it is.",
        });
      }
      const content = await file.readFile();
      const sha256 = createHash("sha256").update(content).digest("hex");
      return { path: inside.path, name: path.split("/").at(-1) ?? "file", bytes: size, sha256, content };
    } finally {
      await file.close();
    }
  });
}
