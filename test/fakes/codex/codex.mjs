/**
 * FAKE of OpenAI's Codex CLI (0.166.0), without a model: it replays transcripts of real runs (`transcripts/`, made by `record.ts`) with the
 * words, marks and ids of the run at hand, and leaves the marks that the real one would leave. Its prompts are those of the scripted model
 * server. `LARES_FAKE_QUIRKS` makes it misbehave.
 *
 * Documentation: https://developers.openai.com/codex/app-server
 * Documentation: https://developers.openai.com/codex/noninteractive
 * Acknowledgement: a turn is accepted when `turn/start` is answered, and over with `turn/completed`. Threads are files in CODEX_HOME:
 *     another process finds them.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const quirks = new Set((process.env.LARES_FAKE_QUIRKS ?? "").split(","));
const home = process.env.CODEX_HOME ?? "/nowhere";
const args = process.argv.slice(2);
const print = (line) => process.stdout.write(`${line}\n`);
const end = (code, text = "") => process.stdout.write(text, () => process.exit(code));

/** A transcript, cut where Codex was spoken to: each part is what it said to one message. */
function read(name) {
  const lines = readFileSync(new URL(`transcripts/${name}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean);
  const parts = [];
  for (const line of lines) {
    const message = JSON.parse(line.slice(2));
    if (line.startsWith(">")) parts.push({ heard: message, lines: [] });
    else parts.at(-1)?.lines.push(message);
  }
  return parts;
}

/** What the prompt makes the model do. */
function understand(text) {
  const words = /say: (.*)$/s.exec(text)?.[1] ?? "";
  const thought = /think: (.*?) say:/s.exec(text)?.[1] ?? "";
  const command = /tool: exec_command (\{.*?\}) then:/s.exec(text)?.[1];
  return { text, words, thought, command: command && JSON.parse(command).cmd };
}

function chooseScene({ text, thought, command }) {
  const failure = /fail:(\d+)/.exec(text)?.[1];
  if (failure) return `fail-${failure}`;
  if (text.startsWith("cut*1")) return "retry";
  if (text.includes("mcp__lares")) return "mcp-allow";
  if (command?.startsWith("apply_patch")) return "patch-allow";
  if (command) return "act-allow";
  if (text.startsWith("gap:")) return "forever";
  return thought ? "think" : "say";
}

/** A recorded line with this run's ids, words and places. */
function fill(message, { ids, deed, cwd }) {
  const recorded = deed?.recorded;
  let text = JSON.stringify(message).replace(/\bid-\d+\b/g, (id) => ids.get(id) ?? id);
  text = text.replaceAll("/lares/work", cwd);
  if (recorded?.command) text = text.replaceAll(inJson(recorded.command), inJson(deed.command));
  if (recorded) text = text.replaceAll(inJson(recorded.text), inJson(deed.text));
  return JSON.parse(text);
}

const inJson = (text) => JSON.stringify(text).slice(1, -1);

/** The words of a message stand in its pieces, in its end and in its turn's end. */
function withWords(lines, deed) {
  const pieces = new Map();
  for (const { method } of lines)
    if (method === DELTA || method === THOUGHT) pieces.set(method, (pieces.get(method) ?? 0) + 1);
  const seen = new Map();
  return lines.map((line) => {
    const { method, params } = line;
    if (method === DELTA || method === THOUGHT) {
      const i = seen.get(method) ?? 0;
      seen.set(method, i + 1);
      const whole = method === DELTA ? deed.words : deed.thought;
      const size = Math.ceil(whole.length / pieces.get(method));
      return { ...line, params: { ...params, delta: whole.slice(i * size, (i + 1) * size) } };
    }
    const write = (item) => {
      if (item.type === "agentMessage" && item.text !== "") return { ...item, text: deed.words };
      return item.type === "reasoning" && item.summary.length > 0 ? { ...item, summary: [deed.thought] } : item;
    };
    if (params?.item) return { ...line, params: { ...params, item: write(params.item) } };
    if (!params?.turn?.items) return line;
    return { ...line, params: { ...params, turn: { ...params.turn, items: params.turn.items.map(write) } } };
  });
}

const DELTA = "item/agentMessage/delta";
const THOUGHT = "item/reasoning/summaryTextDelta";
const threadFile = (id) => join(home, `thread-${id}.json`);

function serve() {
  if (quirks.has("noisy")) print("warming up\n{ not json\n[1,2,3]\n{}");
  const at = { ids: new Map(), deed: undefined, cwd: "", turn: "", isResumed: false };
  let scene = [];
  let number = 0;
  let ticking;
  const emit = (line) => print(JSON.stringify(line));
  const say = (parts, recorded, id) => {
    const lines = parts.map((line) => fill(line, at));
    for (const line of at.deed && !at.deed.isVerbatim ? withWords(lines, at.deed) : lines)
      emit(line.method === undefined && line.id === recorded ? { ...line, id } : line);
  };
  const find = (name, method) => read(name).find(({ heard }) => heard.method === method);

  const METHODS = {
    initialize(message) {
      if (quirks.has("hang")) return;
      const part = find("say", "initialize");
      say(part.lines, part.heard.id, message.id);
    },
    initialized() {},
    "thread/start"(message) {
      const thread = `thread-${process.pid}-${Date.now()}`;
      at.cwd = message.params.cwd;
      at.ids.set("id-2", thread);
      writeFileSync(threadFile(thread), JSON.stringify({ turns: [] }));
      const part = find("say", "thread/start");
      say(part.lines, part.heard.id, message.id);
      if (quirks.has("newer")) {
        emit({ method: "thread/somethingNew", params: { threadId: thread } });
        emit({ id: "new-1", method: "item/somethingNew/request", params: { threadId: thread } });
      }
    },
    "thread/resume"(message) {
      const { threadId, cwd } = message.params;
      if (!existsSync(threadFile(threadId)))
        return emit({ id: message.id, error: { code: -32600, message: `no rollout found for thread id ${threadId}` } });
      at.cwd = cwd;
      at.isResumed = true;
      at.ids.set("id-2", threadId);
      const part = find("resume", "thread/resume");
      say(part.lines, part.heard.id, message.id);
    },
    "thread/turns/list"({ id, params }) {
      emit({
        id,
        result: { data: JSON.parse(readFileSync(threadFile(params.threadId), "utf8")).turns, nextCursor: null },
      });
    },
    "turn/start"(message) {
      const { text } = message.params.input[0];
      writeFileSync(join(home, "heard"), text);
      const chosen = chooseScene(understand(text));
      const name = chosen === "say" && at.isResumed ? "resume" : chosen;
      scene = read(name);
      const part = scene.find(({ heard }) => heard.method === "turn/start");
      at.deed = { ...understand(text), recorded: understand(part.heard.params.input[0].text) };
      // Its pieces are told twice, so they can't be counted.
      at.deed.isVerbatim = name === "retry";
      at.turn = `turn-${process.pid}-${++number}`;
      at.ids.set(part.lines.find(({ result }) => result?.turn).result.turn.id, at.turn);
      note("interrupted");
      if (quirks.has("dies")) {
        say(part.lines.slice(0, 6), part.heard.id, message.id);
        return end(3);
      }
      if (quirks.has("silent")) return emit({ id: message.id, result: { turn: { id: at.turn } } });
      if (quirks.has("floods")) return print("x".repeat(11 * 1024 * 1024));
      say(part.lines, part.heard.id, message.id);
      if (quirks.has("asks-twice"))
        say(
          part.lines.filter((line) => line.id === 0 && line.method),
          undefined,
          undefined,
        );
      if (name === "forever")
        ticking = setInterval(() => say([part.lines.findLast((line) => line.method === DELTA)]), 5);
      settle(part.lines);
    },
    "turn/steer"(message) {
      appendFileSync(join(home, "heard"), message.params.input[0].text);
      const part = find("steer", "turn/steer");
      say(part.lines, part.heard.id, message.id);
    },
    "turn/interrupt"(message) {
      clearInterval(ticking);
      const part = find("forever", "turn/interrupt");
      say(part.lines, part.heard.id, message.id);
    },
  };

  /** An answer to the question of a scene: as the transcript of that answer goes on. */
  function answered({ result }) {
    const isAllowed = result?.decision === "accept" || result?.action === "accept";
    const isMcp = result?.action !== undefined;
    if (!isAllowed && (result?.decision === "cancel" || result?.action === "cancel" || !result)) return;
    if (isAllowed && at.deed.command?.startsWith("echo")) act(at.deed.command);
    const name = isMcp ? `mcp-${isAllowed ? "allow" : "deny"}` : `act-${isAllowed ? "allow" : "deny"}`;
    const isPatch = at.deed.command?.startsWith("apply_patch");
    const part = read(isPatch ? "patch-allow" : name).find(({ heard }) => heard.method === undefined);
    say(part.lines);
    settle(part.lines);
  }

  function act(command) {
    const [, mark, file] = /echo (\S+) >> (\S+)/.exec(command);
    appendFileSync(join(at.cwd, file), `${mark}\n`);
  }

  /** As the thread is found again by another process. */
  function note(status) {
    const items = [{ type: "agentMessage", id: "msg", text: at.deed.words }];
    writeFileSync(threadFile(at.ids.get("id-2")), JSON.stringify({ turns: [{ id: at.turn, status, items }] }));
  }

  function settle(lines) {
    const ended = lines.find(({ method }) => method === "turn/completed");
    if (ended && at.deed) note(ended.params.turn.status);
  }

  createInterface({ input: process.stdin })
    .on("line", (line) => {
      const message = JSON.parse(line);
      if (message.method === undefined) answered(message);
      else if (METHODS[message.method]) METHODS[message.method](message);
      else if (message.id !== undefined) emit({ id: message.id, error: { code: -32601, message: "unknown" } });
    })
    .on("close", () => process.exit(0));
}

/** `exec --json`: the prompt on the input, blocks on the output. */
function execute() {
  let text = "";
  process.stdin.on("data", (piece) => {
    text += piece;
  });
  process.stdin.on("end", () => {
    const deed = understand(text);
    const resumed = args.includes("resume") ? args[args.indexOf("resume") + 1] : undefined;
    if (resumed && !existsSync(threadFile(resumed))) return end(1);
    const thread = resumed ?? `thread-${process.pid}-${Date.now()}`;
    writeFileSync(threadFile(thread), "{}");
    const lines = readFileSync(new URL(`transcripts/${chooseExec(deed, resumed)}.jsonl`, import.meta.url), "utf8");
    for (const line of lines.split("\n").filter((one) => one.startsWith("<"))) {
      const said = JSON.parse(line.slice(2).replaceAll(/id-\d+/g, thread));
      const { item } = said;
      if (item?.type === "agent_message") item.text = deed.words;
      if (item?.type === "reasoning") item.text = deed.thought;
      if (said.type === "turn.completed" && text.startsWith("gap:")) return setInterval(() => {}, 1000);
      print(JSON.stringify(said));
    }
    return end(/fail:/.test(text) ? 1 : 0);
  });
}

function chooseExec({ text, thought, command }, resumed) {
  if (text.includes("fail:")) return "exec-fail-401";
  if (resumed) return "exec-resume";
  if (command) return "exec-act";
  return thought ? "exec-think" : "exec-say";
}

if (home !== "/nowhere") mkdirSync(home, { recursive: true });
if (args[0] === "--version") end(0, quirks.has("nonsense") ? "welcome!\n" : "codex-cli 0.166.0\n");
else if (args[0] === "login") end(existsSync(join(home, "auth.json")) ? 0 : 1);
else if (args[0] === "app-server" && args[1] === "--help")
  end(
    0,
    quirks.has("exec-only")
      ? "Codex CLI\n\nUsage: codex [OPTIONS] [PROMPT]\n"
      : "Usage: codex app-server [OPTIONS] [COMMAND]\n",
  );
else if (args[0] === "exec") execute();
else serve();
