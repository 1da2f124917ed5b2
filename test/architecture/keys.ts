/**
 * Pieces of composed keys, which only core/domain may write or look for. Two looks at every file of the program and of the page:
 * the words of the known keys, wherever they stand in a string, and anything at all that is put together or taken apart at a colon.
 */
import { type Ast, lineOf, type Text, textsIn, visit } from "./syntax.ts";

const HOMES = /^src\/core\/domain\/(keys|origin-keys|secret-name|step-names|work-keys)\.ts$/;

/** What a piece looks like in a string, a template or a regular expression, and what to use instead. */
const PIECES: readonly [piece: RegExp, use: string][] = [
  [
    /(?<![\w-])agent:(?!\s)/,
    "sessionKeys.main/at/web/imported, isAgentSession, agentInSession, readAgentSession; scopeKeys",
  ],
  [/(?<![\w-])sub:(?!\s)/, "sessionKeys.child, isChildSession, isChildOf, readChildSession; SESSION_PREFIX in SQL"],
  [/(?<![\w-])cron:(?!\s)/, "sessionKeys.job/run, readRunSession, jobBehindSession; SESSION_PREFIX in SQL"],
  [/:web:/, "sessionKeys.web, placeOfSession"],
  [/#(command|compact)\b/, "commandLane, compactLane, withoutCommandLane, withoutCompactLane"],
  [/^(msg|key|schedule|forgotten):(?!\s)/, "acceptIds; sourceKeys.job"],
  [/^(slot|spawn|send|fix):(?!\s)/, "idempotencyKeys, isSpawnKey"],
  [/^(goal|hook|watch|wake|process|child|stall):(?!\s)/, "sessionKeys, eventKeys, sourceKeys, timerIds"],
  [/^(heartbeat|memory-night|memory):(?!\s)/, "heartbeatName, HEARTBEAT_PREFIX, timerIds.night, sessionKeys.night"],
  [/^(abort|stop|replaced|interrupt|session|events):(?!\s)/, "resumeIds; sourceKeys.session"],
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
  "src/edges/channels/mattermost/events.ts": "the platform's ids",
  "src/edges/channels/mattermost/send.ts": "the platform's ids",
  "src/edges/channels/signal/events.ts": "the platform's ids: author and time",
  "src/edges/channels/signal/send.ts": "the same, and styles as signal-cli takes them",
  "src/edges/channels/slack/events.ts": "the platform's ids",
  "src/edges/channels/slack/receive.ts": "what the platform signs",
  "src/edges/channels/spool.ts": "names in the account's own store",
  "src/edges/channels/teams/events.ts": "the platform's ids",
  "src/edges/channels/telegram/events.ts": "the platform's ids",
  "src/edges/channels/whatsapp-web/credentials.ts": "names in the account's own store",
  "src/edges/channels/xmpp/events.ts": "the platform's ids",
  "src/edges/embedder/remote.ts": "an embedder's identity, to compare",
  "src/edges/imports/people.ts": "other programs' ways to name a chat",
  "src/edges/models/models.ts": "an address with its port",
  "src/edges/models/practice/rules/files.ts": "the path of a skill, as a model writes it",
  "src/edges/models/wire/read/openai-responses.ts": "which summary of a provider's item it is, within one answer",
  "src/edges/tools/browser/brief.ts": "headings",
  "src/edges/tools/browser/proxy.ts": "a password and an address as HTTP has them",
  "src/edges/tools/browser/whole.ts": "headings",
  "src/edges/tools/exec/environment.ts": "PATH",
  "src/edges/tools/exec/guard.ts": "a line of /proc/meminfo",
  "src/edges/tools/exec/named-files.ts": "a file's identity, to compare",
  "src/edges/tools/exec/prepare.ts": "a file's identity, to compare; git's list of folders",
  "src/edges/tools/exec/processes.ts": "a process's identity, to compare",
  "src/edges/tools/exec/shell/programs.ts": "PATH",
  "src/edges/tools/files/apply-patch.ts": "the tag of one write, so that the same write again is the same",
  "src/edges/tools/files/plan.ts": "a file's identity, to compare",
  "src/edges/tools/mcp/launch.ts": "PATH",
  "src/edges/tools/mcp/peer.ts": "lines of other programs' errors",
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
  "src/faces/gateway/auth/address.ts": "IP addresses",
  "src/flow/access/access.ts": "what a token is derived from",
  "src/flow/checkpoints/undo.ts": "the tag of one write, so that the same write again is the same",
  "src/flow/gate/destinations.ts": "addresses on command lines",
  "src/flow/gate/floor-dirs.ts": "CDPATH",
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
  if (isHome(path)) return [];
  const found: Text[] = [];
  visit(tree, (node) => {
    if (composes(node) || reads(node)) found.push({ at: node.start, text: source.slice(node.start, node.end) });
  });
  return found.map(
    ({ at, text }) =>
      `${path}:${lineOf(source, at)} composes or reads at a colon: ${text.split("\n")[0]!.slice(0, 80)}; a key belongs to core/domain`,
  );
}

function isHome(path: string): boolean {
  return HOMES.test(path) || /(^|\/)testing\.ts$/.test(path);
}

/** No spaces: a sentence with a colon in it is no key. Neither is an address, nor a time of day. */
const PIECE = /^(?!.*(:\/\/|\d\d:\d\d))[^\s"'<>{}()=;,]*:[^\s"'<>{}()=;,]*$/;
const SCHEME = /^(https?|wss?|mailto|data|javascript|vbscript|mxc|nostr|chrome-error):?$/;

function composes(node: Ast): boolean {
  if (node.type === "TemplateLiteral") {
    const quasis = (node.quasis as Ast[]).map((quasi) => (quasi.value as { raw: string }).raw);
    if (quasis.some((text) => /'[\w-]*:[\w-]*' *\|\||\|\| *'[\w-]*:/.test(text))) return true;
    if (quasis.length < 2 || quasis.some((text) => /\s|\\n|:\/\//.test(text))) return false;
    return quasis.some((text) => PIECE.test(text) && !SCHEME.test(text));
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    return [node.left, node.right].some((side) => PIECE.test(word(side) ?? "") && !SCHEME.test(word(side) ?? ""));
  }
  return called(node) === "join" && argument(node) === ":";
}

function reads(node: Ast): boolean {
  const given = argument(node) ?? "";
  switch (called(node)) {
    case "split":
    case "indexOf":
    case "lastIndexOf":
      return PIECE.test(given) && !SCHEME.test(given);
    case "startsWith":
    case "endsWith":
    case "includes":
      return given !== ":" && PIECE.test(given) && !SCHEME.test(given);
    default:
      return readsByExpression(node);
  }
}

function readsByExpression(node: Ast): boolean {
  const { regex } = node as Ast & { regex?: { pattern: string } };
  if (node.type !== "Literal" || regex === undefined) return false;
  const [, words = ""] = /^\^?\(?(?:\?:)?([a-z-]+(?:\|[a-z-]+)*)\)?:(?! |\\s)/.exec(regex.pattern) ?? [];
  return words.split("|").some((one) => one !== "" && !SCHEME.test(one)) || /^:[a-z]+:|:[a-z]+\$$/.test(regex.pattern);
}

function called(node: Ast): string | undefined {
  const { callee } = node as Ast & { callee?: Ast & { property?: { name?: string } } };
  return node.type === "CallExpression" ? callee?.property?.name : undefined;
}

function argument(node: Ast): string | undefined {
  return word((node.arguments as Ast[] | undefined)?.[0]);
}

function word(value: unknown): string | undefined {
  const node = value as Ast | undefined;
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
