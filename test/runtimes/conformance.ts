/**
 * One script for every runtime: what its adapter claims is tried with the real program over the scripted model. A check that passes is the
 * proof of the claims it names.
 */
import { strict as assert } from "node:assert";
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { RunEvent, RunEventBody, RunRequest, RunSession, RuntimeSkill } from "../../src/core/contracts/index.ts";
import { Follower, makeRequest, type RuntimePrompts, type RuntimeStage } from "../contracts/runtime/rig.ts";
import { faultsIn } from "../contracts/runtime/stream.ts";
import { until } from "../support/index.ts";
import type { KilledRun } from "./kill-child.ts";

/** Besides those of the contract. A prompt that a runtime has no use for is left out, and so is its check. */
export interface RealPrompts extends RuntimePrompts {
  /** Calls the tool of `act` twice, one after the other. */
  twice(first: string, second: string, words: string): string;
  /** Asks the person something, and says what came back. */
  question?(): string;
  /** Calls the tool `note` of the server that is lent to it with this text. */
  lent?(text: string): string;
  /** Its model is at its rate limit at first, then answers. */
  limited?(words: string): string;
  /** A tool starts a program that leaves its group and its session. */
  detaches?(): string;
  /** Calls the tools that it would call without asking, if it could. */
  reads?(): string;
  /** A tool that takes a minute and then leaves this mark. */
  slow?(mark: string): string;
  /** Names a file, whose content nobody allowed it to read. */
  mentions?(): string;
}

export interface RealStage extends RuntimeStage {
  prompts: RealPrompts;
  /** What the lent tool was really called with. */
  notes(): readonly string[];
  /** The content of the file that `mentions` names. */
  secret?: string;
  /** Ends what a Lares that was killed left of a run, as the next one does before it opens another attempt. */
  endLeft(run: string): Promise<unknown>;
  /** For a Lares in a process of its own: where the program is, and the variable that marks its processes. */
  killed: Pick<KilledRun, "runtime" | "folders" | "tag" | "more" | "model">;
  /** Puts settings of its own kind into the folder it works in, which allow everything and leave the mark `planted` when they count. */
  plant?(): void;
}

export interface Check {
  name: string;
  proves: readonly RuntimeSkill[];
  /** False: this runtime has no use for it. */
  fits?(stage: RealStage): boolean;
  run(stage: RealStage): Promise<void>;
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const never = new AbortController().signal;
/** A cold start on a busy machine, and a model that waits. */
const PATIENCE = { withinMs: 60_000 };

interface Opened {
  request: RunRequest;
  session: RunSession;
  follower: Follower;
}

async function open(stage: RealStage, text: string, more: Partial<RunRequest> = {}): Promise<Opened> {
  const request = makeRequest(stage, text, more);
  const session = await stage.adapter.open(request, await stage.ports(request.run), never);
  return { request, session, follower: new Follower(session, request.lastSeq) };
}

/** To its end, answering each question with yes; nothing is left of it. */
async function finish(stage: RealStage, opened: Opened, allow = true): Promise<Follower> {
  const follower = await answerAll(stage, opened, allow);
  assert.deepEqual(faultsIn(follower.events, opened.request), []);
  return follower;
}

async function answerAll(stage: RealStage, { request, session, follower }: Opened, allow = true): Promise<Follower> {
  const answered = new Set<string>();
  await until(
    "the end of the run",
    async () => {
      for (const { ask } of follower.all("ask").filter((one) => !answered.has(one.ask))) {
        answered.add(ask);
        await session.answer(ask, allow ? { kind: "allow" } : { kind: "deny", reason: "not today" });
      }
      return follower.all("done").length > 0;
    },
    PATIENCE,
  );
  await follower.ended;
  await session.close();
  assert.deepEqual(await stage.left(request.run), []);
  return follower;
}

/** `kill -9` of Lares when this event came. The events that it had recorded. */
async function killLares(
  stage: RealStage,
  request: RunRequest,
  { at, allows = false }: KillPoint,
): Promise<RunEvent[]> {
  const { confine: _, ...ports } = await stage.ports(request.run);
  const killed: KilledRun = { ...stage.killed, request, ports, allows };
  const child = fork(fileURLToPath(new URL("./kill-child.ts", import.meta.url)), [JSON.stringify(killed)], {
    execArgv: ["--import", TSX],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const events: RunEvent[] = [];
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.on("message", (event) => events.push(event as RunEvent));
  await until(`an event of type ${at}`, () => events.some(({ body }) => body.type === at), PATIENCE);
  child.kill("SIGKILL");
  await gone;
  return events;
}

function lastToken(events: readonly RunEvent[]) {
  const resume = events.flatMap(({ body }) => (body.type === "checkpoint" ? [body.token] : [])).at(-1);
  assert.ok(resume, "there was no checkpoint to go on from");
  return resume;
}

/** The run that outlived Lares is taken up, and goes on to its end. */
async function takeUpAt(stage: RealStage, text: string, at: RunEventBody["type"]): Promise<Follower> {
  const request = makeRequest(stage, text);
  const events = await killLares(stage, request, { at });
  const known = events.map(({ body }) => body);
  const next = { ...request, attempt: 2, lastSeq: events.at(-1)!.seq, known };
  const session = await stage.adapter.reattach(lastToken(events), next, await stage.ports(request.run), never);
  assert.ok(session, "there was nothing to take up");
  // Its calls may have been announced by the attempt before.
  return answerAll(stage, { request: next, session, follower: new Follower(session, next.lastSeq) });
}

/** What is left of the killed one's run is ended, and the conversation goes on in the next attempt. */
async function killAt(stage: RealStage, text: string, point: KillPoint): Promise<void> {
  const request = makeRequest(stage, text);
  const events = await killLares(stage, request, point);
  await stage.endLeft(request.run);
  assert.deepEqual(await stage.left(request.run), []);
  const next = { run: request.run, attempt: 2, lastSeq: events.at(-1)!.seq, resume: lastToken(events) };
  const opened = await open(stage, stage.prompts.say("back again"), next);
  const follower = await finish(stage, opened);
  assert.equal(follower.text, "back again");
  assert.ok(stage.heard!().includes(JSON.stringify(text).slice(1, 20)), "it doesn't know what was said before");
}

const some = <T>(list: T[]) => (list.length > 0 ? list : undefined);

interface KillPoint {
  at: RunEventBody["type"];
  allows?: boolean;
}

/** It goes on without us. */
const isDaemon = ({ adapter }: RealStage) => adapter.capabilities("").class === "attached";
const outcome = (follower: Follower) => follower.all("done")[0]?.outcome;
const hasWords = ({ follower }: Opened, words: string) =>
  until(`the words "${words}"`, () => follower.text.includes(words), PATIENCE);

export const CHECKS: readonly Check[] = [
  {
    name: "stream",
    proves: ["stream", "proxy", "home", "usage"],
    async run(stage) {
      const follower = await finish(stage, await open(stage, stage.prompts.say("good morning to you")));
      assert.equal(follower.text, "good morning to you");
      assert.equal(outcome(follower), "finished");
      assert.ok(follower.all("usage").length > 0, "no usage was reported");
    },
  },
  {
    name: "thinking",
    proves: ["thinking"],
    fits: ({ prompts }) => prompts.think !== undefined,
    async run(stage) {
      const follower = await finish(stage, await open(stage, stage.prompts.think!("let me see", "seen")));
      const thought = follower.all("thinking").map(({ text }) => text);
      assert.match(thought.join(""), /let me see/);
      assert.equal(follower.text, "seen");
    },
  },
  {
    name: "allow",
    proves: [],
    async run(stage) {
      const opened = await open(stage, stage.prompts.act("allowed", "did it"));
      await until("the question", () => opened.follower.all("ask").length > 0, PATIENCE);
      assert.equal(stage.marks("allowed"), 0);
      assert.equal(outcome(await finish(stage, opened)), "finished");
      assert.equal(stage.marks("allowed"), 1);
    },
  },
  {
    name: "deny",
    proves: [],
    async run(stage) {
      await finish(stage, await open(stage, stage.prompts.act("denied", "went on")), false);
      assert.equal(stage.marks("denied"), 0);
    },
  },
  {
    name: "allow, then deny",
    // Where every call has to ask, that is tried by itself.
    proves: [],
    async run(stage) {
      const opened = await open(stage, stage.prompts.twice("yes", "no", "went on"));
      const answer = async (index: number, allow: boolean) => {
        const { ask } = await until("a question", () => opened.follower.all("ask")[index], PATIENCE);
        await opened.session.answer(ask, allow ? { kind: "allow" } : { kind: "deny", reason: "not today" });
      };
      await answer(0, true);
      await answer(1, false);
      const follower = await finish(stage, opened);
      assert.deepEqual([stage.marks("yes"), stage.marks("no")], [1, 0]);
      const { approvals } = stage.adapter.capabilities("");
      const isEnd = approvals.proof !== "absent" && approvals.value.denied === "ends-turn";
      assert.equal(outcome(follower), isEnd ? "rejected" : "finished");
    },
  },
  {
    name: "question",
    proves: ["questions"],
    fits: ({ prompts }) => prompts.question !== undefined,
    async run(stage) {
      const opened = await open(stage, stage.prompts.question!());
      const { ask, about } = await until("the question", () => opened.follower.all("ask")[0], PATIENCE);
      assert.equal(about.kind, "question");
      await opened.session.answer(ask, { kind: "said", value: "Blue" });
      await finish(stage, opened);
      assert.match(stage.heard!(), /Blue/);
    },
  },
  {
    name: "asks every time",
    proves: ["approvals"],
    fits: ({ prompts }) => prompts.reads !== undefined,
    async run(stage) {
      const follower = await finish(stage, await open(stage, stage.prompts.reads!()));
      const asked = follower.all("ask").map(({ about }) => (about.kind === "tool" ? about.call : ""));
      const called = follower.all("tool_call").map(({ call }) => call);
      assert.ok(called.length > 1, "it called no tools");
      assert.deepEqual(
        called.filter((call) => !asked.includes(call)),
        [],
      );
    },
  },
  {
    name: "reads no named file",
    proves: [],
    fits: ({ prompts }) => prompts.mentions !== undefined,
    async run(stage) {
      await finish(stage, await open(stage, stage.prompts.mentions!()));
      assert.ok(!stage.heard!().includes(stage.secret!), "the file reached the model unasked");
    },
  },
  {
    name: "MCP",
    proves: ["mcp"],
    fits: ({ prompts }) => prompts.lent !== undefined,
    async run(stage) {
      await finish(stage, await open(stage, stage.prompts.lent!("x1")));
      assert.deepEqual(stage.notes(), ["x1"]);
    },
  },
  {
    name: "steer",
    proves: ["steer"],
    async run(stage) {
      const opened = await open(stage, stage.prompts.act("steered", "as you like"));
      await until("the question", () => opened.follower.all("ask").length > 0, PATIENCE);
      assert.notEqual(await opened.session.say("and mind the gap", "steer"), "ended");
      await finish(stage, opened);
      assert.match(stage.heard!(), /mind the gap/);
    },
  },
  {
    name: "cancel",
    proves: ["interrupt"],
    async run(stage) {
      const opened = await open(stage, stage.prompts.forever("on and on"));
      await hasWords(opened, "on and on");
      await opened.session.stop("soft");
      assert.equal(outcome(await finish(stage, opened)), "stopped");
    },
  },
  {
    name: "429",
    proves: ["rateLimits"],
    fits: ({ prompts }) => prompts.limited !== undefined,
    async run(stage) {
      const follower = await finish(stage, await open(stage, stage.prompts.limited!("after all")));
      assert.equal(follower.text, "after all");
      const { rateLimits } = stage.adapter.capabilities("");
      const isSaid = follower.all("rate_limit").length > 0;
      if (rateLimits.proof !== "absent") assert.ok(isSaid, "nothing was said about the limit");
    },
  },
  {
    name: "401",
    proves: [],
    async run(stage) {
      const follower = await finish(stage, await open(stage, stage.prompts.fail()));
      assert.equal(follower.all("error")[0]?.failure, "auth");
      assert.equal(outcome(follower), "failed");
    },
  },
  {
    name: "resume",
    proves: ["resume"],
    async run(stage) {
      const first = await finish(stage, await open(stage, stage.prompts.say("remember this")));
      const token = first.all("checkpoint").at(-1)?.token;
      assert.ok(token, "it left no checkpoint");
      const resume = JSON.parse(JSON.stringify(token));
      const later = await finish(stage, await open(stage, stage.prompts.say("I do"), { resume }));
      assert.equal(later.text, "I do");
      assert.match(stage.heard!(), /remember this/);
    },
  },
  {
    name: "kill -9 while it writes",
    proves: [],
    run: (stage) => killAt(stage, stage.prompts.forever("on and on"), { at: "text" }),
  },
  {
    name: "kill -9 while it asks",
    proves: [],
    async run(stage) {
      await killAt(stage, stage.prompts.act("killed", "never said"), { at: "ask" });
      assert.equal(stage.marks("killed"), 0);
    },
  },
  {
    name: "kill -9 while it acts",
    proves: [],
    fits: ({ prompts }) => prompts.slow !== undefined,
    async run(stage) {
      await killAt(stage, stage.prompts.slow!("slowly"), { at: "answered", allows: true });
      assert.equal(stage.marks("slowly"), 0);
    },
  },
  {
    name: "taken up after kill -9 while it asks",
    proves: [],
    fits: isDaemon,
    async run(stage) {
      const follower = await takeUpAt(stage, stage.prompts.act("outlived", "still here"), "ask");
      assert.equal(follower.text, "still here");
      assert.equal(stage.marks("outlived"), 1);
      assert.deepEqual(
        follower.all("tool_call").map(({ name }) => name),
        [],
      );
    },
  },
  {
    name: "taken up after kill -9 while it writes",
    proves: [],
    fits: isDaemon,
    async run(stage) {
      const follower = await takeUpAt(stage, stage.prompts.forever("on and on"), "text");
      assert.equal(outcome(follower), "finished");
      assert.equal(follower.all("done")[0]?.text, `on and on${" more".repeat(24)}`);
    },
  },
  {
    name: "hard stop while it acts",
    proves: [],
    fits: ({ prompts }) => prompts.slow !== undefined,
    async run(stage) {
      const opened = await open(stage, stage.prompts.slow!("halted"));
      const [ask] = await until("the question", () => some(opened.follower.all("ask")), PATIENCE);
      await opened.session.answer(ask!.ask, { kind: "allow" });
      await opened.session.stop("hard");
      assert.equal(outcome(await finish(stage, opened)), "stopped");
      assert.equal(stage.marks("halted"), 0);
    },
  },
  {
    name: "own settings only",
    proves: [],
    fits: ({ plant }) => plant !== undefined,
    async run(stage) {
      stage.plant!();
      await finish(stage, await open(stage, stage.prompts.act("unasked", "went on")), false);
      assert.deepEqual([stage.marks("unasked"), stage.marks("planted")], [0, 0]);
    },
  },
  {
    name: "nothing left",
    proves: [],
    fits: ({ prompts }) => prompts.detaches !== undefined,
    run: async (stage) => void (await finish(stage, await open(stage, stage.prompts.detaches!()))),
  },
];
