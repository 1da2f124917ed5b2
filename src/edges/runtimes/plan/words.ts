/** What people read about a run that can't do everything. */
import { roughly } from "../../../core/kit/index.ts";

const SENTENCES = {
  "cannot-ask":
    "This runtime doesn't ask before it acts, and this machine has no sandbox to run it in. Install bubblewrap, or choose another runtime.",
  "asking-unproven":
    "This runtime says that it asks before it acts, but Lares hasn't seen it do so here, and there is no sandbox to run it in. Install bubblewrap, or choose another runtime.",
  "daemon-outside":
    "This runtime decides by its own settings what it asks about, so it gets no words from outside: only your own.",
  "judged-partly":
    "It decides by its own settings what it asks about. What it asks is judged by your rules; the rest happens unasked.",
  "judged-elsewhere": "What it does happens elsewhere: Lares can't check or stop its actions.",
  "not-asked": "It doesn't ask before it acts. It may do anything inside its sandbox, and nothing outside.",
  "asking-claimed":
    "It asks before it acts, as far as its maker says. Until Lares has seen that here, it runs in a sandbox as well.",
  unconfined: "It runs without a sandbox on words from outside: only the approvals stand between them and your files.",
  "asks-held": "While it waits for an approval its process stays in memory, and a restart of Lares ends it.",
  "denial-ends": "When you deny an action, it stops instead of trying something else.",
  "spend-late": "Spending is noticed after each model call, not before: a budget can be exceeded by one call.",
  "spend-after": "Spending is known only after the run: a budget can be exceeded by a whole run.",
  "spend-unknown": "It doesn't report what it costs, so no budget can stop it.",
  "own-key": "It calls its model with its own key, not through Lares.",
  forgets: "It keeps nothing: each run starts without what it learned before.",
  "no-worktree": "It can't be given a worktree: it works where it is, and doesn't see the repository's files.",
  "own-scheduler": "It can wake itself. Don't schedule the same work here and there.",
  "no-stream": "Its answer appears in blocks, not word by word.",
  "no-steer": "It can't be steered: what you say while it works waits until it is done.",
  "steer-late": "What you say while it works is read after its current turn.",
  "no-interrupt": "It can only be stopped hard: what it is doing at that moment may stay half done.",
  "no-resume": "Its conversation doesn't survive a restart: it starts over with a summary.",
  "no-tools": "It can't use Lares' tools, such as memory, messages and schedules.",
  "hidden-children": "It can start agents that Lares doesn't see.",
} as const;

/** `asks-expire` says after how long. */
export type Shortfall = { code: keyof typeof SENTENCES } | { code: "asks-expire"; ms: number };

export function sayShortfall(shortfall: Shortfall): string {
  if (shortfall.code !== "asks-expire") return SENTENCES[shortfall.code];
  return `It waits at most ${sayWait(shortfall.ms)} for an approval; after that the action is denied.`;
}

function sayWait(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1000)} s` : roughly(ms);
}
