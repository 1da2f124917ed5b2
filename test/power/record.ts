/**
 * A working Lares under strace: callers, a platform, commands, files, a schedule, deletions that empty the log, a stop, a second life.
 * Every word it is given is new, so that what it said to whom can be found in the trace.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FarSide, sendHook, startFarSide, startModel, until } from "../support/index.ts";
import { PROGRAM } from "../support/lares.ts";
import { type Op, parseTrace, TRACED } from "./trace.ts";

export interface Recording {
  ops: Op[];
  /** The settings the home began with: on the disk for a long time. */
  config: string;
  /** Of an upload: the attachment's path and what is in it. */
  files: ReadonlyMap<string, string>;
  model: Awaited<ReturnType<typeof startModel>>;
  far: FarSide;
  close(): Promise<void>;
}

export async function record(rounds: number): Promise<Recording> {
  const dir = mkdtempSync(join(tmpdir(), "lares-power-"));
  const home = join(dir, "home");
  mkdirSync(home, { mode: 0o700 });
  const [model, far] = await Promise.all([startModel(), startFarSide({ dedupes: false })]);
  const config = JSON.stringify({
    policy: { mode: "record" },
    channels: { webhook: { plain: { secret: far.secret, url: far.url, dedupes: false } } },
  });
  writeFileSync(join(home, "lares.yaml"), config);
  const files = new Map<string, string>();
  const traces: string[] = [];
  for (const life of [1, 2]) {
    const trace = join(dir, `trace-${life}`);
    const args = ["-f", "-y", "-xx", "-s", "4000000", "-e", `trace=${TRACED}`, "-o", trace];
    const child = spawn(
      "strace",
      [...args, process.execPath, PROGRAM, "gateway", "run", "--home", home, "--port", "0"],
      {
        env: { PATH: process.env.PATH ?? "", HOME: home, ...model.env },
        stdio: "ignore",
      },
    );
    const pid = await work({ home, life, rounds, far, files, child });
    // The first life ends well, the second by a power cut.
    process.kill(pid, life === 1 ? "SIGTERM" : "SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    traces.push(readFileSync(trace, "latin1"));
  }
  // Together, because a sync counts the operations before it.
  const ops = parseTrace(traces.join("\n"), home);
  rmSync(dir, { recursive: true, force: true });
  // A trace that can't be read must not look like a disk on which all is well.
  if (ops.filter(({ kind }) => kind === "sync").length < rounds)
    throw new Error("the trace has hardly any syncs in it");
  return { ops, config, files, model, far, close: async () => void (await Promise.all([model.close(), far.close()])) };
}

interface Work {
  home: string;
  life: number;
  rounds: number;
  far: FarSide;
  files: Map<string, string>;
  child: ChildProcess;
}

/** Returns the pid of Lares itself. */
async function work({ home, life, rounds, far, files }: Work): Promise<number> {
  const note = await until(
    "Lares to be ready",
    async () => {
      try {
        const found = JSON.parse(readFileSync(join(home, "gateway.json"), "utf8")) as { url: string; pid: number };
        return (await fetch(`${found.url}/readyz`)).ok ? found : undefined;
      } catch {
        // Not there yet, or left by the life before.
        return undefined;
      }
    },
    { withinMs: 120_000 },
  );
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(note.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };
  for (let i = 0; i < rounds; i++) {
    const word = `w${life}x${i}y`;
    const said = await Promise.all(
      ["ann", "bob", "cid"].map((user) =>
        post("/chat", { user_id: `${user}${i % 4}`, message: `say:${word}${user}z` }),
      ),
    );
    if (said.some(({ response }) => typeof response !== "string")) throw new Error(JSON.stringify(said));
    await sendHook(note, "plain", far.secret, { id: `m-${word}`, chat: "c", text: `say:${word}hookz` });
    if (i % 3 === 0)
      await post("/chat", {
        user_id: "run",
        message: `tool:exec {"command":"echo ${word} >> log.txt"} then: say:${word}ranz`,
      });
    if (i % 4 === 1) {
      const content = `${word}file${"x".repeat(5000)}`;
      const sent = await fetch(`${note.url}/attachments`, {
        method: "POST",
        headers: { ...headers, "content-type": "text/plain", "x-lares-name": "a.txt" },
        body: content,
      });
      const { id } = (await sent.json()) as { id?: string };
      if (id) files.set(id, `${word}file`);
    }
    if (i % 5 === 4) {
      const { session } = (await post("/chat", { user_id: `gone${i}`, message: "say:gone" })) as { session: string };
      await post("/rpc/sessions.delete", { session });
    }
  }
  await until(
    "every answer to arrive",
    () => far.shown.filter(({ text }) => text.startsWith(`w${life}x`)).length >= rounds,
    { withinMs: 60_000 },
  );
  return note.pid;
}
