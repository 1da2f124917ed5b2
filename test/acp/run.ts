/**
 * `npm run test:acp`: acpx, a published client of the Agent Client Protocol, drives `lares acp` as its users would: prompt, permission,
 * cancel, resume in a fresh process, and a gateway killed in the middle (AC-01). It comes from the npm registry into a cache folder, once;
 * after that nothing leaves this machine.
 */
import { strict as assert } from "node:assert";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, scratch, spawnModel, startLares, until } from "../support/index.ts";
import { findNode, fromNpm } from "../support/outside.ts";

/** It needs a newer Node than Lares does. */
const PEER = { acpx: "0.19.1" };
const PEER_NODE = 24;
/** Its process that keeps an agent for the next prompt ends after so many seconds. */
const TTL = "2";

interface Ran {
  code: number | null;
  out: string;
}

const node = findNode(PEER_NODE, "acpx");
const acpx = join(fromNpm(join(tmpdir(), "lares-acp"), PEER), "node_modules/acpx/dist/cli.js");
const model = await spawnModel();
const lares = await startLares({ env: model.env });
const home = scratch("acpx");
const running = new Set<ChildProcess>();
const file = (name: string) => join(lares.workspace(), name);
let wrong = 0;
try {
  await check("a prompt is answered, with its thoughts", async () => {
    const { code, out } = await run("--format", "json", "exec", "think:hm say:good morning");
    assert.equal(code, 0, out);
    const said = chunks(out);
    assert.deepEqual([said("agent_message_chunk"), said("agent_thought_chunk")], ["good morning", "hm"]);
  });
  await check("permission is given, and the file is there", async () => {
    const prompt = 'tool:write {"path":"yes.txt","content":"hello"} then: say:written';
    const { code, out } = await run("--approve-all", "exec", prompt);
    assert.equal(code, 0, out);
    assert.equal(readFileSync(file("yes.txt"), "utf8"), "hello");
    assert.match(out, /written/);
  });
  await check("permission is denied, and nothing ran", async () => {
    const { out } = await run("--deny-all", "exec", 'tool:exec {"command":"touch no.txt"} then: say:as you like');
    assert.equal(existsSync(file("no.txt")), false);
    assert.match(out, /as you like/);
    const { approvals } = await lares.rpc("approvals.list", { state: "all" });
    assert.deepEqual(approvals.map(({ state }) => state).sort(), ["allowed", "denied"]);
  });
  await check("a session is resumed by a fresh process, which knows what was said", async () => {
    assert.equal((await run("sessions", "new")).code, 0);
    assert.match((await run("say:the first answer")).out, /the first answer/);
    await ownersGone();
    const { code, out } = await run("and now?");
    assert.equal(code, 0, out);
    assert.match(out, /session\/resume/);
    const { messages } = await lares.rpc("chat.history", { session: await newest() });
    assert.equal(messages.length, 4);
  });
  await check("a prompt is cancelled", async () => {
    const prompt = run("delay:60000 say:never");
    await until("a turn", async () => (await lares.rpc("turns.list", { open: true })).turns.length === 1);
    await run("cancel");
    const { out } = await prompt;
    assert.match(out, /cancelled/);
    const [turn] = (await lares.rpc("turns.list", { limit: 1 })).turns;
    assert.equal(turn?.state, "stopped");
  });
  await check("a gateway that is killed in the middle answers once", async () => {
    const words = "one two three four five six seven eight nine ten eleven twelve";
    const before = (await lares.rpc("turns.list", {})).turns.length;
    const prompt = run("--format", "json", "exec", `gap:150 say:${words}`);
    await until("the answer to begin", async () => {
      const { turns } = await lares.rpc("turns.list", { open: true });
      const session = turns[0]?.session;
      const live = session && (await lares.rpc("chat.live", { session }));
      return live && live.turns.some(({ text }) => (text ?? "").length > 5);
    });
    await lares.restart();
    const { code, out } = await prompt;
    assert.equal(code, 0, out);
    assert.equal(chunks(out)("agent_message_chunk"), words);
    assert.equal((await lares.rpc("turns.list", {})).turns.length, before + 1);
  });
  await check("nothing is left running", ownersGone);
} finally {
  for (const child of running) child.kill("SIGKILL");
  await lares.dispose();
  await model.stop();
}
process.exitCode = wrong === 0 ? 0 : 1;

async function check(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    say(`ok: ${name}`);
  } catch (error) {
    wrong++;
    say(`FAILED: ${name}\n${error instanceof Error ? error.message : String(error)}`);
  }
}

function run(...args: string[]): Promise<Ran> {
  const agent = `${process.execPath} ${PROGRAM} acp --home ${lares.home}`;
  const child = spawn(node, [acpx, "--agent", agent, "--cwd", lares.workspace(), "--ttl", TTL, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: home, LARES_TOKEN: lares.token },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += String(chunk)));
  return new Promise((resolve) =>
    child.once("close", (code) => {
      running.delete(child);
      resolve({ code, out });
    }),
  );
}

/** Of acpx' JSON lines: all the words of one kind of update. */
function chunks(out: string): (kind: string) => string {
  const updates = out.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { params } = JSON.parse(line) as {
      params?: { update?: { sessionUpdate: string; content?: { text?: string } } };
    };
    return params?.update ? [params.update] : [];
  });
  return (kind) =>
    updates
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map(({ content }) => content?.text ?? "")
      .join("");
}

async function newest(): Promise<string> {
  return (await lares.rpc("sessions.list", { limit: 1 })).sessions[0]!.session;
}

/** acpx' own processes, and every `lares acp` they started, are gone. */
async function ownersGone(): Promise<void> {
  await until(
    "acpx and lares acp to end",
    () => !spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout.includes(`acp --home ${lares.home}`),
    { withinMs: 20_000 },
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
