/**
 * One JSON line per request, written before the answer is: what a kill test reads afterwards.
 *
 * Documentation: see server.ts
 */
import { openSync, writeSync } from "node:fs";
import { seenTexts, textOf } from "./directives.ts";
import type { Reply, SeenRequest } from "./types.ts";

/** `id:<word>`, `#<word>` and `msg-<word>` in user texts: how tests name their messages. */
const MESSAGE_IDS = /\bid:([\w.-]+)|(?:^|\s)#([\w.-]+)|\b(msg-[\w.-]+)/g;

export function requestLog(file: string, full: boolean): (request: SeenRequest, reply: Reply) => void {
  const fd = openSync(file, "a");
  return (request, reply) => {
    writeSync(fd, `${JSON.stringify(lineOf(request, reply, full))}\n`);
  };
}

export function lineOf(request: SeenRequest, reply: Reply, full: boolean): Record<string, unknown> {
  const users = request.messages.filter((message) => message.role === "user").map(textOf);
  return {
    time: request.at,
    protocol: request.protocol,
    model: request.model,
    messages: request.messages.length,
    bytes: request.bytes,
    systemBytes: Buffer.byteLength(request.system),
    tools: request.tools.length,
    cacheMarks: request.cacheMarks,
    lastUser: users.at(-1) ?? "",
    seen: seenTexts(request.messages),
    ids: users.flatMap((text) => [...text.matchAll(MESSAGE_IDS)].map((m) => m[1] ?? m[2] ?? m[3])),
    reply: kindOf(reply),
    ...(full
      ? {
          request: {
            protocol: request.protocol,
            model: request.model,
            system: request.system,
            tools: request.tools,
            messages: request.messages,
            stream: request.stream,
          },
        }
      : {}),
  };
}

function kindOf(reply: Reply): string {
  if (reply.fail) return `fail:${reply.fail.status ?? reply.fail.kind}`;
  if (reply.stall) return "stall";
  if (reply.cut) return "cut";
  if (reply.toolCalls?.length) return `tools:${reply.toolCalls.map((call) => call.name).join(",")}`;
  return reply.text === "" ? "empty" : "text";
}
