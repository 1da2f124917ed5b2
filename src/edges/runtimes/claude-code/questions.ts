/** Questions of Claude Code to the person: one of its tools, whose answers are put into its input. Pure. */
import type { RunAsk } from "../../../core/contracts/index.ts";
import { asObject, asText, isObject, type Json, type JsonObject, listObjects } from "../../../core/domain/index.ts";

const QUESTION_TOOL = "AskUserQuestion";

type QuestionAsk = Extract<RunAsk, { kind: "question" }>;

interface PutQuestion {
  question: string;
  options: string[];
  isMany: boolean;
}

/** Undefined for a request about any other tool. */
export function readQuestion(request: Readonly<Record<string, unknown>>): QuestionAsk | undefined {
  if (request.tool_name !== QUESTION_TOOL) return undefined;
  const asked = readAsked(request.input);
  if (asked.length === 0) return undefined;
  const properties = Object.fromEntries(asked.map((one): [string, JsonObject] => [one.question, describeAnswer(one)]));
  return {
    kind: "question",
    text: asked.map(({ question }) => question).join("\n"),
    schema: { type: "object", properties, required: asked.map(({ question }) => question) },
  };
}

/** Its input with the answers. A plain value answers the first question. */
export function withAnswers(input: unknown, value: Json): JsonObject {
  const asked = readAsked(input);
  const given = isObject(value) ? value : { [asked[0]?.question ?? ""]: value };
  const answers = asked.flatMap(({ question }): [string, string][] => {
    const answer = Object.hasOwn(given, question) ? given[question] : undefined;
    if (answer === undefined || answer === null) return [];
    return [[question, Array.isArray(answer) ? answer.map(String).join(", ") : String(answer)]];
  });
  return { ...(asObject(input) as JsonObject), answers: Object.fromEntries(answers) };
}

function readAsked(input: unknown): PutQuestion[] {
  return listObjects(asObject(input).questions).flatMap((one): PutQuestion[] => {
    const question = asText(one.question);
    if (!question) return [];
    const options = listObjects(one.options).flatMap(({ label }) => (typeof label === "string" ? [label] : []));
    return [{ question, options, isMany: one.multiSelect === true }];
  });
}

/** Its options are proposals: a person may answer in other words. */
function describeAnswer({ options, isMany }: PutQuestion): JsonObject {
  const one: JsonObject = options.length > 0 ? { type: "string", examples: options } : { type: "string" };
  return isMany ? { type: "array", items: one } : one;
}
