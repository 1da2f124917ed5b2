/**
 * What the model says while Lares tries a runtime out. It finds its tools in the request, so it knows no runtime by name. Pure, except
 * that it counts what it was asked.
 *
 * First run: a word, then a file is read, then one command is allowed and one denied, then some more words. Second run: words without end.
 */
import type { ScriptAnswer, ScriptRequest } from "../../../core/contracts/index.ts";
import { asList, asObject, type Json, type JsonObject } from "../../../core/domain/index.ts";

export interface TrialMarks {
  /** In the prompts of the two runs. */
  first: string;
  second: string;
  /** What a person says while the first one runs. */
  steer: string;
  /** Files in the folder it works in: one to read, and what the commands leave. */
  note: string;
  allowed: string;
  denied: string;
}

/** What the runtime's requests showed. */
export interface TrialHeard {
  /** Requests in which it offered its tools. */
  requests: number;
  /** What was said in the first run was known in the second. */
  remembers: boolean;
  /** What a person said reached the model. */
  steered: boolean;
  /** The second run reached its model. */
  hasSecond: boolean;
}

const IDS = ["call_lares_1", "call_lares_2", "call_lares_3"] as const;
const GREETING = ["Lares ", "tries ", "out ", "what ", "works. "];
const GAP_MS = 40;
/** Longer than anybody waits for it. */
const ENDLESS = Array.from({ length: 600 }, () => "on and on ");
const ENDLESS_GAP_MS = 50;

type ScriptTool = ScriptRequest["tools"][number];

export function makeTrialScript(
  marks: TrialMarks,
  folder: string,
): { heard: TrialHeard; script(request: ScriptRequest): ScriptAnswer } {
  const heard: TrialHeard = { requests: 0, remembers: false, steered: false, hasSecond: false };
  return {
    heard,
    script({ text, tools, results }) {
      const shell = findShell(tools);
      // For a title or a summary it asks without its tools.
      if (!shell) return { text: ["Lares"] };
      heard.requests++;
      heard.steered ||= text.includes(marks.steer);
      if (text.includes(marks.second)) {
        heard.hasSecond = true;
        heard.remembers ||= text.includes(marks.first);
        return { text: ENDLESS, gapMs: ENDLESS_GAP_MS };
      }
      const step = Math.max(IDS.filter((id) => text.includes(id)).length, results);
      if (step >= IDS.length) return { text: GREETING, gapMs: GAP_MS };
      const run = (command: string) => ({
        id: IDS[step]!,
        name: shell.tool.name,
        input: fillInput(shell.tool, { [shell.field]: command }),
      });
      const left = step === 1 ? marks.allowed : marks.denied;
      const call =
        step === 0
          ? (readNote(tools, `${folder}/${marks.note}`, IDS[0]) ?? run(`cat ${marks.note}`))
          : run(`echo ${left} > ${left}`);
      return { text: step === 0 ? GREETING : [], gapMs: GAP_MS, call };
    },
  };
}

const SHELL_FIELDS = ["command", "cmd"];
const SHELL_NAME = /bash|shell|exec|terminal|command/i;

/** The tool that runs commands: one that takes a command as text, by a telling name where there are several. */
function findShell(tools: readonly ScriptTool[]): { tool: ScriptTool; field: string } | undefined {
  const found = tools.flatMap((tool) => {
    const field = SHELL_FIELDS.find((name) => asObject(listProperties(tool)[name]).type === "string");
    return field === undefined ? [] : [{ tool, field }];
  });
  return found.find(({ tool }) => SHELL_NAME.test(tool.name)) ?? found[0];
}

const PATH_FIELDS = ["file_path", "filePath", "absolute_path", "path"];

/** By its tool for reading, where it has one: many ask before a command, and not before they read. */
function readNote(tools: readonly ScriptTool[], path: string, id: string): ScriptAnswer["call"] | undefined {
  for (const tool of tools) {
    const field = PATH_FIELDS.find((name) => asObject(listProperties(tool)[name]).type === "string");
    if (/^read/i.test(tool.name) && field !== undefined)
      return { id, name: tool.name, input: fillInput(tool, { [field]: path }) };
  }
  return undefined;
}

function listProperties({ input }: ScriptTool): Record<string, unknown> {
  return asObject(input.properties);
}

/** With something in each field that the tool insists on. */
function fillInput(tool: ScriptTool, given: JsonObject): JsonObject {
  const filled: Record<string, Json> = { ...given };
  for (const name of asList(tool.input.required)) {
    if (typeof name !== "string" || name in filled) continue;
    const { type, enum: values } = asObject(listProperties(tool)[name]);
    filled[name] = (asList(values)[0] as Json | undefined) ?? plainValue(type);
  }
  return filled;
}

function plainValue(type: unknown): Json {
  if (type === "boolean") return false;
  if (type === "number" || type === "integer") return 1;
  if (type === "array") return [];
  return type === "object" ? {} : "Lares tries this out";
}
