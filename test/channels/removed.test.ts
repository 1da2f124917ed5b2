/** An account that was removed and added again starts as new: what it had seen, whom it knew and how far it was are forgotten. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Lares, startLares, startModel, until } from "../support/index.ts";

const TOKEN = "a-token-of-the-program-itself";
let lares: Lares;
let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

/** Sends these as the account's program; the outcomes of their acks. */
async function speak(messages: { id: string; content: string }[]): Promise<string[]> {
  const socket = new WebSocket(`${lares.url.replace("http", "ws")}/ws`);
  const acks = new Map<string, string>();
  let isIn = false;
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { type: string; id: string; ok?: boolean; outcome?: string };
    if (frame.type === "res") isIn = frame.ok === true;
    if (frame.type === "ack") acks.set(frame.id, frame.outcome ?? "");
    if (frame.type === "outbound_message") socket.send(JSON.stringify({ type: "ack", id: frame.id }));
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const params = { role: "channel", channelId: "sms", token: TOKEN };
  socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
  await until("the program to be let in", () => isIn);
  for (const m of messages) socket.send(JSON.stringify({ type: "inbound_message", userId: "ann", ...m }));
  await until("the acks", () => acks.size === messages.length);
  socket.close();
  return messages.map((m) => acks.get(m.id)!);
}

test("the same message id after a removal is a new message in the same conversation", async () => {
  const fields = { token: TOKEN, dm: "allowlist", owners: ["ann"] };
  await lares.rpc("channels.add", { channel: "external", account: "sms", fields });
  const old = { id: "m-1", content: "say:first" };
  expect(await speak([old])).toEqual(["admitted"]);
  expect(await speak([old])).toEqual(["known"]);
  const before = await lares.rpc("sessions.list", {});
  const [session] = before.sessions;
  await until("the first answer", async () => (await lares.rpc("turns.list", { open: true })).turns.length === 0);

  await expect(lares.rpc("channels.remove", { name: "sms" })).rejects.toMatchObject({
    error: { hint: 'Did you mean "external/sms"?' },
  });
  await lares.rpc("channels.remove", { name: "external/sms" });
  await lares.rpc("channels.add", { channel: "external", account: "sms", fields });
  expect(await speak([{ id: "m-1", content: "say:second" }])).toEqual(["admitted"]);
  await until("the second answer", async () => (await lares.rpc("turns.list", { open: true })).turns.length === 0);
  const { messages } = await lares.rpc("chat.history", { session: session!.session });
  expect(messages.filter((m) => m.role === "user")).toHaveLength(2);
  expect(JSON.stringify(messages)).toContain("second");
  // What was answered before stays answered: nothing of the old turn runs again.
  expect((await lares.rpc("turns.list", { session: session!.session })).turns).toHaveLength(2);
});
