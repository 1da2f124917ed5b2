/** What happens to a message that arrives during a turn: steer, followup, collect, interrupt, /stop. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  callExec,
  heldCommand,
  Lares,
  requestsWith,
  startLares,
  startModel,
  until,
  userTexts,
} from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: { policy: { mode: "record" }, gateway: { http: { wait: 0.05 } } },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

let count = 0;
/** A turn in the middle of a tool call, in a session of its own. */
async function busy(words = "say:first done {results}") {
  const user = `user${++count}`;
  const held = heldCommand(lares.workspace(), user);
  const text = `#${user}-1 ${callExec(held.command)} then: ${words}`;
  const first = lares.chat(user, text);
  await held.begun();
  const send = (message: string, mode?: "steer" | "followup" | "collect" | "interrupt") =>
    lares.rpc("chat.send", { user, message, wait: false, ...(mode ? { mode } : {}) });
  return { user, held, text, first, send };
}

describe("steer", () => {
  it("a message sent during a tool call is in the next model call (LANES-3)", async () => {
    const { held, first, send, user, text } = await busy("say:I saw {seen}");
    const steered = await send(`${user} please hurry`);
    held.release();
    expect((await first).response).toBe(`I saw ${user} please hurry`);
    const calls = requestsWith(model, `#${user}-1`);
    expect(calls.map(userTexts)).toEqual([[text], [text, `${user} please hurry`]]);
    const end = await lares.rpc("turns.wait", { turn: steered.turn });
    expect(end).toMatchObject({ state: "answered", joined: (await first).turn, response: (await first).response });
    expect((await lares.rpc("turns.get", { turn: steered.turn })).state).toBe("joined");
  });

  it("several are all there, in the order they were sent", async () => {
    const { held, first, send, user } = await busy("say:ok");
    for (const n of [1, 2, 3, 4]) await send(`${user} steer ${n}`);
    held.release();
    await first;
    expect(userTexts(requestsWith(model, `#${user}-1`)[1]!).slice(1)).toEqual(
      [1, 2, 3, 4].map((n) => `${user} steer ${n}`),
    );
  });

  it("one that comes during the last model call is answered by a turn of its own", async () => {
    const first = lares.chat("late", "#late delay:300 say:first");
    await until("the model to be asked", () => requestsWith(model, "#late")[0]);
    const second = await lares.chat("late", "late steer");
    expect((await first).response).toBe("first");
    expect(second).toMatchObject({ state: "answered", response: "echo: late steer" });
    expect(second.joined).toBeUndefined();
  });
});

describe("followup", () => {
  it("waits for the turn to end and gets one of its own", async () => {
    const { held, first, send, user, text } = await busy("say:first");
    const next = await send(`${user} followup`, "followup");
    held.release();
    expect((await first).response).toBe("first");
    expect(await lares.rpc("turns.wait", { turn: next.turn })).toMatchObject({ response: `echo: ${user} followup` });
    const calls = requestsWith(model, `#${user}-1`);
    expect(calls.map(userTexts)).toEqual([[text], [text], [text, `${user} followup`]]);
  });
});

describe("collect", () => {
  it("messages that wait are answered together by one turn", async () => {
    const { held, first, send, user } = await busy("say:first");
    const waiting = [
      await send(`${user} a`, "collect"),
      await send(`${user} b`, "collect"),
      await send(`${user} c`, "collect"),
    ];
    held.release();
    expect((await first).response).toBe("first");
    const ends = await Promise.all(waiting.map(({ turn }) => lares.rpc("turns.wait", { turn })));
    expect(ends.map((end) => end.response)).toEqual(Array(3).fill(`echo: ${user} a | ${user} b | ${user} c`));
    expect(ends.map((end) => end.joined)).toEqual([undefined, waiting[0]!.turn, waiting[0]!.turn]);
    expect(requestsWith(model, `${user} a`)).toHaveLength(1);
  });
});

describe("interrupt", () => {
  it("the running turn ends visibly and the message is next", async () => {
    const { first, send, user } = await busy("say:never said");
    const next = await send(`${user} interrupts`, "interrupt");
    const stopped = await first;
    expect(stopped.state).toBe("stopped");
    expect(stopped.response).toBeTruthy();
    const end = await lares.rpc("turns.wait", { turn: next.turn });
    expect(end.state).toBe("answered");
    const last = requestsWith(model, `${user} interrupts`)[0]!;
    expect(userTexts(last).at(-1)).toBe(`${user} interrupts`);
    // The call that was stopped has its result, so the history is whole.
    const { messages } = await lares.rpc("chat.history", { session: end.session });
    const results = messages.filter((m) => m.role === "tool").flatMap((m) => m.content);
    expect(JSON.stringify(results)).toMatch(/stopped/i);
  });

  it("during a model call: the interrupted message is in the history once, in order", async () => {
    const first = lares.chat("imo", "#imo delay:20000 say:never");
    await until("the model to be asked", () => requestsWith(model, "#imo")[0]);
    const next = await lares.rpc("chat.send", { user: "imo", message: "instead say:this", mode: "interrupt" });
    expect((await first).state).toBe("stopped");
    expect(next.response).toBe("this");
    const { messages } = await lares.rpc("chat.history", { session: next.session });
    const texts = messages.filter((m) => m.role === "user").map((m) => (m.content.at(-1) as { text: string }).text);
    expect(texts).toEqual(["#imo delay:20000 say:never", "instead say:this"]);
  });
});

describe("/stop", () => {
  it("ends the turn with a visible outcome, and the command itself is answered at once (TURNS-1)", async () => {
    const { first, user } = await busy("say:never said");
    const word = await lares.chat(user, "/stop");
    expect(word).toMatchObject({ state: "answered", response: "Stopping." });
    const end = await first;
    expect(end.state).toBe("stopped");
    expect(end.response).toBeTruthy();
    expect(await lares.chat(user, "say:I am back")).toMatchObject({ state: "answered", response: "I am back" });
    expect(requestsWith(model, "/stop")).toHaveLength(0);
  });

  it("during a model call the call is given up", async () => {
    const first = lares.chat("stan", "#stan delay:20000 say:never");
    await until("the model to be asked", () => requestsWith(model, "#stan")[0]);
    await lares.chat("stan", "/stop");
    expect((await first).state).toBe("stopped");
    await until("the connection to be closed", () => requestsWith(model, "#stan")[0]!.aborted);
  });

  // Admitted and nothing stopped yet; the stop durable and nothing more.
  it.each(["accept.committed:2", "resume.committed"])(
    "that a platform sends again after a crash at %s stops no later turn",
    async (point) => {
      const lares = new Lares({ env: model.env });
      try {
        await lares.start({ LARES_CRASH_AT: point });
        const old = lares.chat("rep", `#${point}-1 delay:20000 say:never`, { key: "old" }).catch(() => {});
        await until("the model to be asked", () => requestsWith(model, `#${point}-1`)[0]);
        await lares.chat("rep", "/stop", { key: "stop" }).catch(() => {});
        await Promise.all([lares.gone, old]);
        await lares.start({ LARES_CRASH_AT: "" });
        expect(await lares.chat("rep", `#${point}-1 delay:20000 say:never`, { key: "old" })).toMatchObject({
          state: "stopped",
        });

        const later = lares.chat("rep", `#${point}-2 delay:1500 say:went on`, { key: "later" });
        await until("the model to be asked", () => requestsWith(model, `#${point}-2`)[0]);
        const again = await lares.chat("rep", "/stop", { key: "stop" });
        expect(again).toMatchObject({ state: "answered", response: "Stopping.", duplicate: true });
        expect(await later).toMatchObject({ state: "answered", response: "went on" });
      } finally {
        await lares.dispose();
      }
    },
  );

  it("with nothing running it says so", async () => {
    expect((await lares.chat("nobody-runs", "/stop")).response).toBe("Nothing is running.");
  });
});
