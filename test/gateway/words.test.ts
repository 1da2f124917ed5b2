/** Small words that must be true: the order of events, what is refused and how, what was meant. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { METHODS } from "../../src/core/protocol/index.ts";
import { parse } from "../../src/faces/gateway/http.ts";
import { directiveScript, type ModelServer } from "../fakes/model-server/index.ts";
import { bearer, openInstance, openScripted, Socket, type TestInstance, TOKEN } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
beforeAll(async () => {
  instance = await openScripted();
});
afterAll(() => instance.stop());

const say = (message: string, user = "ana") => instance.rpc("chat.send", { message, user });
const refused = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error as { body: { code: string; message: string; hint?: string } }).body,
  );

test("a turn is announced as accepted before it is announced as started", async () => {
  const socket = new Socket(instance.app.url, bearer());
  await socket.opened();
  for (let i = 0; i < 20; i++) await say(`say:${i}`, `order-${i}`);
  await socket.until("twenty ends", () => socket.events("turn.ended").length >= 20 || undefined);
  const turnOf = (frame: { payload: unknown }) => (frame.payload as { turn?: string }).turn;
  const turns = socket.events("turn.accepted").map(turnOf);
  expect(turns).toHaveLength(20);
  for (const turn of turns) {
    const names = socket.frames.flatMap((f) => (f.type === "event" && turnOf(f) === turn ? [f.event] : []));
    expect(names.slice(0, 2)).toEqual(["turn.accepted", "turn.started"]);
  }
  socket.close();
});

test("a command that is the first message of a conversation is remembered, and none says that there is no session", async () => {
  const { models } = await instance.rpc("models.list", {});
  const id = models.at(-1)!.id;
  const reply = async (message: string, user: string) => (await say(message, user)).response ?? "";
  expect(await reply(`/model ${id}`, "first-model")).toContain(`Using ${id};`);
  expect(await reply("/model", "first-model")).toContain(`Using ${id};`);
  await reply("/think high", "first-think");
  expect(await reply("/think high", "first-think")).toContain("thinking high");
  expect(await reply("/model", "first-think")).toContain("thinking high");
  await reply("/timezone Asia/Tokyo", "first-zone");
  expect(await reply("/timezone", "first-zone")).toContain("Asia/Tokyo");
  for (const word of ["new", "reload", "status", "model", "compact", "usage", "export", "goal", "memory", "schedule"])
    expect(await reply(`/${word}`, `first-${word}`), word).toMatch(/^(?!.*no session)./is);
});

test("how long Lares has been up does not depend on the machine's clock", async () => {
  const real = Date.now;
  Date.now = () => real() - 86_400_000;
  try {
    expect((await instance.rpc("status", {})).uptimeMs).toBeGreaterThan(0);
    expect((await instance.rpc("health", {})).uptimeMs).toBeGreaterThan(0);
  } finally {
    Date.now = real;
  }
});

test("a message of blanks is refused with a sentence at every door", async () => {
  const before = instance.model.requests.length;
  for (const message of [" ", "\n\t \n", "\u3000"]) {
    expect(await refused(say(message))).toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining("has no words"),
    });
    const chat = await instance.ask("/chat", {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ user_id: "ana", message }),
    });
    expect(chat.status).toBe(400);
    expect(JSON.stringify(chat.json)).toContain("has no words");
  }
  expect(instance.model.requests).toHaveLength(before);
});

test("a mistyped command is answered with the one that was meant, an unknown one with /help; paths and sentences go to the model", async () => {
  // The same in all of them, and it works for all of them.
  const wayOut = "All commands: /help. To say it to the agent, put it in quotes.";
  for (const [typed, meant] of [
    ["/sttus", "/status"],
    ["/stauts now", "/status"],
    ["/stp", "/stop"],
    ["/aprove K7QW", "/approve"],
    ["/modle", "/model"],
    ["/hlep", "/help"],
    ["/hlep me", "/help"],
    ["/halp", "/help"],
    ["//sttus", "/status"],
    ["//STATUS", "/status"],
    ["//help ", "/help"],
  ] as const) {
    const { response } = await say(typed);
    expect(response, typed).toContain(`Did you mean ${meant}? ${wayOut}`);
  }
  const before = instance.model.requests.length;
  for (const typed of ["/xyzzy", "/x", "/foo-bar", "/hjælp", "/foo bar", "/xyzzy say:x", "/foo-bar say:x\nmore"]) {
    const { response } = await say(typed);
    expect(response).toBe(`There is no command ${typed.split(/\s/)[0]}. ${wayOut}`);
  }
  expect(instance.model.requests).toHaveLength(before);
  const passed = [
    "/tmp",
    "/notes.txt",
    "/etc/hosts",
    '"/xyzzy say:x"',
    "/home is full",
    "/etc/hosts say:x",
    "/dev",
    "//sttus say:x",
    "//xyzzy",
    "//tmp",
    "// sttus",
    '"/sttus"',
    "/ say:x",
    "a /sttus",
  ];
  for (const text of passed) await say(text);
  expect(instance.model.requests).toHaveLength(before + passed.length);
});

test("/reload takes in the agent's files; the conversation goes on, and /help lists it", async () => {
  const soul = join(instance.home, "agents/main/SOUL.md");
  await say("say:first", "reloader");
  const was = readFileSync(soul, "utf8");
  writeFileSync(soul, `${was}\nYou speak like a lighthouse keeper.\n`);
  await say("say:second", "reloader");
  expect(instance.model.requests.at(-1)!.system).not.toContain("lighthouse");
  expect((await say("/reload", "reloader")).response).toContain("current files, skills and tools");
  await say("say:third", "reloader");
  const { system, messages } = instance.model.requests.at(-1)!;
  expect(system).toContain("lighthouse");
  expect(JSON.stringify(messages)).toContain("say:first");
  expect((await say("/help", "reloader")).response).toContain("/reload");
  expect((await say("/reload", "nobody-yet")).state).toBe("answered");
  writeFileSync(soul, was);
});

test("JSON nested 200,000 levels deep is a 400 with a sentence at every door, and nothing breaks", async () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const post = (path: string, body: string) =>
    instance.ask(path, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body,
    });
  for (const [path, body] of [
    ["/rpc/config.set", `{"path":"agents","value":${deep}}`],
    ["/rpc/chat.send", `{"message":${deep}}`],
    ["/chat", deep],
    ["/v1/chat/completions", `{"model":"lares","messages":${deep}}`],
    ["/v1/responses", `{"model":"lares","input":${deep}}`],
  ] as const) {
    const answer = await post(path, body);
    expect(answer.status, path).toBe(400);
    expect(JSON.stringify(answer.json), path).toContain("levels deep");
  }
  expect(instance.written.filter((line) => line.includes("request broke"))).toEqual([]);
  expect((await say("say:alive")).response).toBe("alive");
});

test("a tool call that is no JSON is answered with what is wrong with it, and no field of ours is shown", async () => {
  instance.model.use((request) =>
    request.messages.some((m) => m.role === "tool")
      ? { text: "sorry" }
      : { toolCalls: [{ name: "exec", raw: '{"command": "ls' }] },
  );
  try {
    const { session, response } = await say("go", "garbled");
    expect(response).toBe("sorry");
    const text = JSON.stringify((await instance.rpc("chat.history", { session })).messages);
    expect(text).toContain("not valid JSON: ");
    expect(text).not.toContain("_raw");
    // A caller's own tool gets what the model wrote.
    const answer = await instance.ask("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "lares",
        messages: [{ role: "user", content: "go" }],
        tools: [{ type: "function", function: { name: "exec" } }],
      }),
    });
    expect(answer.text).toContain('"arguments":"{\\"command\\": \\"ls"');
  } finally {
    instance.model.use(directiveScript());
  }
});

test("a port that is taken ends the start with one sentence, and a stop right after the start warns of nothing", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const written: string[] = [];
  const { createLog } = await import("../../src/ground/observe/index.ts");
  const log = createLog({ level: "info", stream: { write: (line) => written.push(line) } });
  try {
    await expect(openInstance({ port, log })).rejects.toThrow(String(port));
    // A stop right after the start finds the memory still at work too.
    for (let i = 0; i < 3; i++) await (await openInstance({ log })).stop();
    expect(written.filter((line) => line.includes('"level":"warn"'))).toEqual([]);
  } finally {
    taken.close();
  }
});

/** What zod says by itself. */
const RAW = /Too (small|big)|Invalid (input|option|string|URL|key)|Unrecognized|expected |received /;

test("no parameter of any method is refused in a schema's own words", () => {
  const wrong = [undefined, null, "", " ", "🙂", 5, -1, 1.5, true, [], [{}], {}, { x: 1 }, "x".repeat(300_000)];
  const said = Object.entries(METHODS).flatMap(([method, { in: params }]) => {
    const fields = Object.keys((params as { shape?: object }).shape ?? {});
    const given = [...wrong, ...fields.flatMap((field) => wrong.map((value) => ({ [field]: value })))];
    return given.flatMap((value) => {
      try {
        parse(params, value);
        return [];
      } catch (error) {
        return [`${method}: ${(error as Error).message}`];
      }
    });
  });
  expect(said.length).toBeGreaterThan(1000);
  expect(said.filter((one) => RAW.test(one) || /\.\.$|undefined/.test(one))).toEqual([]);
});

test("memory.forget about something too short says so plainly", async () => {
  const { message } = (await refused(instance.rpc("memory.forget", { about: "🙂"[0]! })))!;
  expect(message).toMatch(/^Field about must have at least \d+ characters\.$/);
});
