/** Whose conversation it is: keys that are used twice, tokens in conversations of others, names that cannot be one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, openScripted, type TestInstance } from "../gateway/support.ts";

let instance: TestInstance;
beforeAll(async () => {
  instance = await openScripted();
});
afterAll(() => instance.stop());

const post = (path: string, body: object, { key, token }: { key?: string; token?: string } = {}) =>
  instance.ask(path, {
    method: "POST",
    headers: { ...bearer(token), "content-type": "application/json", ...(key ? { "idempotency-key": key } : {}) },
    body: JSON.stringify(body),
  });
const sessions = async () =>
  (await instance.rpc("sessions.list", { limit: 200 })).sessions.map((s) => s.session).sort();

describe("the same key", () => {
  test("/chat: again is the same turn; another text, user, agent or session is 409 with a sentence", async () => {
    const ask = (body: object) => post("/chat", { user_id: "ann", message: "say:one", ...body }, { key: "chat-1" });
    const first = await ask({});
    expect(first).toMatchObject({ status: 200, json: { response: "one" } });
    expect((await ask({})).json).toMatchObject({ turn: (first.json as { turn: string }).turn, duplicate: true });
    const { session } = first.json as { session: string };
    expect((await ask({ session })).status).toBe(200);
    for (const other of [{ message: "say:two" }, { user_id: "bob" }, { session: "agent:main:web:else" }]) {
      const answer = await ask(other);
      expect(answer.status, JSON.stringify(other)).toBe(409);
      expect(answer.json).toMatchObject({ error: { code: "CONFLICT", message: expect.stringContaining("key") } });
    }
  });

  test("/v1: again is the same turn; another text, user or history is 409", async () => {
    const body = { model: "lares", user: "cas", messages: [{ role: "user", content: "say:first" }] };
    const ask = (more: object) => post("/v1/chat/completions", { ...body, ...more }, { key: "v1-1" });
    expect((await ask({})).status).toBe(200);
    expect((await ask({})).status).toBe(200);
    expect((await ask({ user: "dee" })).status).toBe(409);
    const other = await ask({ messages: [{ role: "user", content: "say:second" }] });
    expect(other.status).toBe(409);
    expect(other.text).toContain("Use a new key for a new message");
    const input = (text: string) => post("/v1/responses", { model: "lares", input: text }, { key: "v1-2" });
    expect((await input("say:x")).status).toBe(200);
    expect((await input("say:y")).status).toBe(409);
  });

  test("at the same moment with other words: one is admitted, the other is 409", async () => {
    const both = ["say:left", "say:right"].map((message) =>
      post("/chat", { user_id: "race", message }, { key: "race-1" }),
    );
    const seen = (await Promise.all(both)).map((answer) => answer.status).sort();
    expect(seen).toEqual([200, 409]);
  });
});

describe("a token that may write and not read", () => {
  let token: string;
  let id: string;
  let theirs: string;
  let turn: string;
  beforeAll(async () => {
    ({ token, id } = await instance.rpc("tokens.create", { name: "writer", scopes: ["write"] }));
    const sent = await post("/chat", { user_id: "owner", message: "say:private" });
    ({ session: theirs, turn } = sent.json as { session: string; turn: string });
  });

  test("talks in its own conversations, and goes on in them", async () => {
    const first = await post("/chat", { user_id: "me", message: "say:mine" }, { token });
    expect(first.status).toBe(200);
    const { session } = first.json as { session: string };
    expect((await post("/chat", { user_id: "me", message: "say:more", session }, { token })).status).toBe(200);
    const named = `agent:main:http:${id}:notes`;
    const slip = await post("/chat", { user_id: "me", message: "say:new", session: named }, { token });
    expect(slip.status).toBe(404);
    expect(slip.text).toContain("give a name as user instead of session");
    const begun = await post("/chat", { user_id: "notes", message: "say:new" }, { token });
    expect(begun.json).toMatchObject({ session: named });
    expect((await post("/rpc/sessions.rename", { session: named, title: "Notes" }, { token })).status).toBe(200);
  });

  test("cannot speak, stop, rename, empty or delete in a conversation of the owner's", async () => {
    const before = await instance.rpc("sessions.get", { session: theirs });
    const tries: [string, object][] = [
      ["chat.send", { message: "say:hello", session: theirs }],
      ["chat.abort", { session: theirs }],
      ["chat.abort", { turn }],
      ["sessions.rename", { session: theirs, title: "mine" }],
      ["sessions.reset", { session: theirs }],
      ["sessions.delete", { session: theirs }],
      ["context.compact", { session: theirs }],
      ["undo.turn", { turn }],
      ["wakes.send", { session: theirs, text: "wake" }],
      ["wakes.send", { session: "main", text: "wake" }],
    ];
    for (const [method, params] of tries) {
      const answer = await post(`/rpc/${method}`, params, { token });
      expect(answer.status, `${method} ${answer.text}`).toBe(404);
    }
    const openai = { model: "lares", previous_response_id: `resp_${turn}`, input: "say:hello" };
    expect((await post("/v1/responses", openai, { token })).status).toBeGreaterThanOrEqual(400);
    expect(await instance.rpc("sessions.get", { session: theirs })).toMatchObject({ messages: before.messages });
  });

  test("hears the same about what is not there and what it may not see", async () => {
    const about = async (session: string) =>
      (await post("/rpc/chat.send", { message: "x", session }, { token })).text.replaceAll(session, "S");
    expect(await about(theirs)).toBe(await about("agent:main:http:owner:not-there"));
  });
});

describe("names", () => {
  test("that do not or cannot exist are refused, not created", async () => {
    const { token } = await instance.rpc("tokens.create", { name: "all but admin", scopes: ["read", "write"] });
    const before = await sessions();
    const never = [
      "nonsense",
      "agent",
      "agent:",
      "agent:main",
      "agent:nobody:main",
      "agent:main:telegram:bot:1",
      "agent:main:http:owner",
      "agent:main:http:owner:nosuch",
      "agent:main:ws:owner:nosuch",
      "agent:main:http:owner:a%3Ab",
      "agent:main:http:tok_other:x",
      "agent:main:peer:ann",
      "agent:main:web:a:b",
      "agent:main:http:owner:x#command",
      "agent:main:http:owner:a b",
      "agent:main:http:owner:a%zz",
      "agent:main:http::x",
      "cron:job:run:1",
      "sub:agent:main:main:1",
      "agent:main:__proto__:x",
      "agent:../main:main",
    ];
    for (const session of never) {
      const answer = await post("/rpc/chat.send", { message: "say:x", session });
      expect(answer.status, session).toBe(404);
      expect(answer.text).toContain("There is no conversation");
    }
    for (const session of ["agent:main:main", "agent:main:mine", "agent:main:http:owner:x"]) {
      expect((await post("/rpc/chat.send", { message: "say:x", session }, { token })).status, session).toBe(404);
    }
    expect((await post("/rpc/goals.add", { outcome: "x", session: "nonsense" })).status).toBe(404);
    expect(await sessions()).toEqual(before);
    const good: [string, string | undefined][] = [
      ["agent:main:main", undefined],
      ["agent:main:garden", undefined],
      ["agent:main:web:k3x9", undefined],
      ["agent:main:web:k3xa", token],
    ];
    for (const [session, as] of good) {
      const answer = await post("/rpc/chat.send", { message: "say:x", session }, as ? { token: as } : {});
      expect(answer.status, session).toBe(200);
    }
  });
});
