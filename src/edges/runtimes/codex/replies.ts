/** A person's answer in the words of the request that Codex made. Pure. */
import type { RunAnswer } from "../../../core/contracts/index.ts";
import { asObject, isObject, type Json } from "../../../core/domain/index.ts";
import { asText, type CodexItem } from "./items.ts";
import { isPermission } from "./translate.ts";

/** `withdrawn`: nobody answers any longer, which is a no that also ends the turn. */
type CodexAnswer = RunAnswer | { kind: "withdrawn" };

/** Undefined where this isn't an answer to that: a yes to a question, words to a request for permission. */
export function writeReply(method: string, params: CodexItem, answer: CodexAnswer): object | undefined {
  if (isPermission(method, params)) return writeDecision(method, answer.kind);
  if (answer.kind === "allow") return undefined;
  const value = answer.kind === "said" ? answer.value : undefined;
  if (method === "item/tool/requestUserInput") return { answers: writeAnswers(params, value) };
  if (value === undefined) return { action: answer.kind === "deny" ? "decline" : "cancel", content: null, _meta: null };
  return { action: "accept", content: isObject(value) ? value : { answer: value }, _meta: null };
}

/** For once: what is allowed for a session, or for good, the owner's policy says. */
function writeDecision(method: string, kind: CodexAnswer["kind"]): object | undefined {
  if (kind === "said") return undefined;
  const isMcp = method === "mcpServer/elicitation/request";
  const decision = { allow: "accept", deny: "decline", withdrawn: "cancel" }[kind];
  if (!isMcp) return { decision };
  return { action: decision, content: kind === "allow" ? {} : null, _meta: null };
}

function writeAnswers({ questions }: CodexItem, value: Json | undefined): Record<string, object> {
  if (value === undefined || !Array.isArray(questions)) return {};
  const ids = questions.map((one) => asText(asObject(one).id));
  return Object.fromEntries(
    ids.map((id) => {
      const said = isObject(value) ? value[id] : value;
      return [id, { answers: said === undefined ? [] : [typeof said === "string" ? said : JSON.stringify(said)] }];
    }),
  );
}
