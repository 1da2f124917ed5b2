/**
 * I13: work that stalled or killed the process twice is not started a third time. The real program, with a tool, a renderer, a
 * send, a look and an import that block the event loop for ever; ended by the watchdog, by `kill -9`, or by a crash of its own.
 * The cases run side by side: each of them mostly waits for a blocked process to be noticed.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { Lares, type LaresOptions, scratch, sendHook, startFarSide, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model?.close());

const STOPPED = "This failed twice in a way that stopped Lares, so it wasn't tried again.";
const POISON = 'tool:read {"path":"poison.txt"} then: say:never';
const READING = { LARES_BLOCK_AT: "tool.running~poison" };
const HEALTHY = { LARES_BLOCK_AT: "", LARES_CRASH_AT: "" };

async function withLares(options: LaresOptions, work: (lares: Lares) => Promise<void>): Promise<void> {
  const lares = new Lares({ ...options, env: { ...model.env, ...options.env } });
  try {
    await work(lares);
  } finally {
    await lares.dispose();
  }
}

/** How a life goes and what is running, as it is noted. */
function noted(lares: Lares): { life: string; how: string; running: string } | undefined {
  try {
    const [first, ...running] = readFileSync(join(lares.home, "in-flight"), "utf8").split("\n");
    return { ...(JSON.parse(first!) as { life: string; how: string }), running: running.join() };
  } catch {
    return undefined;
  }
}

const past = new Set<string>();
/** Waits until this life stalls with this work; what an earlier one left in the same place doesn't count. */
const stalled = (
  lares: Lares,
  work: "turn" | "delivery" | "watch" | "import" | "event" | "hook" | "document" | "capture" | "index" | "raw",
) =>
  until("the stall to be noted", () => {
    const note = noted(lares);
    if (note?.how !== "stalled" || !note.running.includes(`"${work}:`) || past.has(note.life)) return false;
    return past.add(note.life);
  });

/** Sends it and doesn't wait: the connection is lost with the process. */
function send(lares: Lares, user: string, message: string): void {
  lares.chat(user, message, { key: user }).catch(() => {});
}

const isTaken = (lares: Lares, session: string) =>
  until(`${session} to be taken`, async () => {
    const { turns } = await lares.rpc("turns.list", { open: true });
    return turns.find((turn) => turn.session.includes(session));
  });

/** The same key again: the outcome of the turn that was sent once. */
async function outcome(lares: Lares, user: string, message: string) {
  return until(
    `the outcome of ${user}`,
    async () => {
      const answer = await lares.chat(user, message, { key: user });
      return answer.state === "answered" || answer.state === "failed" ? answer : undefined;
    },
    { withinMs: 30_000 },
  );
}

async function checkThirdLife(lares: Lares): Promise<void> {
  expect((await lares.request("GET", "/readyz")).status).toBe(200);
  expect((await lares.chat("other", "say:still here")).response).toBe("still here");
  const bad = await outcome(lares, "bad", POISON);
  expect(bad.state).toBe("failed");
  const { turns } = await lares.rpc("turns.list", { session: bad.session });
  expect(turns).toHaveLength(1);
  const turn = await lares.rpc("turns.get", { turn: turns[0]!.turn });
  expect(turn.state).toBe("failed");
  // No hint to look at the turn: that is what its reader does.
  expect(turn.reason).toBe(STOPPED);
  const { last } = await lares.rpc("sessions.get", { session: bad.session });
  expect(last).toMatchObject({ turn: turn.turn, state: "failed", reason: expect.stringContaining(STOPPED) });
}

describe.concurrent("a tool that blocks the process for ever", () => {
  it("is not run a third time, and the turn beside it is answered: ended by the watchdog (ENGINE-7)", async () => {
    await withLares({ env: READING }, async (lares) => {
      const innocent = "delay:1500 say:fine";
      await lares.start();
      send(lares, "good", innocent);
      await isTaken(lares, "good");
      send(lares, "bad", POISON);
      expect(await lares.gone).toEqual({ code: null, signal: "SIGALRM" });
      expect(lares.output).toMatch(/did not respond for \d seconds and was ended by its watchdog\. Running: .*turn:/);
      lares.spawn();
      expect(await lares.gone).toEqual({ code: null, signal: "SIGALRM" });
      await lares.start();
      await checkThirdLife(lares);
      expect(await outcome(lares, "good", innocent)).toMatchObject({ state: "answered", response: "fine" });
    });
  }, 60_000);

  it("is not run a third time: kill -9 before the watchdog's limit", async () => {
    await withLares({ env: READING }, async (lares) => {
      await lares.start();
      send(lares, "bad", POISON);
      await stalled(lares, "turn");
      await lares.kill9();
      lares.spawn();
      await stalled(lares, "turn");
      await lares.kill9();
      await lares.start();
      await checkThirdLife(lares);
      // And what it was doing can still be done by whoever wants it: nothing is held against a new turn.
      await lares.restart(HEALTHY);
      expect((await lares.chat("bad", 'tool:read {"path":"poison.txt"} then: say:read')).response).toBe("read");
    });
  }, 60_000);

  it("ends within the limit when it is asked to stop meanwhile", async () => {
    await withLares({ env: READING }, async (lares) => {
      await lares.start();
      send(lares, "bad", POISON);
      await stalled(lares, "turn");
      expect(await lares.stop()).toEqual({ code: null, signal: "SIGALRM" });
    });
  }, 30_000);
});

describe.concurrent("a tool that fills the heap until V8 aborts the process", () => {
  it.each([
    // Slowly enough that the event loop goes on: 32 MB a second.
    ["little by little", 200, "full", "setInterval(() => fill(200), 50)"],
    // Two seconds in which nothing else runs; on a busy machine the watchdog may be faster than V8.
    ["in one go", 1400, "stalled", "for (;;) fill(300)"],
  ])(
    "%s: is not run a third time",
    async (_, limitMb, noticed, how) => {
      const script = join(scratch("heap"), "fill.cjs");
      writeFileSync(
        script,
        `const fs = require("node:fs/promises");
       const { open } = fs;
       const hoard = [];
       const fill = (n) => { while (n--) hoard.push(new Array(1000).fill(n + 0.5)); };
       fs.open = (path, ...more) => {
         if (!String(path).endsWith("poison.txt")) return open(path, ...more);
         ${how};
         return new Promise(() => {});
       };
       require("node:module").syncBuiltinESMExports();`,
      );
      const env = { NODE_OPTIONS: `--max-old-space-size=${limitMb} --require ${script}` };
      await withLares({ env }, async (lares) => {
        await lares.start();
        writeFileSync(join(lares.home, "agents", "main", "workspace", "poison.txt"), "poison");
        send(lares, "bad", POISON);
        for (let life = 1; life <= 2; life++) {
          expect((await lares.gone).signal).toMatch(noticed === "full" ? /SIGABRT/ : /SIGABRT|SIGALRM/);
          expect(noted(lares)).toMatchObject({ how: noticed, running: expect.stringContaining("turn:") });
          if (life < 2) lares.spawn();
        }
        await lares.start();
        await checkThirdLife(lares);
      });
    },
    60_000,
  );
});

describe.concurrent("what is sent", () => {
  const hook = async (work: (lares: Lares, far: Awaited<ReturnType<typeof startFarSide>>) => Promise<void>) => {
    const far = await startFarSide({ dedupes: false });
    const config = { channels: { webhook: { far: { secret: far.secret, url: far.url, dedupes: true } } } };
    try {
      await withLares({ config }, (lares) => work(lares, far));
    } finally {
      await far.close();
    }
  };
  const say = (lares: Lares, far: { secret: string }, text: string) =>
    sendHook(lares, "far", far.secret, { id: text, chat: "c", text });

  it("a renderer that blocks: the answer is replaced by the reason, in the chat", async () => {
    await hook(async (lares, far) => {
      const block = { LARES_BLOCK_AT: "outbox.rendering~TILDES" };
      await lares.start(block);
      await say(lares, far, "say:TILDES and more");
      await stalled(lares, "turn");
      await lares.kill9();
      lares.spawn(block);
      await stalled(lares, "turn");
      await lares.kill9();
      await lares.start(block);
      expect((await lares.chat("other", "say:still here")).response).toBe("still here");
      await until("the reason to arrive", () => far.shown.length === 1);
      expect(far.shown[0]!.text).toContain(`${STOPPED} To see what it was doing: `);
    });
  }, 60_000);

  it("a send that blocks: the delivery fails visibly, and the next one to that chat goes out (OUTBOX-4)", async () => {
    await hook(async (lares, far) => {
      const block = { LARES_BLOCK_AT: "outbox.claimed~TILDES" };
      await lares.start(block);
      await say(lares, far, "say:TILDES and more");
      await stalled(lares, "delivery");
      await lares.kill9();
      lares.spawn(block);
      await stalled(lares, "delivery");
      await lares.kill9();
      await lares.start(block);
      const { turns } = await lares.rpc("turns.list", {});
      const turn = await until("the delivery to be given up", async () => {
        const found = await lares.rpc("turns.get", { turn: turns[0]!.turn });
        return found.deliveries[0]?.state === "failed" ? found : undefined;
      });
      expect(turn.state).toBe("answered");
      expect(turn.deliveries[0]!.error).toBe(STOPPED);
      expect(far.shown).toEqual([]);
      await say(lares, far, "say:hello");
      await until("the next answer", () => far.shown.length === 1);
      expect(far.shown[0]!.text).toBe("hello");
    });
  }, 60_000);
});

it.concurrent("a look that blocks pauses its watcher with the reason, until somebody resumes it", async () => {
  const dir = scratch("watched");
  mkdirSync(dir, { recursive: true });
  const config = { watch: { drop: { kind: "files", path: dir, everySeconds: 60 } } };
  await withLares({ config }, async (lares) => {
    const block = { LARES_BLOCK_AT: "watch.looking" };
    for (let life = 1; life <= 2; life++) {
      lares.spawn(block);
      await stalled(lares, "watch");
      await lares.kill9();
    }
    await lares.start(block);
    expect((await lares.chat("other", "say:still here")).response).toBe("still here");
    const watched = async () => (await lares.rpc("wakes.list", {})).wakes.find((wake) => wake.name === "drop")!;
    expect((await watched()).problem).toBe("Paused: it stopped Lares twice. To resume: lares watch resume drop");
    expect((await watched()).at).toBeUndefined();
    await lares.restart(HEALTHY);
    expect((await watched()).problem).toMatch(/^Paused/);
    expect((await watched()).lastAt).toBeUndefined();
    await lares.rpc("watch.resume", { name: "drop" });
    await until("the next look", async () => (await watched()).lastAt);
    expect((await watched()).problem).toBeUndefined();
  });
}, 60_000);

it.concurrent("an import that blocks is refused the third time, with the reason", async () => {
  const dir = scratch("import");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "SOUL.md"), "A soul.\n");
  await withLares({}, async (lares) => {
    const block = { LARES_BLOCK_AT: "import.reading" };
    for (let life = 1; life <= 2; life++) {
      await lares.start(block);
      lares.rpc("import.run", { from: "hermes", dir }).catch(() => {});
      await stalled(lares, "import");
      await lares.kill9();
    }
    await lares.start(HEALTHY);
    await expect(lares.rpc("import.run", { from: "hermes", dir })).rejects.toThrow(/stopped Lares/);
    expect((await lares.rpc("import.run", { from: "hermes", dir })).items.length).toBeGreaterThan(0);
  });
}, 60_000);

describe.concurrent("what comes back by itself", () => {
  /** Two lives that block there, each killed once that is noted. */
  const twice = async (
    lares: Lares,
    block: Record<string, string>,
    work: Parameters<typeof stalled>[1],
    provoke: () => Promise<void> | void,
  ) => {
    for (let life = 1; life <= 2; life++) {
      await lares.start(block);
      await provoke();
      await stalled(lares, work);
      await lares.kill9();
    }
    await lares.start(block);
  };
  const answers = async (lares: Lares) =>
    expect((await lares.chat("other", "say:still here")).response).toBe("still here");

  it("an event that a platform sends again is passed over, counted, and the next one is answered (INTAKE-3)", async () => {
    const far = await startFarSide({ dedupes: false });
    const config = { channels: { webhook: { far: { secret: far.secret, url: far.url, dedupes: true } } } };
    try {
      await withLares({ config }, async (lares) => {
        const send = (id: string, text: string) => sendHook(lares, "far", far.secret, { id, chat: "c", text });
        const poison = () => send("e1", "say:POISON");
        await twice(lares, { LARES_BLOCK_AT: "channel.heard~POISON" }, "event", () => void poison().catch(() => {}));
        await poison();
        const { channels } = await lares.rpc("channels.list", {});
        expect(channels.find(({ name }) => name === "webhook/far")?.unreadable).toBe(1);
        await send("e2", "say:hello");
        await until("the next answer", () => far.shown.length === 1);
        expect(far.shown[0]!.text).toBe("hello");
        expect((await lares.rpc("turns.list", {})).turns).toHaveLength(1);
      });
    } finally {
      await far.close();
    }
  }, 60_000);

  it("an update that stalls the adapter's own reader is passed over, named in the status, and the next one is answered", async () => {
    const telegram = await startTelegram();
    const owner = { id: 42, first_name: "Ann" };
    const account = { token: telegram.token, apiUrl: telegram.url, paceMs: 0, owners: ["42"], dm: "allowlist" };
    try {
      await withLares({ config: { channels: { telegram: { main: account } } } }, async (lares) => {
        const block = { LARES_BLOCK_AT: "channel.reading~POISON" };
        await lares.start(block);
        await until("a poll", () => telegram.polling());
        telegram.say(42, owner, "say:POISON");
        telegram.say(42, owner, "say:behind it");
        await stalled(lares, "raw");
        await lares.kill9();
        // Telegram gives it again by itself.
        lares.spawn(block);
        await stalled(lares, "raw");
        await lares.kill9();
        await lares.start(block);
        await answers(lares);
        await until("the answer behind it", () => telegram.sent.some(({ text }) => text === "behind it"));
        const status = await lares.rpc("channels.status", { name: "telegram/main" });
        expect(status).toMatchObject({
          state: "ok",
          unreadable: 1,
          passedOver: [expect.stringMatching(/^message \d+$/)],
        });
        // Its place is stored: the next life asks for what comes after it.
        await lares.restart(HEALTHY);
        telegram.say(42, owner, "say:later");
        await until("the next answer", () => telegram.sent.some(({ text }) => text === "later"));
        expect(telegram.sent.some(({ text }) => text.includes("POISON"))).toBe(false);
      });
    } finally {
      await telegram.close();
    }
  }, 60_000);

  it("a document is left out until it changes", async () => {
    const dir = scratch("documents");
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "poison.md"), "# Poison\n\nThe otter sleeps.\n");
    writeFileSync(join(dir, "well.md"), "# Well\n\nThe heron fishes.\n");
    await withLares({ config: { memory: { documents: [dir], embedder: { use: "off" } } } }, async (lares) => {
      const found = async (query: string) => JSON.stringify(await lares.rpc("memory.search", { query }));
      const block = { LARES_BLOCK_AT: "memory.reading~poison.md" };
      for (let life = 1; life <= 2; life++) {
        lares.spawn(block);
        await stalled(lares, "document");
        await lares.kill9();
      }
      await lares.start(block);
      await answers(lares);
      await until("the other document", async () => (await found("heron")).includes("heron fishes"));
      expect(await found("otter")).not.toContain("otter sleeps");
      await lares.restart(HEALTHY);
      writeFileSync(join(dir, "poison.md"), "# No poison\n\nThe otter wakes up.\n");
      await until("the changed document", async () => (await found("otter")).includes("otter wakes"));
    });
  }, 60_000);

  it("messages that can't be indexed are left out of search, and the next ones are found", async () => {
    await withLares({ config: { memory: { capture: { use: "off" }, embedder: { use: "off" } } } }, async (lares) => {
      const block = { LARES_BLOCK_AT: "memory.reading~POISON" };
      await lares.start(block);
      send(lares, "bad", "say:POISON marmot");
      await stalled(lares, "index");
      await lares.kill9();
      // It begins by itself with the start.
      lares.spawn(block);
      await stalled(lares, "index");
      await lares.kill9();
      await lares.start(block);
      await answers(lares);
      await lares.chat("bad", "say:badger");
      await until("the next messages", async () =>
        JSON.stringify(await lares.rpc("memory.search", { query: "badger", in: ["sessions"] })).includes("badger"),
      );
    });
  }, 60_000);

  it("a conversation that can't be looked through for facts is skipped", async () => {
    const memory = { capture: { use: "rules", everyMessages: 1, idleSeconds: 0 }, embedder: { use: "off" } };
    await withLares({ config: { memory } }, async (lares) => {
      await lares.start();
      await lares.chat("owner", "say:fine");
      await lares.stop();
      await twice(lares, { LARES_BLOCK_AT: "memory.reading:2~POISON" }, "capture", () => {
        send(lares, "owner", "say:POISON");
      });
      await answers(lares);
    });
  }, 60_000);

  it("a webhook's delivery is refused (HOOKS-3)", async () => {
    const config = { hooks: { bell: { scheme: "bearer", secret: "a-secret-of-twenty-signs", text: "{{body.text}}" } } };
    await withLares({ config }, async (lares) => {
      const ring = (text: string) =>
        lares.request("POST", "/hooks/bell", {
          body: { text },
          headers: { authorization: "Bearer a-secret-of-twenty-signs" },
        });
      await twice(lares, { LARES_BLOCK_AT: "hook.filling~POISON" }, "hook", () => void ring("POISON").catch(() => {}));
      const refused = await ring("POISON");
      expect(refused.status).toBe(400);
      expect(refused.text).toContain(STOPPED);
      expect((await ring("fine")).status).toBe(202);
    });
  }, 60_000);
});

describe.concurrent("deaths that leave no note", () => {
  it("a turn that kills the process at once is given up, and meanwhile others are served", async () => {
    await withLares({ env: { LARES_CRASH_AT: "tool.running~poison" } }, async (lares) => {
      await lares.start();
      send(lares, "bad", POISON);
      // The model's reply was recorded in the first life; four more die in the tool without recording anything.
      for (let life = 2; life <= 5; life++) {
        await lares.gone;
        lares.spawn();
        // From the fourth death on it begins seconds after the start; before that a busy machine may not get to anybody else.
        if (life < 5) continue;
        await lares.ready();
        expect((await lares.chat(`other${life}`, "say:still here")).response).toBe("still here");
      }
      expect((await lares.gone).signal).toBe("SIGKILL");
      await lares.start();
      await checkThirdLife(lares);
    });
  }, 60_000);

  it("a storm of kills ends no turn", async () => {
    await withLares({}, async (lares) => {
      const users = Array.from({ length: 10 }, (_, i) => `u${i}`);
      await lares.start();
      for (const user of users) send(lares, user, "delay:700 say:done");
      await until("all to be taken", async () => (await lares.rpc("turns.list", { open: true })).turns.length === 10);
      for (let kill = 1; kill <= 8; kill++) await lares.restart();
      for (const user of users) {
        expect(await outcome(lares, user, "delay:700 say:done")).toMatchObject({ state: "answered", response: "done" });
      }
    });
  }, 60_000);
});

it.concurrent("a process that was suspended for longer than the limit is not ended", async () => {
  await withLares({}, async (lares) => {
    await lares.start();
    const { pid } = lares;
    process.kill(pid, "SIGSTOP");
    // There is nothing to wait for but time itself.
    await pause(8000);
    process.kill(pid, "SIGCONT");
    expect((await lares.chat("u", "delay:1500 say:awake")).response).toBe("awake");
    expect(noted(lares)?.how).toBe("died");
    expect(lares.pid).toBe(pid);
    expect(await lares.stop()).toMatchObject({ code: 0 });
  });
}, 30_000);
