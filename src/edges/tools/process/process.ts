/** `process`: looks after what `exec` started in the background. A session sees its own processes and no others (SB-03). */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { Json } from "../../../core/domain/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { wrongInput } from "../paths/index.ts";
import { howItEnded, type Processes, type SeenProcess } from "./processes.ts";
import {
  alreadyEnded,
  bytesShown,
  ended,
  inputFor,
  isRunning,
  NO_COMMANDS,
  readOn,
  stopped,
  written,
} from "./words.ts";

const ACTIONS = ["list", "poll", "log", "write", "kill"] as const;
/** As much as a command in the foreground may say. */
const LOG_BYTES = 30_000;
const POLL_BYTES = 4000;
/** What a pipe accepts at once, whether or not anyone is reading. */
const MOST_WRITTEN = 4096;

const schema = z.strictObject({
  action: z.enum(ACTIONS),
  id: z.string().min(1).max(64).optional(),
  text: z.string().optional(),
  from: wholeNumber(0, 999_999_999).optional(),
});

export function createProcess(processes: Processes): Tool {
  const run = async (input: Json, place: ToolPlace): Promise<ToolResult> => {
    const given = checked(input);
    const { session } = place.caller;
    if (given.action === "list") {
      const all = await processes.list(session);
      return {
        text: all.map((one) => `${line(one)} — ${one.command.split("\n")[0]}`).join("\n") || NO_COMMANDS,
      };
    }
    const { id } = given;
    if (given.action === "write") {
      await processes.write(id, session, given.text);
      return { text: written(id) };
    }
    if (given.action === "kill") {
      const before = await processes.look(id, session);
      const after = await processes.kill(id, session);
      const wasOver = before.state !== "running" && before.state !== "starting";
      return {
        text: wasOver ? alreadyEnded(line(before)) : stopped(line(after)),
      };
    }
    const now = await processes.look(id, session);
    const most = given.action === "poll" ? POLL_BYTES : LOG_BYTES;
    const { text, from, to, size } = await processes.output(id, session, most, given.from);
    const onward = to < size ? readOn(JSON.stringify({ action: "log", id, from: to })) : "";
    const which = from > 0 || to < size ? `${bytesShown(from, to, size)}${onward}` : "";
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    return {
      text: `${text}${gap}[${line(now)}${which}]`,
      meta: { id, state: now.state, exit: now.exit, from, to, size },
    };
  };
  return {
    spec: {
      name: "process",
      description:
        "Manage commands that exec started in the background: list, read, write to and stop them. You get a message when one ends: don't wait here.",
      input: {
        type: "object",
        properties: {
          action: { enum: [...ACTIONS], description: "poll: state and last lines; log: all" },
          id: { type: "string", description: "as exec named it" },
          text: { type: "string", description: "for write" },
          from: { type: "integer", description: "byte of the log" },
        },
        required: ["action"],
      },
    },
    repeat: "never",
    looksAtStarted: true,
    async plan(input, place): Promise<ActionPlan> {
      const given = checked(input);
      const about = { tool: "process", targets: [given.action, ...("id" in given ? [given.id] : [])] };
      if (given.action !== "write") {
        // Ending what one has started takes nobody's rights; the rest only looks.
        return { ...about, risk: "read", shown: about.targets.join(" "), binding: { ...given } };
      }
      const { id, text } = given;
      const { command } = await processes.look(id, place.caller.session);
      // Input to a shell is a command like any other: it asks, and "allow always" means this very text.
      return {
        ...about,
        targets: ["write", command, text],
        risk: "exec",
        shown: inputFor(visibleLine(id), visible(command), visible(text)),
        binding: { ...given, command },
      };
    },
    run,
    /** Looking and ending may be done again; what was written may have arrived. */
    async probe(input, place) {
      return checked(input).action === "write" ? undefined : { ok: await run(input, place) };
    },
  };
}

type Checked =
  | { action: "list" }
  | { action: "poll" | "log" | "kill"; id: string; from?: number }
  | { action: "write"; id: string; text: string; from?: number };

function checked(input: Json): Checked {
  const { action, id, text, from } = parseInput("process", schema, input);
  if (action === "list") return { action };
  if (id === undefined) throw wrongInput(`process: ${action} needs an id.`, 'Get it with process {"action":"list"}.');
  const at = from === undefined ? {} : { from };
  if (action !== "write") return { action, id, ...at };
  if (text === undefined)
    throw wrongInput("process: write needs a text.", "Put what to write in text; end a line with \\n.");
  if (Buffer.byteLength(text) > MOST_WRITTEN)
    throw wrongInput(`process: At most ${MOST_WRITTEN} bytes can be written at once.`, "Write it in parts.");
  return { action, id, text };
}

function line(one: SeenProcess): string {
  const { id, state, exit, pid, madeAt: made_at, endedAt: ended_at, excess } = one;
  if (state === "running" || state === "starting") return isRunning(id, pid);
  return ended(id, howItEnded({ state, exit, made_at, ended_at }, excess));
}
