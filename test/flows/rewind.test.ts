/** An edited message takes the place of the old one: for the model, in the records, and through a power cut. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { callExec, type Lares, requestsWith, startLares, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const session = (name: string) => `agent:main:web:${name}`;
const send = (name: string, message: string, replaces?: string) =>
  lares.rpc("chat.send", { message, session: session(name), ...(replaces ? { replaces } : {}) });
const history = async (name: string) => (await lares.rpc("chat.history", { session: session(name) })).messages;
/** What the newest request with this text showed the model, as one string. */
const shown = (text: string) => JSON.stringify(requestsWith(model, text).at(-1)!.messages);

it("the model sees the edited message instead of the old one and what followed; the originals stay, marked", async () => {
  await send("a", "#a-first");
  const old = await send("a", "#a-second");
  await send("a", "#a-third");
  const edited = await send("a", "#a-EDITED", old.turn);
  expect(edited).toMatchObject({ state: "answered", response: "echo: #a-EDITED" });
  expect(shown("#a-EDITED")).toContain("#a-first");
  expect(shown("#a-EDITED")).not.toMatch(/#a-(second|third)/);
  const seen = (await history("a")).map((m) => [JSON.stringify(m.content).match(/#a-\w+/)?.[0], m.replacedBy]);
  const gone = edited.turn;
  expect(seen).toEqual([
    ["#a-first", undefined],
    ["#a-first", undefined],
    ["#a-second", gone],
    ["#a-second", gone],
    ["#a-third", gone],
    ["#a-third", gone],
    ["#a-EDITED", undefined],
    ["#a-EDITED", undefined],
  ]);
  // An export carries the marks, and what is imported elsewhere keeps them.
  const { lines } = await lares.rpc("sessions.export", { session: session("a") });
  await lares.rpc("sessions.import", { session: session("copy"), lines });
  await send("copy", "#a-later");
  expect(shown("#a-later")).not.toMatch(/#a-(second|third)/);
  await expect(send("a", "again", old.turn)).rejects.toThrow(/already replaced/);
  await expect(send("b", "no", old.turn)).rejects.toThrow(/no message of turn/);
});

it("what runs or waits for the old message makes way, and its question is withdrawn", async () => {
  const message = `#c-old ${callExec("touch never.txt")}`;
  const parked = await lares.rpc("chat.send", { message, session: session("c"), wait: false });
  const state = async () => (await lares.rpc("turns.get", { turn: parked.turn })).state;
  await until("the question", async () => (await state()) === "parked");
  const [asked] = (await lares.rpc("approvals.list", { session: session("c") })).approvals;
  const edited = await send("c", "#c-new", parked.turn);
  expect(edited).toMatchObject({ state: "answered", response: "echo: #c-new" });
  expect(shown("#c-new")).not.toContain("#c-old");
  await until("the old turn's end", async () => (await state()) === "stopped");
  expect((await lares.rpc("approvals.get", { id: asked!.id })).state).toBe("withdrawn");

  const stalled = await lares.rpc("chat.send", {
    message: "#d-old stall say:late",
    session: session("d"),
    wait: false,
  });
  await until("the model call", () => requestsWith(model, "#d-old").length > 0);
  expect((await send("d", "#d-new", stalled.turn)).response).toBe("echo: #d-new");
  expect(shown("#d-new")).not.toContain("#d-old");
  expect((await lares.rpc("turns.get", { turn: stalled.turn })).state).toBe("stopped");
});

it("dies when it has gone back but not asked yet: the edit is there once, with the same view", async () => {
  const name = "kill";
  await send(name, `#${name}-first`);
  const old = await send(name, `#${name}-second`);
  await lares.kill9();
  await lares.start({ LARES_CRASH_AT: "step.recorded" });
  const edit = {
    message: `#${name}-EDITED`,
    session: session(name),
    replaces: old.turn,
    idempotencyKey: `edit-${name}`,
  };
  await lares.rpc("chat.send", edit).catch(() => {});
  await lares.gone;
  await lares.start();
  const answer = await lares.rpc("chat.send", edit);
  expect(answer).toMatchObject({ state: "answered", response: `echo: #${name}-EDITED` });
  expect(shown(`#${name}-EDITED`)).toContain(`#${name}-first`);
  expect(shown(`#${name}-EDITED`)).not.toContain(`#${name}-second`);
  const kept = await history(name);
  expect(kept.map((m) => m.replacedBy)).toEqual([undefined, undefined, answer.turn, answer.turn, undefined, undefined]);
});
