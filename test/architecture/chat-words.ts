/**
 * What Lares says in a chat, in its own name, stands in one catalogue: the `words.ts` of the room that says it. There it can be read
 * through at once. Errors have a catalogue of their own (STYLE "Errors"), and what goes into a log or a setting's description isn't
 * said in a chat.
 */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/** Rooms whose replies and notices people read in their chats, or models in their results. */
const ROOMS = [
  "edges/tools/exec",
  "edges/tools/memory",
  "edges/tools/process",
  "edges/tools/schedule",
  "edges/tools/sessions",
  "flow/approvals",
  "flow/checkpoints",
  "flow/channels",
  "flow/commands",
  "flow/outbox",
  "flow/gate",
  "flow/turns",
  "mind/budget",
  "mind/goals",
  "mind/heartbeat",
  "mind/schedule",
];
const CATALOGUE = "words.ts";
/** Besides it, a room's SQL, which also has capital letters, a prompt that only a model reads, and the reasons of the shell's parser. */
const SILENT = /\/(?:words|store)\.ts$|^mind\/goals\/verdict\.ts$|^edges\/tools\/exec\/shell\//;

export function sentencesOutsideCatalogue(path: string, source: string): string[] {
  if (!ROOMS.some((room) => path.startsWith(`${room}/`)) || SILENT.test(path)) return [];
  const found: string[] = [];
  const elsewhere = new Set<Ast>();
  visit(parse(source), (node) => {
    if (isElsewhere(node)) visit(node, (inner) => void elsewhere.add(inner));
    const text = elsewhere.has(node) ? undefined : textIn(node);
    if (text !== undefined && isSentence(text))
      found.push(
        `src/${path}:${lineOf(source, node.start)} says "${text.slice(0, 40)}…": put it into the room's ${CATALOGUE}`,
      );
  });
  return found;
}

function isElsewhere(node: Ast): boolean {
  const { callee } = node as Ast & { callee?: Ast & { name?: string; property?: Ast } };
  if (node.type === "ThrowStatement" || isToolText(node)) return true;
  if (node.type === "NewExpression") return /Error$/.test(String(callee?.name));
  if (node.type !== "CallExpression") return false;
  return /^(describe|debug|info|warn|error)$/.test(String((callee?.property as { name?: string } | undefined)?.name));
}

/** What a tool's description says to the model. */
function isToolText(node: Ast): boolean {
  const { key } = node as Ast & { key?: { name?: string } };
  return node.type === "Property" && key?.name === "description";
}

function textIn(node: Ast): string | undefined {
  if (node.type === "Literal") {
    const { value } = node as Ast & { value?: unknown };
    return typeof value === "string" ? value : undefined;
  }
  if (node.type !== "TemplateLiteral") return undefined;
  const { quasis } = node as Ast & { quasis: { value: { cooked: string } }[] };
  return quasis.map(({ value }) => value.cooked).join("…");
}

/** Two words or more with a capital letter in front and an end. */
function isSentence(text: string): boolean {
  return /^["“]?[A-Z]/.test(text) && /\s/.test(text) && /[.?!…]["”]?$/.test(text.trim());
}
