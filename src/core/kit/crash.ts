/**
 * Named fault points between "recorded" and "done". `LARES_CRASH_AT=<point>[:n]` ends the process hard, as `kill -9`
 * would, the n-th time that point is passed. `LARES_BLOCK_AT` blocks the event loop there forever instead, as an endless loop
 * would. Behind a `~` stands a text that what is being done must contain. The table is what `lares debug crash-points` prints.
 */
export const CRASH_POINTS = {
  "accept.committed": "a message is durable, its sender not yet notified",
  "segment.started": "a segment begins, nothing of it is recorded",
  "model.before": "a model request is built and not yet sent",
  "model.after": "the model has answered, the answer is not recorded",
  "step.recorded": "a step's result is queued for the journal, not yet durable",
  "effect.ready": "an effect has what it needs, its intent is not recorded",
  "effect.intended": "an effect's intent is durable, the act not begun",
  "tool.running": "a tool is about to run, its result not recorded",
  "effect.acted": "an effect is done, its result not recorded",
  "command.prepared": "a command is about to start, its supervisor not started",
  "command.started": "a command's supervisor is started, its end not seen",
  "server.adding": "an MCP server's keys are in the vault, its definition is not in lares.yaml",
  "server.noted": "an MCP server's program is noted, not started",
  "task.made": "an MCP server has turned a call into a task, that is not recorded",
  "task.noted": "an MCP server's task is recorded, its turn does not wait for it yet",
  "task.ended": "the end of an MCP server's task is recorded, its turn not yet woken",
  "plugin.staged": "a plugin's files are in quarantine, nobody has seen them",
  "plugin.stored": "an accepted plugin's files are in their place, the lock file doesn't name them",
  "plugin.locked": "the lock file names a new or updated plugin, what it replaces is still there",
  "plugin.unlocked": "the lock file no longer names a plugin, its files are still there",
  "peer.noted": "a message for another agent is noted, not sent",
  "peer.sent": "another agent has answered to a message, that is not recorded",
  "peer.heard": "the end of another agent's task is known, its session not notified",
  "run.opening": "a run of another runtime is about to be opened, its attempt is recorded",
  "run.opened": "another runtime has begun a run, nothing of it is recorded",
  "run.recorded": "an event of a run is recorded and not yet shown",
  "worktree.noted": "a worktree is noted and not yet made",
  "worktree.made": "a worktree is made, and not recorded as such",
  "worktree.committed": "what was left in a worktree is committed, and that isn't recorded",
  "worktree.removed": "a worktree is removed, and that isn't recorded",
  "run.said": "words of a person are with a run that goes on, that isn't recorded",
  "tool.staged": "a runtime's program is installed and checked, nothing points to it",
  "tool.placed": "a runtime's program is in its place, what it replaces is still there",
  "probe.noted": "a trial of a runtime is noted, nothing of it is started",
  "probe.seen": "a runtime was seen at work, what it can do is not recorded",
  "team.staged": "a new team's agents and its agreement are in their place, the team itself isn't",
  "team.posted": "a post in a team's room is durable, nobody is asked about it",
  "team.asking": "a member of a team is about to be asked about a post, nothing of that is recorded",
  "team.answered": "a member's turn in a team's room has ended, its answer is no post yet",
  "park.before": "a turn is about to park",
  "park.committed": "a turn is parked durably, nobody notified",
  "resume.before": "an event for a parked turn has arrived, nothing recorded",
  "outcome.before": "a call that waited has its outcome, which is not in the history",
  "outcome.recorded":
    "the outcome of a call that waited is in the history, in its place or behind, and the turn goes on",
  "resume.committed": "an event is durable, the turn not yet woken",
  "end.before": "a turn is about to end, its answer not recorded",
  "end.committed": "a turn's end and its deliveries are durable, nobody notified",
  "outbox.rendering": "a text is about to be put into a platform's form, nothing of it is recorded",
  "outbox.before": "a delivery is about to be claimed",
  "outbox.claimed": "a delivery's claim is durable, the platform not called",
  "send.after": "the platform took the message, that is not recorded",
  "outbox.recorded": "a delivery's outcome is durable",
  "live.placed": "an answer's first words are on the platform, where they are is not recorded",
  "outbox.closed": "a delivery is given up durably, nobody notified",
  "watch.looking": "something watched is about to be looked at, nothing is recorded",
  "watch.looked": "something new was seen where it is watched, nothing of it is recorded",
  "event.stored": "a system event is durable, its session not yet notified",
  "channel.reading": "what a platform sent is about to be read, nothing of it is known",
  "channel.heard": "a platform's event has arrived, nothing of it is recorded",
  "channel.taken": "a platform's event is durable, the platform not notified",
  "slot.planned": "what a due slot means and the next slot are durable, nothing is started",
  "slot.admitted": "a slot's turn is accepted, the slot does not know it",
  "slot.started": "a slot's turn is noted, nobody notified",
  "slot.ending": "a slot's turn has ended, the slot has not",
  "slot.ended": "a slot's end, its next slot and its alert are durable, nobody notified",
  "board.claimed": "a task's claim and its turn are durable, nobody notified",
  "board.handing": "a task's turn has ended, what it handed in is not recorded",
  "board.judging": "a task's check has passed, that is not recorded",
  "board.moved": "a task's move is durable, nothing that follows from it is done",
  "undo.planned": "what an undo will restore is durable, no file is restored",
  "undo.file": "an undo restored a file, the next not yet",
  "compact.planned": "what of a session goes is decided, no model asked",
  "compact.summarised": "a summary is here, not recorded",
  "compact.applied": "a carry-over is queued to take effect, not yet durable",
  "import.reading": "a folder is about to be read for an import, nothing of it is taken",
  "import.row": "a row of an imported session is queued",
  "observer.delivered": "an observer took an event, its place is not recorded",
  "observer.stored": "an observer's place is durable, the next event not begun",
  "hook.filling": "a webhook's body is about to be read, nothing of it is recorded",
  "memory.reading": "a document or messages are about to be read for memory, nothing of them is recorded",
  "strikes.stored": "how the last life ended is counted, what was running then is still noted",
  "memory.embedded": "a batch of vectors is durable, the next not begun",
  "memory.switched": "a new embedder has every vector, the old one's are not deleted yet",
  "memory.forgetting": "models no longer read what mentions a forgotten topic, its facts are still there",
  "memory.queued": "what a memory back end should have or forget is durable, it hasn't heard of it",
  "memory.told": "a memory back end took what it was sent, that is not recorded",
  "capture.asked": "a model has named facts of a conversation, none is kept",
  "capture.kept": "facts of a conversation are kept, how far it was read is not",
  "view.planned": "what a memory file will say is durable, the file is not written",
  "view.written": "a memory file is written, that is not recorded",
  "condense.asked": "the nightly pass has its answer, nothing is changed",
  "backup.packed": "a backup's new pieces are durable, nothing says that they are a backup",
  "backup.stored": "a backup is complete, those that no rule keeps are still there",
  "restore.staged": "a restored home is ready beside what is in the home, nothing is moved",
  "restore.aside": "what was in the home is put aside, the restored files are not in its place",
  "condense.applied": "the nightly pass changed the facts, the file is not written",
} as const;
export type CrashPoint = keyof typeof CRASH_POINTS;

export interface Crash {
  /** Ends or blocks the process here when this point was asked for. `about`: what is being done, in words. */
  at(point: CrashPoint, about?: () => string): void;
}

export const noCrash: Crash = { at() {} };

export interface Faults {
  crashAt?: string | undefined;
  blockAt?: string | undefined;
}

/** Reads `<point>[:n][~text]`. `die` is SIGKILL to ourselves: no exit handlers, no flush. */
export function faultsAt(
  { crashAt, blockAt }: Faults,
  die: () => void = () => process.kill(process.pid, "SIGKILL"),
): Crash {
  const faults = [fault("LARES_CRASH_AT", crashAt, die), fault("LARES_BLOCK_AT", blockAt, () => {})].filter(
    (one) => one !== undefined,
  );
  if (!faults.length) return noCrash;
  return {
    at(point, about) {
      for (const meet of faults) meet(point, about);
    },
  };
}

function fault(variable: string, spec: string | undefined, strike: () => void): Crash["at"] | undefined {
  if (!spec) return undefined;
  const [head, text] = spec.split("~", 2) as [string, string | undefined];
  const [point, count] = head.split(":", 2) as [string, string | undefined];
  if (!(point in CRASH_POINTS)) {
    throw new Error(`${variable} names no crash point: "${point}". See: lares debug crash-points`);
  }
  let left = Math.max(1, Number(count ?? 1) || 1);
  return (here, about) => {
    if (here !== point || (text !== undefined && !about?.().includes(text)) || --left > 0) return;
    strike();
    // SIGKILL arrives asynchronously; nothing more may happen meanwhile.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  };
}
