import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../core/domain/index.ts";
import { createLog, type LogOptions, writeLines } from "./index.ts";

function setup(options: LogOptions = {}) {
  const lines: string[] = [];
  const log = createLog({ stream: { write: (line) => lines.push(line) }, now: () => 0, ...options });
  return { log, lines };
}

test("a line is one JSON object with level, time, room, what and facts", () => {
  const { log, lines } = setup();
  log.child("outbox").warn("sent late", { delivery: "d1", ms: 12 });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toEqual({
    level: "warn",
    time: "1970-01-01T00:00:00.000Z",
    room: "outbox",
    what: "sent late",
    facts: { delivery: "d1", ms: 12 },
  });
});

test("what is below the level is not written, and the level can change", () => {
  const { log, lines } = setup({ level: "warn" });
  log.info("no");
  log.error("yes");
  log.setLevel("debug");
  log.debug("now");
  expect(lines).toHaveLength(2);
});

test("a registered secret never comes out: not in text, facts, names, numbers, or another form (OBSERVE-5)", () => {
  const { log, lines } = setup();
  const secret = 'can"ary/7f3a+91';
  log.redactor.addSecret(secret);
  log.redactor.addSecret("73519264");
  const facts = {
    [secret]: 1,
    deep: [{ text: `x ${secret} y` }],
    url: `https://x/?q=${encodeURIComponent(secret)}`,
    basic: Buffer.from(`me:${secret}`).toString("base64"),
    json: JSON.stringify({ a: secret }),
    pin: 73519264,
  };
  log.info(`it is ${secret}`, facts as JsonObject);
  const line = lines.join("");
  expect(line).not.toMatch(/ary\/7f3a|ary%2F7f3a|73519264/);
  expect(Buffer.from(JSON.parse(line).facts.basic, "base64").toString()).not.toContain("7f3a");
  expect(JSON.stringify(log.tail())).not.toContain("7f3a");
});

test("values under a secret name are hidden whatever they look like; counts of tokens are not", () => {
  const { log, lines } = setup();
  log.info("x", { token: "ab", apiKey: { a: 1 }, inputTokens: 5, headers: { authorization: "zz", accept: "*/*" } });
  expect(JSON.parse(lines[0]!).facts).toEqual({
    token: "[redacted]",
    apiKey: "[redacted]",
    inputTokens: 5,
    headers: { authorization: "[redacted]", accept: "*/*" },
  });
});

test("the last 2,000 lines are kept and can be asked for by level, room and place", () => {
  const { log } = setup();
  for (let i = 1; i <= 2_500; i++) log.child(i % 2 ? "odd" : "even")[i % 100 ? "info" : "error"](`line ${i}`);
  expect(log.tail({ limit: 10_000 })).toHaveLength(2_000);
  expect(log.tail({ limit: 10_000 })[0]?.what).toBe("line 501");
  expect(log.tail({ limit: 2 }).map((l) => l.what)).toEqual(["line 2499", "line 2500"]);
  expect(log.tail({ level: "error", limit: 2 }).map((l) => l.seq)).toEqual([2400, 2500]);
  expect(log.tail({ room: "odd", limit: 1 })[0]?.seq).toBe(2499);
  expect(log.tail({ after: 2_498 }).map((l) => l.seq)).toEqual([2499, 2500]);
});

test("a follower hears new lines until it lets go; one that throws is dropped", () => {
  const { log } = setup();
  const heard: string[] = [];
  log.follow(() => {
    throw new Error("bad listener");
  });
  const stop = log.follow((line) => heard.push(line.what));
  log.info("a");
  stop();
  log.info("b");
  expect(heard).toEqual(["a"]);
});

test("logging never throws and stays bounded, whatever it is given (OBSERVE-4)", () => {
  const { log, lines } = setup();
  const circle: Record<string, unknown> = { big: 10n, many: Array(1_000).fill("x"), text: "y".repeat(100_000) };
  circle.self = circle;
  log.info("odd", circle as JsonObject);
  expect(lines[0]!.length).toBeLessThan(100_000);
  const bad = createLog({
    stream: {
      write() {
        throw new Error("closed");
      },
    },
  });
  expect(() => bad.info("x")).not.toThrow();
});

test("a pretty line is one line, and text from outside cannot act on the terminal", () => {
  const { log, lines } = setup({ pretty: true });
  log.warn("evil \u001b[2J\nforged", { name: "a b", id: "x1" });
  expect(lines[0]).toBe('00:00:00 warn  lares      evil \\u001b[2J\\nforged  name="a b"  id=x1\n');
});

test("a stalled reader holds up nobody, memory is bounded, and the loss is said (OBSERVE-3)", async () => {
  const out: string[] = [];
  let go = () => {};
  const sink = writeLines(9, (_fd, bytes, done) => {
    go = () => {
      out.push(bytes.toString());
      done(null, bytes.length);
    };
  });
  for (let i = 0; i < 3_000; i++) sink.write(`${"x".repeat(999)}\n`);
  const flushed = sink.flush();
  go();
  go();
  await flushed;
  expect(out.join("").length).toBeLessThan(1_100_000);
  expect(out.join("")).toContain('"dropped":');
});

test("a short write, a busy descriptor and a gone reader are survived", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lares-log-"));
  const fd = openSync(join(dir, "log"), "w");
  const real = writeLines(fd);
  for (let i = 0; i < 100; i++) real.write(`line ${i}\n`);
  await real.flush();
  closeSync(fd);
  expect(readFileSync(join(dir, "log"), "utf8").split("\n")).toHaveLength(101);
  rmSync(dir, { recursive: true });

  let got = "";
  let tries = 0;
  const odd = writeLines(9, (_fd, bytes, done) => {
    tries++;
    if (tries === 1) return done(Object.assign(new Error("busy"), { code: "EAGAIN" }), 0);
    got += bytes.subarray(0, 2).toString();
    done(null, Math.min(2, bytes.length));
  });
  odd.write("abcdef\n");
  await odd.flush();
  expect(got).toBe("abcdef\n");

  const gone = writeLines(9, (_fd, _bytes, done) => done(Object.assign(new Error("gone"), { code: "EPIPE" }), 0));
  gone.write("x\n");
  gone.write("y\n");
  await gone.flush();
});
