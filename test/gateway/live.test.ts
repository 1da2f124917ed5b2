/** Events over the socket: numbers, coming back, slow readers, and a page opened in the middle of an answer. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LiveEvent } from "../../src/core/domain/index.ts";
import { asId } from "../../src/core/domain/index.ts";
import { makeBus } from "../../src/core/kit/index.ts";
import { EventStream, type Numbered } from "../../src/faces/gateway/live/events.ts";
import { LAG_CLOSE, LAG_MERGE, type Pipe, SocketOutput } from "../../src/faces/gateway/live/outgoing.ts";
import type { ModelServer } from "../fakes/model-server/index.ts";
import { pretend } from "../support/pretend.ts";
import { bearer, openScripted, Socket, type TestInstance, TOKEN, until } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
beforeAll(async () => {
  instance = await openScripted();
});
afterAll(() => instance.stop());

describe("the stream of events", () => {
  test("a turn is seen from its acceptance to its end, numbered without going back", async () => {
    const socket = new Socket(instance.app.url, bearer());
    await socket.event("hello");
    await socket.call("chat.send", { message: 'say:looking tool:list {"path":"."} then: say:all done', user: "seen" });
    await socket.event("turn.ended");
    const events = socket.frames.filter((f) => f.type === "event");
    const names = events.map((f) => f.event);
    for (const name of [
      "turn.accepted",
      "turn.started",
      "turn.step",
      "turn.delta",
      "tool.call",
      "tool.result",
      "turn.ended",
    ]) {
      expect(names).toContain(name);
    }
    const numbers = events.slice(1).map((f) => f.seq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    socket.close();
  });

  test("LIVE-2 who comes back with the last number gets every control event it missed, once and in order", async () => {
    const first = new Socket(instance.app.url);
    await first.opened();
    const hello = await first.call("connect", { token: TOKEN });
    const { boot } = (hello as { payload: { boot: string } }).payload;
    await first.call("chat.send", { message: "say:before", user: "back" });
    const ended = await first.event("turn.ended");
    first.close();
    await first.over();
    const missed = await instance.rpc("chat.send", { message: "say:missed", user: "back" });
    const again = new Socket(instance.app.url, bearer());
    await again.event("hello");
    await again.call("connect", { boot, lastSeq: ended.seq });
    const seen = await again.event("turn.ended", (p) => p.turn === missed.turn);
    expect(seen.payload).toMatchObject({ text: "missed" });
    expect(
      again.events("turn.accepted").filter((f) => (f.payload as { turn: string }).turn === missed.turn),
    ).toHaveLength(1);
    expect(again.events("turn.delta")).toHaveLength(0);
    expect(again.events("reload")).toHaveLength(0);
    again.close();
  });

  test("LIVE-2 another boot or a number from the future means reload", async () => {
    for (const params of [{ boot: "another", lastSeq: 1 }, undefined]) {
      const socket = new Socket(instance.app.url, bearer());
      const { boot } = (await socket.event("hello")).payload as { boot: string };
      await socket.call("connect", params ?? { boot, lastSeq: 1_000_000 });
      await socket.event("reload");
      socket.close();
    }
  });

  test("LIVE-2 what fell out of the ring means reload", () => {
    const bus = makeBus();
    const events = new EventStream(bus, { now: () => 0 });
    const one = (n: number) =>
      bus.emit({ event: "schedule.fired", schedule: String(n), session: asId("s"), turn: asId("t") });
    for (let n = 0; n < 5100; n++) one(n);
    expect(events.since(99, 1e9)).toBe("reload");
    expect(events.since(100, 1e9)).toHaveLength(5000);
    expect(events.since(5100, 1e9)).toHaveLength(0);
    expect(events.since(5101, 1e9)).toBe("reload");
  });

  test("log lines and changed settings are events; a token without the right to read gets none", async () => {
    const writer = await instance.rpc("tokens.create", { name: "writes only", scopes: ["write"] });
    const deaf = new Socket(instance.app.url, bearer(writer.token));
    await deaf.event("hello");
    const socket = new Socket(instance.app.url, bearer());
    await socket.event("hello");
    instance.log.warn("something to see", { key: "sk-secret-0123456789" });
    const line = await socket.event("log");
    expect(line.payload).toMatchObject({ level: "warn", what: "something to see" });
    expect(JSON.stringify(line)).not.toContain("sk-secret");
    await instance.rpc("config.set", { path: "limits.modelCalls", value: 20 });
    expect((await socket.event("config.changed")).payload).toMatchObject({
      changed: ["limits"],
      restart: [],
      problems: [],
    });
    expect(deaf.frames.filter((f) => f.type === "event" && f.event !== "hello")).toEqual([]);
    socket.close();
    deaf.close();
  });
});

describe("chat.live", () => {
  test("LIVE-4 a page opened in the middle of an answer gets what was said so far, and the rest as it comes", async () => {
    const socket = new Socket(instance.app.url, bearer());
    await socket.event("hello");
    const sent = await instance.rpc("chat.send", {
      message: "stall say:the first half and the second half",
      user: "mid",
      wait: false,
    });
    const first = await socket.event("turn.delta", (p) => p.turn === sent.turn);
    const live = await until("some text", async () => {
      const now = await instance.rpc("chat.live", { session: sent.session });
      return now.turns[0]?.text ? now : undefined;
    });
    expect(live.turns).toHaveLength(1);
    expect(live.turns[0]).toMatchObject({ turn: sent.turn, state: "running", call: 0 });
    expect("the first half and the second half".startsWith(live.turns[0]!.text!)).toBe(true);
    expect(live.turns[0]!.text).toContain((first.payload as { text: string }).text);
    expect(live.seq).toBeGreaterThanOrEqual(first.seq);
    expect(live.turns[0]!.calls[0]!.id).toBe(`${sent.turn}:0:0:reply`);
    // A second message waits for the running call and is shown as waiting.
    await instance.rpc("chat.send", { message: "and another", user: "mid", wait: false });
    const both = await instance.rpc("chat.live", { session: sent.session });
    expect(both.turns.map((t) => t.message)).toContain("and another");
    await instance.rpc("chat.abort", { turn: sent.turn });
    await socket.event("turn.ended", (p) => p.turn === sent.turn);
    // The script stalls again for the message that waited.
    await until("nothing open", async () => {
      await instance.rpc("chat.abort", { session: sent.session });
      return (await instance.rpc("chat.live", { session: sent.session })).turns.length === 0 || undefined;
    });
    socket.close();
  });

  test("a session where nothing runs has no turns", async () => {
    const { session } = await instance.rpc("chat.send", { message: "say:over", user: "idle" });
    expect((await instance.rpc("chat.live", { session })).turns).toEqual([]);
  });
});

describe("a slow client", () => {
  function slow() {
    const sent: { event: string; payload: { turn?: string; text?: string }; seq: number }[] = [];
    const pipe: Pipe & { bufferedAmount: number; closed?: [number, string] } = {
      bufferedAmount: 0,
      send: (text) => sent.push(JSON.parse(text) as (typeof sent)[number]),
      close(code, reason) {
        pipe.closed = [code, reason];
      },
    };
    const bus = makeBus();
    const events = new EventStream(bus, { now: () => 0 });
    const outgoing = new SocketOutput(pipe);
    events.on((event: Numbered) => outgoing.push(event));
    const delta = (turn: string, text: string) =>
      bus.emit(pretend<LiveEvent>({ event: "turn.delta", session: "s", turn, call: 0, text }));
    const control = (turn: string, event = "turn.ended") =>
      bus.emit(pretend<LiveEvent>({ event, session: "s", turn, call: 0, state: "answered", text: "" }));
    return { sent, pipe, outgoing, delta, control };
  }

  test("LIVE-3 gets text merged, whole and before the control event that follows it", () => {
    const { sent, pipe, delta, control } = slow();
    delta("a", "one ");
    pipe.bufferedAmount = LAG_MERGE + 1;
    for (const word of ["two ", "three ", "four"]) delta("a", word);
    delta("b", "other");
    expect(sent).toHaveLength(1);
    control("a");
    expect(sent.map((f) => f.event)).toEqual(["turn.delta", "turn.delta", "turn.ended"]);
    expect(sent[1]!.payload.text).toBe("two three four");
    expect(sent.map((f) => f.seq)).toEqual([1, 4, 6]);
    control("b");
    expect(sent.at(-2)!.payload).toMatchObject({ turn: "b", text: "other" });
  });

  test("LIVE-3 gets the merged text when it has caught up, and nothing of what became void", async () => {
    const { sent, pipe, delta, control } = slow();
    pipe.bufferedAmount = LAG_MERGE + 1;
    delta("a", "void");
    control("a", "turn.discarded");
    delta("a", "good");
    pipe.bufferedAmount = 0;
    await until("the flush", () => sent.length === 2 || undefined);
    expect(sent.map((f) => [f.event, f.payload.text])).toEqual([
      ["turn.discarded", ""],
      ["turn.delta", "good"],
    ]);
  });

  test("LIVE-3 loses no control event, and is closed with a reason beyond a bound", () => {
    const { sent, pipe, control, delta } = slow();
    pipe.bufferedAmount = LAG_CLOSE - 1;
    control("a");
    control("b");
    expect(sent).toHaveLength(2);
    pipe.bufferedAmount = LAG_CLOSE + 1;
    delta("c", "x");
    expect(pipe.closed).toEqual([4008, "too slow: reload"]);
    control("c");
    expect(sent).toHaveLength(2);
  });

  test("a client that stops reading is cut off, and the others are not slowed", async () => {
    const stuck = new Socket(instance.app.url, bearer());
    await stuck.event("hello");
    const good = new Socket(instance.app.url, bearer());
    await good.event("hello");
    const open = async () =>
      Number(/^lares_sockets (\d+)$/m.exec((await instance.ask("/metrics", { headers: bearer() })).text)![1]);
    const before = await open();
    // Nothing is read from the wire any more: the kernel's buffers fill, then ours.
    pretend<{ _socket: { pause(): void } }>(stuck.raw)._socket.pause();
    const words = "long ".repeat(40_000);
    for (let n = 0; n < 40; n++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          instance.rpc("chat.send", { message: `/help ${n} ${i} ${words}`, user: `flood ${i}` }),
        ),
      );
      if ((await open()) < before) break;
    }
    expect(await open()).toBe(before - 1);
    expect((await good.call("health")).ok).toBe(true);
    expect(good.events("turn.accepted").length).toBeGreaterThan(50);
    stuck.raw.terminate();
    good.close();
  });
});
