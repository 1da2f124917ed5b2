/** Texts for people about approvals. */
import {
  type ApprovalId,
  CODE_LENGTH,
  fromJson,
  howToType,
  isObject,
  type Json,
  type JsonObject,
  needsNoWords,
  type QuestionForm,
  type ReplyRoute,
  toAccountName,
} from "../../core/domain/index.ts";
import { quotedName, visible } from "../../core/kit/index.ts";
import { brief } from "./brief.ts";

/** Why a waiting approval is answered along with another one. */
export const ALLOWED_ALONGSIDE = "The same action was allowed for good in another approval.";
/** Why a waiting approval is denied when what it is about was forgotten, and what it shows from then on. */
export const IT_WAS_FORGOTTEN = "What this is about was forgotten on request.";
export const WAS_FORGOTTEN = "(forgotten on request)";
/** For `config check`, in hours. */
export function remindsTooLate(remind: number, expire: number): string {
  return `Nobody is reminded: approvals expire after ${inHours(expire)}, and the first reminder would come after ${inHours(remind)}. Set it below ${expire}, or to 0 for no reminders.`;
}

function inHours(n: number): string {
  return n === 1 ? "an hour" : `${n} hours`;
}

export const ASKED_BY_GUEST = "Asked by a guest.";

/** Names are other people's words, so they stand in quotes. */
export function askedBy(
  authority: "stranger" | "known",
  { channel, account }: ReplyRoute,
  person: { id: string; name: string | null },
): string {
  const who = authority === "stranger" ? "a guest" : "a person you know";
  const id = quotedName(person.id);
  const name = person.name && quotedName(person.name) !== id ? `${quotedName(person.name)}, ` : "";
  return `Asked by ${who} on ${toAccountName({ channel, account })}: ${name}${id}.`;
}

/** The short code shown in chats. */
export function shortCode(id: ApprovalId): string {
  return id.slice(-CODE_LENGTH);
}

export interface Question {
  id: ApprovalId;
  shown: string;
  because: string;
  action: JsonObject;
}

export function questionText(q: Question): string {
  return `${opening(q)}\n\n${actionBlock(q)}\n\n${q.because} ${howToAnswer(q)}`;
}

/** For a chat that shows buttons under it. */
export function questionTextWithButtons(q: Question): string {
  // A button can take the defaults; anything else is typed.
  const typed = formIn(q.action)?.fields.length ? ` ${howToAnswer(q)}` : "";
  return `${opening(q)}\n\n${actionBlock(q)}\n\n${q.because}${typed}`;
}

/** What the approval's message says once it has been answered. */
export function outcomeText(answer: { decision: string; by: string }): string {
  const what = { "allow-once": "Allowed once", "allow-always": "Always allowed", deny: "Denied" }[answer.decision];
  return `${what ?? answer.decision} by ${visible(answer.by)}.`;
}

export function reminderText(q: Question & { askedAt: number; deadline: number }, now: number): string {
  const ago = hours(now - q.askedAt);
  const left = hours(q.deadline - now);
  const when = `I asked ${ago} ago. If you don't answer, it's denied in ${left}.`;
  return `This is still waiting for you.\n\n${actionBlock(q)}\n\n${q.because} ${when} ${howToAnswer(q)}`;
}

/**
 * The action verbatim, line by line. A code block preserves its lines and characters where Markdown is rendered; the bar on each
 * line separates it from our own text where it isn't.
 */
function actionBlock({ shown, action }: Question): string {
  const lines = brief(shown, marksIn(action)).split("\n");
  let fence = "```";
  while (lines.some((line) => line.includes(fence))) fence += "`";
  return [fence, ...lines.map((line) => `│ ${line}`), fence].join("\n");
}

/** Without a slash: several clients treat slash words as their own commands and send nothing. */
function howToAnswer({ id, action }: Question): string {
  const code = shortCode(id);
  const form = formIn(action);
  if (!form || form.fields.length === 0) return `Answer with: approve ${code} or deny ${code}.`;
  const defaults = needsNoWords(form) ? ` To leave everything as it is: approve ${code}.` : "";
  return `Answer with: answer ${code} ${howToType(form)}.${defaults} To decline: deny ${code}.`;
}

function opening({ action }: Question): string {
  const form = formIn(action);
  if (!form) return "May I do this?";
  // People should know that their answer leaves Lares.
  const who = form.from === undefined ? "A program I use" : `The MCP server ${form.from}`;
  const gets = form.fields.length > 0 ? " It gets your answer, so don't send passwords or keys." : "";
  return `${who} asks you something.${gets}`;
}

/** Of a question with fields: which they are. */
export function formIn({ form }: JsonObject): QuestionForm | undefined {
  return isObject(form) ? fromJson<QuestionForm>(form) : undefined;
}

function marksIn({ marks }: JsonObject): string[] {
  return Array.isArray(marks) ? (marks as Json[]).filter((mark) => typeof mark === "string") : [];
}

function hours(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes < 60) return minutes === 1 ? "a minute" : `${minutes} minutes`;
  const whole = Math.round(minutes / 60);
  return whole === 1 ? "an hour" : `${whole} hours`;
}

/** To an answer that comes after another one, or after the deadline. */
export function tooLate(a: { state: string; answeredBy?: string | null; reason?: string }): string {
  const { state, answeredBy } = a;
  if (state === "expired") return "This approval expired before it was answered, so the action was denied.";
  if (state === "withdrawn" && a.reason) return `This approval is no longer needed. ${a.reason}`;
  if (state === "withdrawn") return "This approval is no longer needed: what asked for it has ended.";
  return `This approval is ${state}${answeredBy ? ` (by ${answeredBy})` : ""} and can't be answered again.`;
}
