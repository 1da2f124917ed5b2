/**
 * A server's prompts as slash commands: `/server:prompt name=value`. A person asked for it by name, so nobody else is asked; what comes
 * back is the server's text and goes to the agent as text from outside. Pure but for the port.
 */
import { z } from "zod";
import { AppError } from "../../../../core/domain/index.ts";
import { nearest, visibleLine, withoutHidden } from "../../../../core/kit/index.ts";
import { readAnswer } from "../call/result.ts";

const MOST_PROMPTS = 100;
const MOST_TEXT = 30_000;
const MOST_ABOUT = 120;
/** What can be typed behind a slash. */
const NAME = /^[\w.-]{1,64}$/;

export interface McpPrompt {
  name: string;
  about: string;
  arguments: { name: string; required: boolean }[];
}

const listed = z.looseObject({
  name: z.string().regex(NAME),
  title: z.string().optional(),
  description: z.string().optional(),
  arguments: z
    .array(z.looseObject({ name: z.string().max(64), required: z.boolean().optional() }))
    .max(20)
    .default([]),
});
const got = z.looseObject({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).max(50) });

/** One that can't be read or typed is left out; the others stay. */
export function readPrompts(raw: readonly unknown[]): McpPrompt[] {
  return raw.slice(0, MOST_PROMPTS).flatMap((one) => {
    const read = listed.safeParse(one);
    if (!read.success) return [];
    const { name, title, description, arguments: takes } = read.data;
    const about = visibleLine(withoutHidden((description ?? title ?? "").slice(0, 4 * MOST_ABOUT))).slice(
      0,
      MOST_ABOUT,
    );
    return [{ name, about, arguments: takes.map((arg) => ({ name: arg.name, required: arg.required === true })) }];
  });
}

/** `city=Rome note="two words"`; where a prompt takes one argument, its name can be left out. Throws BAD_REQUEST. */
export function readPromptArguments(server: string, prompt: McpPrompt, typed: string): Record<string, string> {
  const [only, ...others] = prompt.arguments;
  const names = prompt.arguments.map(({ name }) => name);
  const given: Record<string, string> = {};
  const isNamed = /^[\w.-]+=/.test(typed);
  if (typed !== "" && !isNamed) {
    if (!only || others.length > 0) throw wrong(server, prompt, only ? "name what you give it" : "it takes nothing");
    return { [only.name]: typed };
  }
  for (const [, name = "", quoted, plain] of typed.matchAll(/(?:^|\s)([\w.-]{1,64})=(?:"([^"]*)"|(\S*))/g)) {
    if (!names.includes(name)) throw wrong(server, prompt, `it doesn't take "${name}"`);
    given[name] = quoted ?? plain ?? "";
  }
  const missing = prompt.arguments.find((one) => one.required && !Object.hasOwn(given, one.name));
  if (missing) throw wrong(server, prompt, `"${missing.name}" is missing`);
  return given;
}

/** How it is called: `/sky:report city=… [days=…]`. */
export function showPrompt(server: string, { name, arguments: takes }: McpPrompt): string {
  const args = takes.map((one) => (one.required ? `${visibleLine(one.name)}=…` : `[${visibleLine(one.name)}=…]`));
  return [`/${server}:${name}`, ...args].join(" ");
}

/** The messages as one text: whose turn it would be means nothing to a conversation that goes on. */
export function readPrompt(server: string, prompt: string, answer: unknown): string {
  const read = got.safeParse(answer);
  if (!read.success) {
    throw new AppError("NOT_READY", { message: `${server} answered ${prompt} in a way that can't be read.` });
  }
  const texts = read.data.messages.map(({ role, content }) => {
    const { whole } = readAnswer(server, { content: [content] });
    return role === "assistant" ? `[as an answer] ${whole}` : whole;
  });
  return texts.join("\n\n").slice(0, MOST_TEXT);
}

export function findPrompt(server: string, prompts: readonly McpPrompt[], name: string): McpPrompt {
  const found = prompts.find((one) => one.name === name);
  if (found) return found;
  const near = nearest(
    name,
    prompts.map((one) => one.name),
  );
  const all = prompts.map((one) => showPrompt(server, one)).join(", ");
  throw new AppError("NOT_FOUND", {
    message: name === "" ? `Prompts of ${server}:` : `${server} has no prompt "${visibleLine(name)}".`,
    hint: near !== undefined && name !== "" ? `Did you mean /${server}:${near}?` : all || "It has none.",
  });
}

function wrong(server: string, prompt: McpPrompt, why: string): AppError {
  return new AppError("BAD_REQUEST", {
    message: `${server}:${prompt.name}: ${why}.`,
    hint: showPrompt(server, prompt),
  });
}
