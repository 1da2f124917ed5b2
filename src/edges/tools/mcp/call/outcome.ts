/** What came of a call, as a result: an answer, a question to a person, a refusal, or the word that nobody knows. */
import { OutcomeUnknown, type ToolPlace, type ToolResult } from "../../../../core/contracts/index.ts";
import {
  assertNever,
  fromJson,
  type ImagePart,
  type Json,
  noticeIds,
  type QuestionAnswer,
  toJson,
} from "../../../../core/domain/index.ts";
import { asSentence, defined } from "../../../../core/kit/index.ts";
import { visible } from "../../escape.ts";
import { labelled } from "../../web/outside.ts";
import { addressTool } from "../listed/names.ts";
import type { OfferedTool } from "../servers.ts";
import { type AskedByTask, goOnWithTask, startTask } from "../tasks/outcome.ts";
import type { McpPort } from "../tool.ts";
import { misfit } from "./arguments.ts";
import type { CallOutcome, LostLogin } from "./call.ts";
import { type Collected, nextStep, respond, startCollecting } from "./collect.ts";
import { readAnswer } from "./result.ts";

/** One call on its way. `again`: the same call once more, with what was found out. */
export interface CallAt {
  port: McpPort;
  offered: OfferedTool;
  place: ToolPlace;
  /** Of the first part of the call: under it, the server waits. */
  key: string;
  signal: AbortSignal;
  again(collected: Collected): Promise<CallOutcome>;
}

/** What a question needs to go on, stored with the parked turn. `open`: a server of the older era waits under this key. */
type Asked = { open: string } | { collected: Collected; asked: string; samples?: true } | AskedByTask;

/** A server that asks for one thing after the other without a person in between. */
const MOST_ROUNDS = 20;

export async function tellOutcome(
  at: CallAt,
  outcome: CallOutcome,
  notes: readonly string[] = [],
): Promise<ToolResult> {
  const { server, tool, isRepeatable } = at.offered;
  const address = addressTool(server, tool.name);
  switch (outcome.kind) {
    case "answered":
      return withNotes(await tellAnswer(at, outcome.answer), [...notes, ...(outcome.notes ?? [])]);
    case "refused": {
      const { text } = await labelled({ ...at, label: `${address} was not called, or refused`, text: outcome.why });
      const lost = outcome.lost && (await tellLost(at, outcome.lost, outcome.why));
      return withNotes({ text, isError: true, origin: "outside" }, [...notes, ...(lost ?? [])]);
    }
    case "unknown": {
      const why = `${address} was called and did not answer (${firstLine(outcome.why)}).`;
      if (!isRepeatable) throw new OutcomeUnknown(why);
      return { text: `${why} It may be called again.`, isError: true, origin: "outside" };
    }
    case "task":
      return withNotes(await startTask(at.port, at, outcome.task), notes);
    case "asks": {
      const { shown, form, until } = outcome.question;
      return { text: WAITS, ask: { shown, form, until, state: { open: at.key } } };
    }
    case "input-required": {
      const collected = startCollecting(outcome);
      if (!collected) return { text: `${address} asked for more than Lares passes on.`, isError: true, origin: "own" };
      return collect(at, { ...collected, notes: [...notes] });
    }
    default:
      return assertNever(outcome);
  }
}

/** After a question: passes on the answer, and asks the next one or finishes the call. */
export async function goOn(at: CallAt, state: Json, answer: QuestionAnswer): Promise<ToolResult> {
  const { server } = at.offered;
  const asked = fromJson<Asked>(state);
  if ("open" in asked) {
    const outcome = await at.port.answer(server, asked.open, answer, at.signal);
    return tellOutcome({ ...at, key: asked.open }, outcome);
  }
  if ("task" in asked) return goOnWithTask(at.port, at.offered, asked, answer);
  if (answer.action === "cancel") {
    const late = `${server} asked something and nobody answered in time, so the call was given up.`;
    return { text: late, isError: true, origin: "own", notice: late };
  }
  const { collected } = asked;
  // The yes is for this server from now on; the step itself is taken again.
  if (asked.samples && answer.action === "accept") at.port.allowSampling(server);
  else if (asked.samples) {
    collected.notes.push(`${server} wanted a model to write something for it, and nobody agreed.`);
    collected.responses[asked.asked] = {};
  } else respond(collected, asked.asked, answer);
  return collect(at, collected);
}

async function collect(at: CallAt, collected: Collected): Promise<ToolResult> {
  const { server } = at.offered;
  const maySample = at.port.samples(server);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const step = nextStep(server, collected, { roots: at.port.roots(server), maySample });
    if (step.kind === "ask") {
      const { shown, form, key } = step;
      const state: Asked = { collected, asked: key };
      return { text: WAITS, ask: { shown, form, state: toJson(state) } };
    }
    if (step.kind === "sample") {
      const sampled = await at.port.sample(server, { caller: at.place.caller, params: step.params }, at.signal);
      if (sampled.kind === "ask") {
        const { shown, form } = sampled;
        const state: Asked = { collected, asked: step.key, samples: true };
        return { text: WAITS, ask: { shown, form, state: toJson(state) } };
      }
      if (sampled.kind === "refused") collected.notes.push(sampled.why);
      collected.responses[step.key] = sampled.kind === "sampled" ? sampled.result : {};
      continue;
    }
    const outcome = await at.again(collected);
    if (outcome.kind !== "input-required") return tellOutcome(at, outcome, collected.notes);
    const next = startCollecting(outcome);
    if (!next) break;
    collected = { ...next, notes: collected.notes };
  }
  return { text: `${server} kept asking, so the call was given up.`, isError: true, origin: "own" };
}

const WAITS = "It asks a person something before it goes on.";

async function tellAnswer(
  { port, offered, place, key }: CallAt,
  answer: Parameters<typeof readAnswer>[1],
): Promise<ToolResult> {
  const { server, tool } = offered;
  const { whole, pictures, meta, isError } = readAnswer(server, answer);
  const { text, spill } = await labelled({
    label: `Answer of ${addressTool(server, tool.name)}`,
    text: whole,
    place,
    key,
  });
  const images: ImagePart[] = [];
  for (const [n, { bytes }] of pictures.entries()) {
    const kept = await port.keepPicture(place.caller.session, { name: `${tool.modelName}-${n + 1}`, bytes });
    if (kept) images.push(kept);
  }
  const remark = isError ? undefined : remarkOn(tool, meta?.structured);
  return {
    text: remark === undefined ? text : `[${remark}]\n${text}`,
    origin: "outside",
    meta: { ...meta, ...defined({ spill, remark }) },
    ...(isError ? { isError: true } : {}),
    ...(images.length > 0 ? { images } : {}),
  };
}

/** A server that doesn't keep to the schema it gave for its answers is named beside them. */
function remarkOn({ output }: OfferedTool["tool"], structured: Json | undefined): string | undefined {
  const problem = output && structured !== undefined ? misfit(output, structured, "output") : undefined;
  return problem === undefined
    ? undefined
    : visible(asSentence(`The structured answer doesn't fit the schema that the server gave for it: ${problem}`));
}

/** What is left to say with the turn's answer: nothing where the owner got a message. */
async function tellLost({ port, place, offered }: CallAt, { at, isNew }: LostLogin, why: string): Promise<string[]> {
  const text = `The MCP server ${offered.server} can't be used: ${firstLine(why)}`;
  const isTold = await port.tellOwner(place.caller, { id: noticeIds.login(offered.server, at), text });
  return isNew && !isTold ? [text] : [];
}

/** The model and the person both learn what a server asked for and did not get. */
function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  if (notes.length === 0) return result;
  const said = notes.map((note) => visible(note)).join(" ");
  return { ...result, text: `[${said}]\n${result.text}`, notice: said };
}

function firstLine(text: string): string {
  return visible(text.split("\n", 1)[0]!.slice(0, 200));
}
