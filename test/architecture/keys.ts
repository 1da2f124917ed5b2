/** Pieces of composed keys, which only core/domain/keys.ts may write or look for. */
import { lineOf, textsIn } from "./syntax.ts";

const HOME = "core/domain/keys.ts";

/** What a piece looks like in a string, a template or a regular expression, and what to use instead. */
const PIECES: readonly [piece: RegExp, use: string][] = [
  [
    /(?<![\w-])agent:(?!\s)/,
    "sessionKeys.main/at/imported, isAgentSession, agentInSession, readAgentSession; scopeKeys",
  ],
  [/(?<![\w-])sub:(?!\s)/, "sessionKeys.child, isChildSession, isChildOf, readChildSession; SESSION_PREFIX in SQL"],
  [/(?<![\w-])cron:(?!\s)/, "sessionKeys.job/run, readRunSession, jobBehindSession; SESSION_PREFIX in SQL"],
  [/#(command|compact)\b/, "commandLane, compactLane, withoutCommandLane, withoutCompactLane"],
  [/^(msg|key|schedule|forgotten):(?!\s)/, "acceptIds; sourceKeys.job"],
  [/^(slot|spawn|send|fix):(?!\s)/, "idempotencyKeys, isSpawnKey"],
  [/^(goal|hook|watch|wake|process|child|stall):(?!\s)/, "sessionKeys, eventKeys, sourceKeys, timerIds"],
  [/^(heartbeat|memory-night|memory):(?!\s)/, "heartbeatName, HEARTBEAT_PREFIX, timerIds.night, sessionKeys.night"],
  [/^imp:/, "messageIds.imported, importedTurn"],
  [/:(in|reply|results|given|said|outcome|after)(?![\w-])/, "messageIds, isReplyId, readReplyId; INPUT_SUFFIX in SQL"],
  [
    /:(answer|ask|asked|remind|held|note|draft|message|beat|alert)(?![\w-])/,
    "answerIds, isTurnAnswer, approvalAskedIn, isAboutApproval, isNote; ANSWER_SUFFIX in SQL",
  ],
];

/** Files with something that only looks like a piece of a key, and what it is. */
export const LOOKALIKES: Readonly<Record<string, string>> = {
  "flow/attention/attention.ts": "ids of the attention list, which are made and read there",
  "core/protocol/memory-methods.ts": "an example in the reference",
  "core/protocol/print.ts": "the text of the reference",
  "edges/channels/whatsapp-web/credentials.ts": "names of the account's own credentials",
  "faces/cli/words/table/talk.ts": "examples on the help pages",
};

/** A sentence for each piece of a key in a file. `path` is relative to src/. */
export function keyPieces(path: string, source: string): string[] {
  if (path === HOME || /(^|\/)testing\.ts$/.test(path)) return [];
  return textsIn(source).flatMap(({ at, text }) => {
    // Of a regular expression, `(?:x)` has a colon of its own, and `^` is not part of what it looks for.
    const bare = text.replaceAll("(?:", "(").replace(/^\^/, "");
    return PIECES.flatMap(([piece, use]) => {
      const found = piece.exec(bare)?.[0];
      return found === undefined ? [] : [`src/${path}:${lineOf(source, at)} has "${found}"; core/domain has: ${use}`];
    });
  });
}
