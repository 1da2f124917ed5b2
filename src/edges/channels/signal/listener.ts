/**
 * The listener: a small process that holds the one connection to signal-cli and writes down what it is handed, and nothing else.
 *
 * signal-cli forgets what it has handed over, and goes on handing messages to a connection that is dead. So the reader of its stream
 * must not die with Lares: Lares starts the listener, which outlives it and is found again by the next Lares process.
 *
 * SIGNAL-1: an event is on the disk (fdatasync) before the next bytes are read; each listener writes files of its own, so a torn line is
 *     only ever the last of a file.
 * SIGNAL-2: a listener has one connection: when it ends, the listener ends and says why. A new listener connects first and then takes
 *     the older one's place, so that nothing falls between the two; what both heard is recognised by its id.
 * SIGNAL-3: it ends when its folder is gone, when another listener took its place, or when Lares hasn't come back for ten minutes.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, asObject, asText } from "../../../core/domain/index.ts";
import { socketWords, truthy } from "../../../core/kit/index.ts";

/** How often it looks around. */
const TICK_MS = 1000;
/** Lares may be away this long: an upgrade, a restart of the machine's services. After that messages wait at Signal again. */
const LINGER_MS = 600_000;
/** Several ticks: a busy machine is not a dead process. */
const STALE_MS = 20_000;
/** Some versions of signal-cli answer with their first sign of life only, after 15 s. */
const CONNECT_MS = 40_000;
/** A separate file after so much, or so long: what was heard is deleted file by file. */
const FILE_BYTES = 1024 * 1024;
const FILE_MS = 300_000;

const NOTE = "listener.json";
const WANTED = "wanted";

export interface ListenerOptions {
  folder: string;
  /** signal-cli's event stream. */
  url: string;
  /** The last event that was heard, for a signal-cli that can tell what came after it. */
  after?: string | undefined;
}

/** The name of the listener that is already running, or of a new one. Throws with what to do when signal-cli can't be reached. */
export async function ensureListener(options: ListenerOptions, signal: AbortSignal): Promise<string> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  stillWanted(options.folder);
  const running = listenerIn(options.folder);
  if (running?.url === options.url) return running.name;
  const name = randomUUID();
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=1", "--max-old-space-size=64", "-", options.folder, options.url, name, options.after ?? ""],
    // A separate session, so that a signal to ours does not reach it; none of our secrets.
    { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {}, cwd: options.folder },
  );
  let gone: string | undefined;
  child.once("error", (error) => {
    gone = error.message;
  });
  child.once("exit", () => {
    gone ??= whyEnded(options.folder, name);
  });
  child.stdin.on("error", () => {});
  child.stdin.end(SOURCE);
  child.unref();
  for (const since = Date.now(); listenerIn(options.folder)?.name !== name; ) {
    signal.throwIfAborted();
    if (gone === undefined && Date.now() - since > CONNECT_MS) gone = "it did not answer";
    if (gone !== undefined) {
      child.kill();
      throw new AppError("CHANNEL_SEND", {
        message: `signal-cli can't be reached: ${gone}.`,
        hint: HOW,
        retry: "later",
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return name;
}

const HOW = "Start it: signal-cli -a NUMBER daemon --http --receive-mode=on-connection";

/** The listener of this folder, if one is running. */
export function listenerIn(folder: string): { name: string; url: string } | undefined {
  const { name, url, pid } = readJson(join(folder, NOTE));
  if (typeof name !== "string" || typeof url !== "string" || typeof pid !== "number") return undefined;
  if (hasEnded(folder, name)) return undefined;
  try {
    process.kill(pid, 0);
    return Date.now() - statSync(join(folder, NOTE)).mtimeMs < STALE_MS ? { name, url } : undefined;
  } catch {
    return undefined;
  }
}

/** It has ended, though its process may still be there for a moment. */
export function hasEnded(folder: string, name: string): boolean {
  return existsSync(join(folder, `${name}.ended`));
}

/** Why the listener of this name ended, if it said so. */
export function whyEnded(folder: string, name: string): string {
  const { why, code } = readJson(join(folder, `${name}.ended`));
  return socketWords(truthy({ code: asText(code) })) ?? asText(why) ?? "the listener is gone";
}

/** Shows the listener that Lares is running. */
export function stillWanted(folder: string): void {
  const path = join(folder, WANTED);
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    writeFileSync(path, "");
  }
}

function readJson(path: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

// Plain JavaScript as text: the same in the bundle, under tsx and in tests, with no file to find at run time.
const SOURCE = `
const fs = require("node:fs");
const [folder, url, name, after] = process.argv.slice(2);
process.title = "lares-signal";
process.umask(0o077);
process.chdir(folder);
const pulse = new Int32Array(new SharedArrayBuffer(4));
let fd, size = 0, since = 0, number = 0, quiet = 0, seen = 0, isTold = false;

function end(why, code) {
  try { fs.writeFileSync(name + ".ended", JSON.stringify({ why, code })); } catch {}
  process.exit(0);
}
function isMine() {
  try { return JSON.parse(fs.readFileSync("${NOTE}", "utf8")).name === name; } catch { return false; }
}
function beat() {
  const now = new Date();
  fs.utimesSync("${NOTE}", now, now);
}
/** What does not fit on the disk now is kept until it does; nothing more is read meanwhile. */
function stubborn(work) {
  for (;;) {
    try { return work(); }
    catch (error) {
      if (error.code !== "ENOSPC" && error.code !== "EDQUOT") throw error;
      Atomics.wait(pulse, 0, 0, 500);
      beat();
    }
  }
}
function nextFile() {
  if (fd !== undefined) fs.closeSync(fd);
  const numbers = fs.readdirSync(".").map((one) => Number(/^(\\d{8})\\.jsonl$/.exec(one)?.[1] ?? 0));
  number = Math.max(number, ...numbers);
  for (fd = undefined; fd === undefined; ) {
    try { fd = fs.openSync(String(++number).padStart(8, "0") + ".jsonl", "wx", 0o600); }
    catch (error) { if (error.code !== "EEXIST") throw error; }
  }
  const dir = fs.openSync(".", "r");
  fs.fsyncSync(dir);
  fs.closeSync(dir);
  size = 0;
  since = Date.now();
}
function put(text) {
  const data = Buffer.from(text);
  if (fd === undefined || size > ${FILE_BYTES}) stubborn(nextFile);
  for (let at = 0; at < data.length; ) at += stubborn(() => fs.writeSync(fd, data, at));
  stubborn(() => fs.fdatasyncSync(fd));
  size += data.length;
}
/** Receipts, typing and the like are nothing to anybody here. */
function toLine(block) {
  const of = (field) => block.split("\\n").filter((l) => l.startsWith(field)).map((l) => l.slice(field.length));
  let params;
  try { params = JSON.parse(of("data:").join("\\n")); } catch { return ""; }
  const envelope = params?.envelope;
  if (!envelope?.dataMessage && !envelope?.editMessage) return "";
  return JSON.stringify({ id: of("id:")[0]?.trim(), params }) + "\\n";
}
function tick() {
  try {
    if (!isTold) return;
    if (!isMine()) process.exit(0);
    beat();
    const wanted = fs.statSync("${WANTED}").mtimeMs;
    quiet = wanted === seen ? quiet + ${TICK_MS} : 0;
    seen = wanted;
    if (quiet >= ${LINGER_MS}) end("nobody came back");
    if (fd !== undefined && size > 0 && Date.now() - since > ${FILE_MS}) { fs.closeSync(fd); fd = undefined; }
  } catch { process.exit(0); }
}

const headers = { accept: "text/event-stream", ...(after ? { "last-event-id": after } : {}) };
const { get } = require(url.startsWith("https:") ? "node:https" : "node:http");
get(url, { headers }, (res) => {
  if (res.statusCode !== 200) end("it answered " + res.statusCode);
  const note = name + ".tmp";
  stubborn(() => fs.writeFileSync(note, JSON.stringify({ name, url, pid: process.pid })));
  fs.renameSync(note, "${NOTE}");
  isTold = true;
  const decoder = new (require("node:string_decoder").StringDecoder)("utf8");
  let text = "";
  res.on("data", (chunk) => {
    try {
      text += decoder.write(chunk);
      let lines = "";
      for (let at = text.indexOf("\\n\\n"); at >= 0; at = text.indexOf("\\n\\n")) {
        lines += toLine(text.slice(0, at));
        text = text.slice(at + 2);
      }
      if (lines) put(lines);
      if (text.length > 16 * 1024 * 1024) end("it sent an event without an end");
    } catch (error) { end(error.message); }
  });
  res.on("end", () => end("it closed the stream"));
  res.on("error", (error) => end(error.message, error.code));
}).on("error", (error) => end(error.message, error.code));
setInterval(tick, ${TICK_MS});
process.on("SIGHUP", () => {});
`;
