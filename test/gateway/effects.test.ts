/** What `config set` says about when a key takes effect is what happens. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "../../src/app/config.ts";
import type { Json } from "../../src/core/domain/index.ts";
import { explain, findEffect } from "../../src/ground/config/index.ts";
import type { ModelServer } from "../fakes/model-server/index.ts";
import { bearer, openScripted, type TestInstance } from "./support.ts";

test("every key has an effect, and every entry of the table leads to a key", () => {
  const keys = explain(schema).map(({ key }) => key.replaceAll("<name>", "x").replaceAll("[]", "[0]"));
  expect(keys.length).toBeGreaterThan(150);
  expect(keys.filter((key) => findEffect(schema, key) === undefined)).toEqual([]);
  const fits = (entry: string, key: string) => {
    const parts = key.split(/[.[]/);
    return entry.split(".").every((word, i) => word === "*" || word === parts[i]);
  };
  expect(Object.keys(schema.effects).filter((entry) => !keys.some((key) => fits(entry, key)))).toEqual([]);
});

describe("in a running instance", () => {
  let instance: TestInstance & { model: ModelServer };
  let site: { url: string; host: string; close(): void };
  beforeAll(async () => {
    instance = await openScripted({ config: "gateway:\n  http:\n    wait: 0.2\nagents:\n  other: {}\n" });
    const server = createServer((_request, response) => response.end("served by the site"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    site = { url: `http://127.0.0.1:${port}/`, host: `127.0.0.1:${port}`, close: () => server.close() };
  });
  afterAll(async () => {
    await instance.stop();
    site.close();
  });

  const set = (path: string, value?: Json) =>
    instance.rpc("config.set", { path, ...(value === undefined ? {} : { value }) });
  const say = (message: string, user: string) => instance.rpc("chat.send", { message, user });
  const offered = () => instance.model.requests.at(-1)!.tools;
  let n = 0;
  /** The model's request for a message in a conversation of its own. */
  const asked = async () => {
    await say("say:x", `asked-${n++}`);
    return instance.model.requests.at(-1)!;
  };
  const parked = async (user: string) => (await say('tool:exec {"command":"touch x && echo y"}', user)).approval!;

  test("web.privateHosts: at once, in an open conversation", async () => {
    const fetch = `tool:web_fetch {"url":"${site.url}"} then: say:{results}`;
    await set("policy.allow.web_fetch", ["127.0.0.1"]);
    expect((await say(fetch, "web")).response).not.toContain("served by the site");
    expect(await set("web.privateHosts", [site.host])).toMatchObject({ effect: "live", restart: [] });
    expect((await say(fetch, "web")).response).toContain("served by the site");
    await set("web.privateHosts");
    expect((await say(fetch, "web")).response).not.toContain("served by the site");
  });

  test("web.search: in new conversations, and in an open one after /reload", async () => {
    await say("say:x", "early");
    expect(offered()).not.toContain("web_search");
    expect(await set("web.search", { provider: "searxng", baseUrl: site.url })).toMatchObject({ effect: "session" });
    await say("say:x", "early");
    expect(offered()).not.toContain("web_search");
    await say("say:x", "late");
    expect(offered()).toContain("web_search");
    await say("/reload", "early");
    await say("say:x", "early");
    expect(offered()).toContain("web_search");
    await set("web.search");
  });

  test.each<[string, Json, () => Promise<unknown>, unknown]>([
    [
      "limits.modelCalls",
      1,
      async () => {
        await say('tool:list {"path":"."} then: say:z', "l");
        return JSON.stringify(instance.model.requests.at(-1)!.body).includes("Answer now, without tools");
      },
      true,
    ],
    [
      "policy.mode",
      "ignore",
      async () => (await say('tool:exec {"command":"touch x && echo y"} then: say:ran', "p")).state,
      "answered",
    ],
    [
      "agents.main.policy.mode",
      "ignore",
      async () => (await say('tool:exec {"command":"touch x && echo y"} then: say:ran', "ap")).state,
      "answered",
    ],
    [
      "approvals.expireAfterHours",
      3,
      async () => Math.round(((await parked("e1")).deadline - Date.now()) / 3_600_000),
      3,
    ],
    [
      "agents.main.expireAfterHours",
      5,
      async () => Math.round(((await parked("e2")).deadline - Date.now()) / 3_600_000),
      5,
    ],
    ["budgets.perDay.calls", 0, async () => (await say("say:x", "b")).failure, "budget"],
    ["models.maxOutputTokens", 123, async () => (await asked()).body.max_tokens, 123],
    ["agents.main.model", "practice/practice", async () => (await say("hello", "am")).practice, true],
    ["routing.defaultAgent", "other", async () => (await say("say:x", "r")).agent, "other"],
    ["time.zone", "Asia/Tokyo", async () => JSON.stringify((await asked()).messages).includes("+09:00"), true],
    [
      "gateway.http.maxBodyBytes",
      70_000,
      async () =>
        (await instance.ask("/rpc/health", { method: "POST", headers: bearer(), body: "x".repeat(70_100) })).status,
      413,
    ],
    [
      "hooks.door",
      { scheme: "bearer", secret: "s".repeat(32) },
      async () =>
        (
          await instance.ask("/hooks/door", {
            method: "POST",
            headers: { authorization: `Bearer ${"s".repeat(32)}`, "content-type": "application/json" },
            body: "{}",
          })
        ).status < 300,
      true,
    ],
    [
      "schedules",
      [{ name: "daily", every: "1 day", prompt: "x" }],
      async () => (await instance.rpc("schedule.list", {})).jobs.some((j) => j.name === "daily"),
      true,
    ],
  ])("%s: at once", async (path, value, probe, expected) => {
    expect(await probe()).not.toEqual(expected);
    expect(await set(path, value)).toMatchObject({ effect: "live", restart: [] });
    expect(await probe()).toEqual(expected);
    await set(path);
  });

  test("agents.*.name and skills: in new conversations", async () => {
    await say("say:x", "named");
    expect(await set("agents.main.name", "Vesta")).toMatchObject({ effect: "session" });
    await say("say:x", "named");
    expect(instance.model.requests.at(-1)!.system).not.toContain("Vesta");
    await say("say:x", "named-later");
    expect(instance.model.requests.at(-1)!.system).toContain("Vesta");
    await set("agents.main.name");
  });

  test("gateway and lanes: only after a restart, and the status says so", async () => {
    for (const [path, value] of [
      ["gateway.hosts", ["lares.example"]],
      ["gateway.trustedProxies", ["10.0.0.1"]],
      ["lanes.interactive", 7],
    ] as const) {
      const { effect, restart } = await set(path, value as Json);
      expect([effect, restart]).toEqual(["restart", [path.split(".")[0]]]);
      expect((await instance.rpc("config.get", { path })).value).not.toEqual(value);
      await set(path);
    }
  });
});
