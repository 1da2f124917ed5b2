/**
 * Pieces of composed keys, which only core/domain may write or look for. Two looks at every file of the program and of the page:
 * the words of the known keys, wherever they stand in a string, and anything at all that is put together or taken apart at a colon.
 */
import { type Ast, lineOf, textsIn, visit } from "./syntax.ts";

const HOMES = /^src\/core\/domain\/(keys|origin-keys|secret-name|step-names|work-keys)\.ts$/;

/** What a piece looks like in a string, a template or a regular expression, and what to use instead. */
const PIECES: readonly [piece: RegExp, use: string][] = [
  [
    /(?<![\w-])agent:(?!\s)/,
    "sessionKeys.main/at/web/imported, isAgentSession, agentInSession, readAgentSession; scopeKeys",
  ],
  [/(?<![\w-])sub:(?!\s)/, "sessionKeys.child, isChildSession, isChildOf, readChildSession; SESSION_PREFIX in SQL"],
  [/(?<![\w-])cron:(?!\s)/, "sessionKeys.job/run, readRunSession, jobBehindSession; SESSION_PREFIX in SQL"],
  [/:web:/, "sessionKeys.web, readSessionPlace"],
  [/#(command|compact)\b/, "commandLane, compactLane, withoutCommandLane, withoutCompactLane"],
  [/^(msg|key|schedule|forgotten):(?!\s)/, "acceptIds; sourceKeys.job"],
  [/^(slot|spawn|send|fix):(?!\s)/, "idempotencyKeys, isSpawnKey"],
  [/^(goal|hook|watch|wake|process|child|stall):(?!\s)/, "sessionKeys, eventKeys, sourceKeys, timerIds"],
  [/^(heartbeat|memory-night|memory):(?!\s)/, "heartbeatName, HEARTBEAT_PREFIX, timerIds.night, sessionKeys.night"],
  [/^(abort|stop|replaced|interrupt|session|events):(?!\s)/, "resumeIds; sourceKeys.session"],
  [/^ap_/, "toApprovalId"],
  [/^(wait|approval):(?!\s)/, "waitNames, isOwnWait"],
  [/^\(?(model|tool|judge)(\||\)?:(?!\s))/, "stepNames, readStepName"],
  [/^imp:/, "messageIds.imported, importedTurn"],
  [/:(in|reply|results|given|said|outcome|after)(?![\w-])/, "messageIds, isReplyId, readReplyId; INPUT_SUFFIX in SQL"],
  [
    /:(answer|ask|asked|remind|held|note|draft|message|beat|alert)(?![\w-])/,
    "answerIds, isTurnAnswer, approvalAskedIn, isAboutApproval, isNote; ANSWER_SUFFIX in SQL",
  ],
];

/** Files with something that only looks like a piece of a known key, and what it is. */
export const LOOKALIKES: Readonly<Record<string, string>> = {
  "src/core/protocol/memory-methods.ts": "an example in the reference",
  "src/core/protocol/print.ts": "the text of the reference",
  "src/edges/channels/whatsapp-web/credentials.ts": "names of the account's own credentials",
  "src/edges/runtimes/openclaw/token.ts": "another program's way to name a conversation",
  "src/faces/cli/words/table/talk.ts": "examples on the help pages",
  "ui/src/lib/words.ts": "a sentence",
};

/** Files that put something together or take it apart at a colon which is no key of ours, and what it is. */
export const OTHER_COLONS: Readonly<Record<string, string>> = {
  "src/core/files/dir.ts": "a folder's identity, to compare",
  "src/core/files/mark.ts": "a file's mark, made and read there",
  "src/core/kit/address.ts": "IP addresses",
  "src/core/kit/crash.ts": "the crash point that a test names",
  "src/core/kit/stamp.ts": "times of day",
  "src/core/render/inline.ts": "links as people write them",
  "src/edges/channels/discord/events.ts": "the platform's ids",
  "src/edges/channels/discord/hear.ts": "the platform's ids",
  "src/edges/channels/email/catch-up.ts": "a range in IMAP",
  "src/edges/channels/email/events.ts": "the server's ids",
  "src/edges/channels/email/headers.ts": "a mail's header lines",
  "src/edges/channels/email/smtp.ts": "a mail's subject",
  "src/edges/channels/irc/connection.ts": "IRC's lines",
  "src/edges/channels/irc/line.ts": "IRC's lines",
  "src/edges/channels/mattermost/buttons.ts": "the platform's ids",
  "src/edges/channels/mattermost/emoji.ts": "an emoji's name",
  "src/edges/channels/mattermost/events.ts": "the platform's ids",
  "src/edges/channels/mattermost/send.ts": "the platform's ids",
  "src/edges/channels/signal/events.ts": "the platform's ids: author and time",
  "src/edges/channels/signal/send.ts": "the same, and styles as signal-cli takes them",
  "src/edges/channels/slack/events.ts": "the platform's ids",
  "src/edges/channels/slack/receive.ts": "what the platform signs",
  "src/edges/channels/teams/events.ts": "the platform's ids",
  "src/edges/channels/telegram/events.ts": "the platform's ids",
  "src/edges/channels/whatsapp-web/credentials.ts": "names in the account's own store",
  "src/edges/channels/xmpp/events.ts": "the platform's ids",
  "src/edges/embedder/remote.ts": "an embedder's identity, to compare",
  "src/edges/imports/people.ts": "other programs' ways to name a chat",
  "src/edges/models/models.ts": "an address with its port",
  "src/edges/models/practice/rules/files.ts": "the path of a skill, as a model writes it",
  "src/edges/models/relay/addressed.ts": "Google's addresses",
  "src/edges/models/wire/read/openai-responses.ts": "which summary of a provider's item it is, within one answer",
  "src/edges/plugins/format/own-part.ts": "a host and its port",
  "src/edges/plugins/install/source.ts": "a package of npm",
  "src/edges/plugins/run/hooks.ts": "the name of a hook source",
  "src/edges/runtimes/openclaw/token.ts": "another program's way to name a conversation and a message",
  "src/edges/runtimes/proxy/door.ts": "a host and its port",
  "src/edges/runtimes/proxy/read-request.ts": "Google's addresses",
  "src/edges/tools/browser/brief.ts": "headings",
  "src/edges/tools/browser/proxy.ts": "a password and an address as HTTP has them",
  "src/edges/tools/browser/whole.ts": "headings",
  "src/edges/tools/exec/environment.ts": "PATH",
  "src/edges/tools/exec/guard.ts": "a line of /proc/meminfo",
  "src/edges/tools/exec/named-files.ts": "a file's identity, to compare",
  "src/edges/tools/exec/prepare.ts": "a file's identity, to compare; git's list of folders",
  "src/edges/tools/exec/processes.ts": "a process's identity, to compare",
  "src/edges/tools/exec/shell/programs.ts": "PATH",
  "src/edges/tools/exec/shell/unwrap.ts": "a key sequence as readline has it",
  "src/edges/tools/files/apply-patch.ts": "the tag of one write, so that the same write again is the same",
  "src/edges/tools/files/plan.ts": "a file's identity, to compare",
  "src/edges/tools/mcp/adding/placeholders.ts": "placeholders of other programs: ${input:id}, ${env:NAME:-usual}",
  "src/edges/tools/mcp/connect/host-proxy.ts": "a host and its port",
  "src/edges/tools/mcp/connect/launch.ts": "PATH",
  "src/edges/tools/mcp/connect/link.ts": "lines of other programs' errors",
  "src/edges/tools/mcp/listed/prompts.ts": "a prompt as people type it",
  "src/edges/tools/process/identity.ts": "a process's identity, to compare",
  "src/edges/tools/sandbox/container.ts": "a user and a group as container engines take them",
  "src/edges/tools/sandbox/danger.ts": "options of container engines",
  "src/edges/tools/search/search.ts": "a place in a file, as people write it",
  "src/edges/tools/skills/files.ts": "folders' identities, to compare",
  "src/edges/tools/skills/skills.ts": "the path of a skill, as a model writes it",
  "src/edges/tools/web/reach.ts": "an address with its port",
  "src/edges/tools/web/web-search.ts": "an address with its port",
  "src/edges/watch/files.ts": "a file's identity, to compare",
  "src/edges/watch/imap.ts": "a range in IMAP",
  "src/faces/cli/commands/channels.ts": "headings",
  "src/faces/cli/format.ts": "times of day",
  "src/faces/gateway/a2a/rest.ts": "the protocol's paths",
  "src/faces/gateway/a2a/route.ts": "the protocol's paths",
  "src/faces/gateway/auth/address.ts": "IP addresses",
  "src/faces/gateway/mcp/skills.ts": "a digest as MCP writes it",
  "src/flow/access/access.ts": "what a token is derived from",
  "src/flow/checkpoints/undo.ts": "the tag of one write, so that the same write again is the same",
  "src/flow/commands/commands.ts": "a prompt as people type it",
  "src/flow/gate/destinations.ts": "addresses on command lines",
  "src/flow/gate/floor-dirs.ts": "CDPATH",
  "src/flow/gate/managers.ts": "a subcommand of nx",
  "src/flow/gate/own-doors.ts": "ports on command lines",
  "src/ground/observe/audit.ts": "ids of findings, which nobody takes apart",
  "src/mind/heartbeat/hours.ts": "times of day",
  "src/mind/schedule/times/repeats.ts": "times of day",
  "src/mind/schedule/when.ts": "times of day",
  "src/mind/schedule/zone.ts": "times of day",
  "ui/src/lib/chat.svelte.ts": "which part of a reply an entry on the page shows",
  "ui/src/lib/entries.ts": "which part of a reply an entry on the page shows",
  "ui/src/parts/ChannelsTab.svelte": "settings as a person types them",
};

/** A sentence for each piece of a known key in a file. `path` begins with src/ or ui/. */
export function keyPieces(path: string, source: string, tree: Ast): string[] {
  if (isHome(path)) return [];
  return textsIn(tree).flatMap(({ at, text }) => {
    // Of a regular expression, `(?:x)` has a colon of its own, and `^` is not part of what it looks for.
    const bare = text.replaceAll("(?:", "(").replace(/^\^/, "");
    return PIECES.flatMap(([piece, use]) => {
      const found = piece.exec(bare)?.[0];
      return found === undefined ? [] : [`${path}:${lineOf(source, at)} has "${found}"; core/domain has: ${use}`];
    });
  });
}

/** A sentence for each place where a file composes or reads something at a colon. */
export function composedAtColons(path: string, source: string, tree: Ast): string[] {
  const words = constantsIn(tree);
  const look = (node: Ast) => composes(node, words) || reads(node, words);
  return where(path, source, tree, look).map(
    ({ line, text }) => `${path}:${line} composes or reads at a colon: ${text}; a key belongs to core/domain`,
  );
}

/** Files that name a key or an id of something else, and what it is. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  "src/faces/cli/doctor/reach.ts": "a model's name with its provider's",
  "src/faces/gateway/live/outgoing.ts": "which events are merged, within one connection",
  "ui/src/lib/chat.svelte.ts": "a tool's call, among those the page shows",
  "ui/src/lib/timeline.ts": "a row of the page",
  "ui/src/parts/schedule/job.ts": "where an answer goes, as a person types it",
};

/**
 * A sentence for each place where an account's name is put together or taken apart, and for each key or id that is nothing but values
 * with a separator between them, whatever the separator. Platforms and providers have ids of their own, so edges are not looked at for
 * the latter.
 */
export function composedNames(path: string, source: string, tree: Ast): string[] {
  const words = constantsIn(tree);
  const accounts = where(path, source, tree, (node) => namesAccount(node, words));
  const keys = path.startsWith("src/edges/") ? [] : where(path, source, tree, isSeparatedKey);
  return [
    ...accounts.map(({ line, text }) => `${path}:${line} ${text}; core/domain has toAccountName and readAccountName`),
    ...keys.map(({ line, text }) => `${path}:${line} composes a key: ${text}; a key belongs to core/domain`),
  ];
}

function where(path: string, source: string, tree: Ast, look: (node: Ast) => boolean) {
  const found: { line: number; text: string }[] = [];
  if (isHome(path)) return found;
  visit(tree, (node) => {
    if (!look(node)) return;
    const text = source.slice(node.start, node.end).split("\n")[0]!.slice(0, 80);
    found.push({ line: lineOf(source, node.start), text });
  });
  return found;
}

/** Strings under a name: a separator in a constant is the same separator. */
function constantsIn(tree: Ast): Constants {
  const found = new Map<string, string>();
  visit(tree, (node) => {
    const { id, init } = node as Ast & { id?: { name?: string }; init?: Ast | null };
    if (node.type !== "VariableDeclarator" || id?.name === undefined || init?.type !== "Literal") return;
    if (typeof init.value === "string") found.set(id.name, init.value);
  });
  return found;
}

function namesAccount(node: Ast, words: Constants): boolean {
  const isAccount = (parts: readonly Ast[]) =>
    parts.some((part, i) => /channel$/i.test(lastName(part)) && /account$/i.test(lastName(parts[i + 1])));
  if (node.type === "TemplateLiteral") {
    const { quasis, expressions } = node as Ast & { quasis: Ast[]; expressions: Ast[] };
    const texts = quasis.map((quasi) => (quasi.value as { raw: string }).raw);
    const plain = expressions.filter((one) => word(one, words) === undefined);
    return isAccount(plain) && (texts.includes("/") || expressions.some((one) => word(one, words) === "/"));
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    const parts = summands(node);
    return (
      parts.some((part) => word(part, words) === "/") && isAccount(parts.filter((p) => word(p, words) === undefined))
    );
  }
  const { callee } = node as Ast & { callee?: Ast & { object?: Ast } };
  if (called(node) === "concat")
    return isAccount([callee!.object!, ...(node.arguments as Ast[])].filter((p) => word(p, words) === undefined));
  if (called(node) === "join")
    return argument(node, words) === "/" && isAccount((callee?.object?.elements as Ast[] | undefined) ?? []);
  const { id, init } = node as Ast & { id?: Ast & { elements?: Ast[] }; init?: Ast | null };
  return (
    node.type === "VariableDeclarator" &&
    id?.type === "ArrayPattern" &&
    init != null &&
    called(init) === "split" &&
    argument(init, words) === "/" &&
    isAccount(id.elements!.map((one) => (one?.type === "AssignmentPattern" ? (one.left as Ast) : one)))
  );
}

function summands(node: Ast): Ast[] {
  if (node.type !== "BinaryExpression" || node.operator !== "+") return [node];
  return [...summands(node.left as Ast), ...summands(node.right as Ast)];
}

function lastName(node: Ast | null | undefined): string {
  if (node?.type === "MemberExpression") return lastName(node.property as Ast);
  return node?.type === "Identifier" ? String(node.name) : "";
}

/** `const key = `${a} ${b}``, also where it stands behind `??`. */
function isSeparatedKey(node: Ast): boolean {
  const { id, key, init, value } = node as Ast & Partial<Record<"id" | "key" | "init" | "value", Ast | null>>;
  const named = node.type === "VariableDeclarator" ? [id, init] : [key, value];
  if (node.type !== "VariableDeclarator" && node.type !== "Property") return false;
  const [name, made] = named;
  return /(^i|I|^k|K)(d|ey)$/.test(lastName(name)) && made != null && sides(made).some(isOnlyValues);
}

function sides(node: Ast): Ast[] {
  if (node.type === "LogicalExpression") return [...sides(node.left as Ast), ...sides(node.right as Ast)];
  if (node.type !== "ConditionalExpression") return [node];
  return [...sides(node.consequent as Ast), ...sides(node.alternate as Ast)];
}

function isOnlyValues(node: Ast): boolean {
  const { quasis = [], expressions = [] } = node as Ast & { quasis?: Ast[]; expressions?: Ast[] };
  if (node.type !== "TemplateLiteral" || expressions.length < 2) return false;
  return quasis.every((quasi) => /^[\s/.|#@-]*$/.test((quasi.value as { raw: string }).raw));
}

function isHome(path: string): boolean {
  return HOMES.test(path) || /(^|\/)testing\.ts$/.test(path);
}

/** No spaces: a sentence with a colon in it is no key. Neither is an address, nor a time of day. */
const PIECE = /^(?!.*(:\/\/|\d\d:\d\d))[^\s"'<>{}()=;,]*:[^\s"'<>{}()=;,]*$/;
const SCHEME = /^(https?|wss?|mailto|data|javascript|vbscript|mxc|nostr|chrome-error):?$/;

type Constants = ReadonlyMap<string, string>;

function composes(node: Ast, words: Constants): boolean {
  if (node.type === "TemplateLiteral") {
    const quasis = (node.quasis as Ast[]).map((quasi) => (quasi.value as { raw: string }).raw);
    const put = (node.expressions as Ast[]).flatMap((one) => word(one, words) ?? []);
    if (put.length < (node.expressions as Ast[]).length && put.some((text) => PIECE.test(text) && !SCHEME.test(text)))
      return !quasis.some((text) => /\s|\\n|:\/\//.test(text));
    if (quasis.some((text) => /'[\w-]*:[\w-]*' *\|\||\|\| *'[\w-]*:/.test(text))) return true;
    if (quasis.length < 2 || quasis.some((text) => /\s|\\n|:\/\//.test(text))) return false;
    return quasis.some((text) => PIECE.test(text) && !SCHEME.test(text));
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    return [node.left, node.right].some((side) => isPiece(word(side, words)));
  }
  if (called(node) === "concat") return (node.arguments as Ast[]).some((one) => isPiece(word(one, words)));
  return called(node) === "join" && isPiece(argument(node, words));
}

function isPiece(text: string | undefined): boolean {
  return text !== undefined && PIECE.test(text) && !SCHEME.test(text);
}

function reads(node: Ast, words: Constants): boolean {
  const given = argument(node, words);
  switch (called(node)) {
    case "split":
    case "indexOf":
    case "lastIndexOf":
    case "replace":
    case "replaceAll":
      return isPiece(given);
    case "startsWith":
    case "endsWith":
    case "includes":
      return given !== ":" && isPiece(given);
    default:
      return readsByExpression(node);
  }
}

function readsByExpression(node: Ast): boolean {
  const { regex } = node as Ast & { regex?: { pattern: string } };
  if (node.type !== "Literal" || regex === undefined) return false;
  const [, words = ""] = /^\^?\(?(?:\?:)?([a-z-]+(?:\|[a-z-]+)*)\)?:(?! |\\s)/.exec(regex.pattern) ?? [];
  if (words.split("|").some((one) => one !== "" && !SCHEME.test(one))) return true;
  // What stands before or behind the first colon, whatever it is.
  return /^:[a-z]+:|:[a-z]+\$$|^\^?\(?\[\^:\][*+]\)?:/.test(regex.pattern);
}

function called(node: Ast): string | undefined {
  const { callee } = node as Ast & { callee?: Ast & { property?: { name?: string } } };
  return node.type === "CallExpression" ? callee?.property?.name : undefined;
}

function argument(node: Ast, words: Constants): string | undefined {
  return word((node.arguments as Ast[] | undefined)?.[0], words);
}

/** A string, or the name of one. */
function word(value: unknown, words: Constants): string | undefined {
  const node = value as Ast | undefined;
  if (node?.type === "Identifier") return words.get(String(node.name));
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
