/** Calls of a runtime that a script answers, e.g. while Lares tries out what it can do. Nobody else is asked, and nothing is paid. */
import type { MakeScriptedRelay, RelayCall, RelayedAnswer, ScriptRequest } from "../../../core/contracts/index.ts";
import { asList, asObject, asText, type JsonObject, NO_USAGE } from "../../../core/domain/index.ts";
import { type Clock, defined, parseJson } from "../../../core/kit/index.ts";
import { pauseOrAbort } from "../wire/watch.ts";
import { COUNTED } from "./practice.ts";
import { writeEvents, writeWhole } from "./written-answer.ts";

const MODEL = "lares/script";
/** Not nothing: whether a runtime reports what it used shows only then. */
const USED = { input: 100, output: 10 };

export function scriptedRelays(clock: Clock): MakeScriptedRelay {
  return (script) => ({
    choose: () => ({ model: MODEL, practice: true }),
    async send(call, _onWait, signal): Promise<RelayedAnswer> {
      const isEvents = call.stream && call.kind === "answer";
      const { text, call: wanted, gapMs = 0 } = call.kind === "count" ? { text: [] } : script(readRequest(call));
      const answer = { model: MODEL, text, usage: USED, ...defined({ call: wanted }) };
      const whole = call.kind === "count" ? COUNTED : writeWhole(call.api, answer);
      const pieces = isEvents ? writeEvents(call.api, answer) : [whole];
      return {
        ok: true,
        model: MODEL,
        status: 200,
        headers: { "content-type": isEvents ? "text/event-stream" : "application/json" },
        async *pieces() {
          for (const piece of pieces) {
            yield Buffer.from(piece);
            if (gapMs > 0) await pauseOrAbort(clock, gapMs, signal);
          }
        },
        used: () => ({ usage: NO_USAGE, isWhole: true }),
      };
    },
  });
}

function readRequest(call: RelayCall): ScriptRequest {
  const text = Buffer.from(call.body).toString("utf8");
  const body = asObject(parseJson(text));
  const tools = asList(body.tools).flatMap((one) => {
    const tool = asObject(one);
    // Google puts several into one.
    return tool.functionDeclarations === undefined ? [tool] : asList(tool.functionDeclarations).map(asObject);
  });
  return {
    text,
    tools: tools.flatMap(readTool),
    results: text.split('"functionResponse"').length - 1,
  };
}

function readTool(tool: Record<string, unknown>): ScriptRequest["tools"][number][] {
  // Chat Completions have it one level below.
  const { name, input_schema, parameters, parametersJsonSchema } = { ...tool, ...asObject(tool.function) };
  const input = asObject(input_schema ?? parameters ?? parametersJsonSchema) as JsonObject;
  return asText(name) ? [{ name: asText(name)!, input }] : [];
}
