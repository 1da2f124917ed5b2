/** The process dies around an upload: what was answered stays, what was not leaves nothing, and no message is half attached. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Lares, startModel, until } from "../support/index.ts";
import { makePdf } from "../support/pdf.ts";
import { parsersOf } from "../support/processes.ts";
import { PNG } from "./support.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model?.close());
afterEach(() => lares?.dispose());

const folder = () => join(lares.home, "attachments");
async function put(bytes: Buffer = PNG, name = "pixel.png"): Promise<string> {
  const answer = await fetch(`${lares.url}/attachments`, {
    method: "POST",
    headers: { authorization: `Bearer ${lares.token}`, "x-lares-name": name },
    body: new Uint8Array(bytes),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}
const images = () =>
  model.requests.at(-1)?.messages.flatMap((m) => m.parts.filter((part) => part.type === "image")) ?? [];

it("killed between upload and send, it leaves an unused attachment that can still be sent", async () => {
  lares = await new Lares({ env: model.env }).start();
  const id = await put();
  await lares.restart();
  expect(readdirSync(folder())).toEqual([id]);
  expect((await lares.rpc("sessions.list", {})).sessions).toEqual([]);
  const answer = await lares.rpc("chat.send", { message: "say:seen", user: "ana", attachments: [id] });
  expect(answer.response).toBe("seen");
  expect(images()).toHaveLength(1);
});

it("killed in the middle of an upload, it leaves nothing (ATTACHMENTS-1)", async () => {
  lares = await new Lares({ env: model.env }).start();
  const { port } = new URL(lares.url);
  const socket = connect(Number(port), "127.0.0.1", () =>
    socket.write(
      `POST /attachments HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${lares.token}\r\n` +
        "Content-Length: 1000\r\n\r\nwords words words",
    ),
  );
  socket.on("error", () => {});
  await until("the file to be begun", () => readdirSync(folder()).length === 1);
  await lares.restart();
  await until("the file to be gone", () => readdirSync(folder()).length === 0);
});

it("killed right after the message was accepted, the model sees the picture once, and a repeat is the same turn", async () => {
  lares = await new Lares({ env: model.env }).start({ LARES_CRASH_AT: "accept.committed" });
  const id = await put();
  const params = { message: "say:seen", user: "ana", attachments: [id], idempotencyKey: "k" };
  await lares.rpc("chat.send", params).catch(() => {});
  await lares.gone;
  await lares.start({ LARES_CRASH_AT: "" });
  const again = await lares.rpc("chat.send", params);
  expect(again).toMatchObject({ response: "seen", duplicate: true });
  expect(images()).toHaveLength(1);
  const { messages } = await lares.rpc("chat.history", { session: again.session });
  expect(messages.filter((m) => m.role === "user")).toHaveLength(1);
  await lares.rpc("sessions.delete", { session: again.session });
  expect(existsSync(join(folder(), id))).toBe(false);
});

it("a picture the agent reads is shown to the model in the result, is shown again after a kill, and goes with the session", async () => {
  lares = await new Lares({ env: model.env, config: { policy: { mode: "record" } } }).start();
  writeFileSync(join(lares.workspace(), "shot.png"), PNG);
  const read = 'tool:read {"path":"shot.png"}';
  const { session } = await lares.chat("ana", `${read} then: ${read} then: say:seen`);
  const shown = () =>
    model.requests.at(-1)!.messages.flatMap((m) => m.parts.flatMap((part) => ("images" in part ? part.images! : [])));
  expect(shown()).toEqual(Array(2).fill({ mediaType: "image/png", data: PNG.toString("base64") }));
  // Twice the same picture is kept once, as it was when it was read.
  expect(readdirSync(folder())).toHaveLength(1);
  writeFileSync(join(lares.workspace(), "shot.png"), "no picture any more");
  await lares.restart();
  await lares.chat("ana", "say:still");
  expect(shown()).toHaveLength(2);
  await lares.rpc("sessions.delete", { session });
  expect(readdirSync(folder())).toEqual([]);
});

describe.skipIf(process.platform !== "linux")("PDFs that take long to read", () => {
  // Half a second each; on a busy machine far from the ten that a parser gets.
  const paper = makePdf("The bill is 42", ...Array<string>(600).fill(""));
  const send = async (over: object = {}) => {
    const attachments = await Promise.all([1, 2, 3, 4].map((n) => put(paper, `paper-${n}.pdf`)));
    const params = { message: "say:seen", user: "ana", attachments, idempotencyKey: "k", ...over };
    const { turn } = await lares.rpc("chat.send", { ...params, wait: false });
    // The message is accepted, and they are still being read.
    await until("a parser", () => parsersOf(lares.pid)[0]);
    return { turn, params };
  };

  it("do not keep their message at the door; killed while they are read, the model gets their text, once (ATTACHMENTS-5)", async () => {
    model.reset();
    lares = await new Lares({ env: model.env }).start();
    const { turn, params } = await send();
    expect(model.requests).toEqual([]);
    await lares.kill9();
    await lares.start();
    expect(await lares.rpc("chat.send", params)).toMatchObject({ turn, response: "seen", duplicate: true });
    const read = model.requests.flatMap((request) => JSON.stringify(request.messages).match(/The bill is 42/g) ?? []);
    expect(read).toHaveLength(4);
    const { session } = await lares.rpc("turns.get", { turn });
    const { messages } = await lares.rpc("chat.history", { session });
    expect(messages.filter((m) => m.role === "user")).toHaveLength(1);
    expect(JSON.stringify(messages[0])).not.toMatch(/unread|not been read/);
  });

  it("are given up when the turn is stopped, and the history says that they were not read", async () => {
    lares = await new Lares({ env: model.env }).start();
    const { turn } = await send();
    await lares.rpc("chat.abort", { turn });
    const { session, state } = await lares.rpc("turns.wait", { turn });
    expect(state).toBe("stopped");
    await until("the parsers to be gone", () => parsersOf(lares.pid).length === 0);
    const { messages } = await lares.rpc("chat.history", { session });
    expect(JSON.stringify(messages[0])).toMatch(/paper-1\.pdf: PDF, \d+ kB\. It has not been read yet\./);
  });
});
