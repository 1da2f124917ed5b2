/** A module that reads other people's text and is missing from the pump table is noticed here. */
import { expect, test } from "vitest";
import { modulesReached, modulesThatRepeat } from "./coverage.ts";

/** Folders where text from outside or from a model is read. */
const FOREIGN = [
  "src/core/kit/",
  "src/core/render/",
  "src/edges/channels/",
  "src/edges/hooks/",
  "src/edges/imports/",
  "src/edges/tools/",
  "src/edges/watch/",
  "src/flow/approvals/",
  "src/flow/attachments/",
  "src/flow/commands/",
  "src/flow/gate/",
  "src/flow/inbox/",
  "src/ground/observe/",
  "src/mind/",
  "ui/src/lib/",
];

/** Why a module of those folders has no row. Its expressions are linear all the same: `test/expressions` tries each of them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...because("the owner's own settings", [
    "src/edges/channels/account.ts",
    "src/edges/channels/email/config.ts",
    "src/edges/channels/irc/config.ts",
    "src/edges/channels/nostr/config.ts",
    "src/edges/channels/teams/config.ts",
    "src/edges/channels/telegram/config.ts",
    "src/edges/channels/whatsapp/config.ts",
    "src/edges/channels/xmpp/config.ts",
    "src/edges/hooks/config.ts",
    "src/flow/inbox/config.ts",
    "src/mind/context/config.ts",
    "src/mind/budget/scopes.ts",
  ]),
  ...because("ids, codes and addresses that are short or checked for their length first", [
    "src/edges/channels/email/post.ts",
    "src/edges/channels/irc/connection.ts",
    "src/edges/channels/library.ts",
    "src/edges/channels/matrix/client.ts",
    "src/edges/channels/signal/signal.ts",
    "src/edges/channels/slack/messages.ts",
    "src/edges/channels/slack/slack.ts",
    "src/edges/channels/teams/teams.ts",
    "src/edges/channels/teams/token.ts",
    "src/edges/channels/telegram/messages.ts",
    "src/edges/channels/xmpp/library.ts",
    "src/edges/channels/xmpp/xmpp.ts",
    "src/edges/hooks/verify.ts",
    "src/edges/tools/browser/actions.ts",
    "src/edges/tools/browser/launch.ts",
    "src/edges/tools/browser/proxy.ts",
    "src/edges/tools/process/identity.ts",
    "src/edges/tools/process/supervisor.ts",
    "src/edges/tools/sandbox/container.ts",
    "src/edges/tools/sandbox/ssh.ts",
    "src/edges/tools/web/reach.ts",
    "src/edges/tools/web/web-search.ts",
    "src/flow/approvals/approvals.ts",
    "src/ground/observe/log.ts",
    "src/mind/memory/catalogue.ts",
    "src/mind/memory/rows.ts",
    "src/mind/schedule/alert.ts",
    "src/mind/schedule/schedules.ts",
  ]),
  ...because("commands the shell analysis has read; it takes none longer than 32,768 characters", [
    "src/edges/tools/exec/code-tree.ts",
    "src/edges/tools/exec/git.ts",
    "src/edges/tools/exec/prepare.ts",
    "src/edges/tools/exec/processes.ts",
    "src/edges/tools/exec/run.ts",
    "src/edges/tools/sandbox/danger.ts",
    "src/flow/gate/destinations.ts",
    "src/flow/gate/exec.ts",
    "src/flow/gate/floor.ts",
    "src/flow/gate/floor-dirs.ts",
    "src/flow/gate/git.ts",
    "src/flow/gate/programs.ts",
    "src/flow/gate/standing.ts",
  ]),
  ...because("one expression with nothing to take back, checked by itself", [
    "src/edges/hooks/fill.ts",
    "src/edges/tools/rare/rare.ts",
    "src/edges/tools/skills/skills.ts",
    "src/mind/context/context.ts",
    "src/mind/heartbeat/heartbeat.ts",
    "src/mind/memory/search/search.ts",
    "src/mind/memory/sessions/sessions.ts",
    "ui/src/lib/entries.ts",
    "ui/src/lib/format.ts",
    "ui/src/lib/router.svelte.ts",
    "ui/src/lib/words.ts",
  ]),
};

const READERS = ["answers", "channels", "mind", "outside"].map((name) => `test/attack/readers/${name}.ts`);

test("every module that reads other people's text has a row in the pump table, or a reason", () => {
  const reached = modulesReached(READERS);
  const missing = modulesThatRepeat().filter(
    (file) => FOREIGN.some((folder) => file.startsWith(folder)) && !reached.has(file),
  );
  expect(missing.filter((file) => !(file in ELSEWHERE))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((file) => !missing.includes(file))).toEqual([]);
});

function because(reason: string, files: readonly string[]): Record<string, string> {
  return Object.fromEntries(files.map((file) => [file, reason]));
}
