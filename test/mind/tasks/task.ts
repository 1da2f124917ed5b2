/**
 * A task for a model that takes everything literally: it does what its request tells it and knows nothing else. Each task is played
 * twice, once with the request as it is and once without the element it is about; it has to go right with it and wrong without.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  envelopeOf,
  type NormalMessage,
  type NormalPart,
  type NormalRequest,
  type Reply,
  textOf,
} from "../../fakes/model-server/index.ts";
import type { ircPerson } from "../../servers/irc.ts";
import type { TelegramRig } from "../telegram.ts";

export interface Scene {
  rig: TelegramRig;
  /** A name nobody used before: for conversations and files of one round. */
  fresh: string;
  workspace: string;
  /** Somebody on IRC, where there is a server. */
  irc?: IrcPerson | undefined;
  /** Puts a file into the workspace. */
  put(path: string, text: string): void;
}

export interface Task {
  name: string;
  /** What the request has to say for it to go right. */
  element: string;
  without(request: NormalRequest): NormalRequest;
  model(request: NormalRequest): Reply;
  /** Whether it went right. */
  play(scene: Scene): Promise<boolean>;
}

export type IrcPerson = Awaited<ReturnType<typeof ircPerson>>;

export interface Stage {
  rig: TelegramRig;
  irc?: IrcPerson;
  stop(): Promise<void>;
}

function sceneOf({ rig, irc }: Stage, fresh: string): Scene {
  const workspace = join(rig.home, "agents/main/workspace");
  return {
    rig,
    irc,
    fresh,
    workspace,
    put(path, text) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    },
  };
}

/** Plays a task as the model would read it, with the element or without it. */
export async function play(task: Task, stage: Stage, how: "with" | "without"): Promise<boolean> {
  stage.rig.model.use((request) => task.model(how === "with" ? request : task.without(request)));
  return task.play(sceneOf(stage, `${task.name.replace(/\W+/g, "-")}-${how}`.toLowerCase()));
}

// ── what a request says ──────────────────────────────────────────────────────────────────────────────────────────

export const said = (request: NormalRequest): NormalMessage[] => request.messages.filter((m) => m.role === "user");
export const words = (request: NormalRequest): string => textOf(said(request).at(-1)!);
export const lines = (request: NormalRequest): string[] =>
  said(request).flatMap((message) => envelopeOf(message) ?? []);

/** The command somebody named in backticks, also when something else was said since. */
export function commandIn(request: NormalRequest): string {
  return said(request).flatMap((message) => /`([^`]+)`/.exec(textOf(message))?.[1] ?? [])[0]!;
}

/** What came back for the newest calls; nothing while none was made. */
export function result(request: NormalRequest): string | undefined {
  const last = request.messages.at(-1);
  if (last?.role !== "tool") return undefined;
  return last.parts.map((part) => (part.type === "tool-result" ? part.text : "")).join("\n");
}

export const call = (name: string, input: object): Reply => ({ toolCalls: [{ name, input }] });
export const say = (text: string): Reply => ({ text });

// ── the same request without something ───────────────────────────────────────────────────────────────────────────

export function withoutInstruction(pattern: RegExp): Task["without"] {
  return (request) => ({ ...request, system: request.system.replace(pattern, "") });
}

export function withoutInLines(change: (line: string) => string | undefined): Task["without"] {
  return (request) => ({
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      parts: message.parts.flatMap((part): NormalPart[] => {
        if (part.type !== "envelope") return [part];
        const text = change(part.text);
        return text === undefined ? [] : [{ ...part, text }];
      }),
    })),
  });
}

export function withoutInResults(pattern: RegExp): Task["without"] {
  return (request) => ({
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-result" ? { ...part, text: part.text.replace(pattern, "") } : part,
      ),
    })),
  });
}
