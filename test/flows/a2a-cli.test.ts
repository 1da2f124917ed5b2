/** `lares a2a …` as people type it: the real program, a peer, bad input, and what scripts read. */
import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { startPeer } from "../fakes/a2a/peer.ts";
import { PROGRAM, startLares, startModel } from "../support/index.ts";

async function start(config: object = {}) {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  /** `input`: what is on standard input; a terminal it never is. */
  const run = (args: string, input = "") =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token, LARES_COMMAND: "lares" };
      const child = spawn(process.execPath, [PROGRAM, "a2a", ...args.split(" "), "--home", lares.home], { env });
      let [out, err] = ["", ""];
      child.stdout.on("data", (part) => (out += String(part)));
      child.stderr.on("data", (part) => (err += String(part)));
      // Hints name the home, because it isn't the usual one.
      child.once("close", (code) => resolve({ code, out, err: err.replaceAll(` --home ${lares.home}`, "") }));
      child.stdin.end(input);
    });
  return { lares, run };
}

async function withPeer(token?: string) {
  const peer = await startPeer(token);
  onTestFinished(() => peer.close());
  return peer;
}

it("token: the token alone on standard output, what to do with it beside, and both in JSON", async () => {
  const { lares, run } = await start();
  const made = await run("token hermes");
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^lares_\S+\n$/) });
  expect(made.err).toContain("hermes can now ask your agents, as a guest");
  expect(made.err).toContain(lares.url);
  expect(made.err).toContain("lares tokens revoke");
  const card = await fetch(`${lares.url}/a2a/v1/tasks`, { headers: { authorization: `Bearer ${made.out.trim()}` } });
  expect(card.status).toBe(200);
  const { code, out } = await run("token scout --json");
  expect([code, JSON.parse(out)]).toMatchObject([0, { name: "scout", scopes: ["peer"], token: expect.any(String) }]);
  expect((await run("token")).code).toBe(2);
  expect(await run(`token ${"x".repeat(300)}`)).toMatchObject({ code: 2, out: "" });
});

it("list: nothing yet, then both directions; JSON has the same", async () => {
  const { run } = await start();
  const peer = await withPeer();
  expect((await run("list")).out).toContain("No agents of others yet.");
  expect(JSON.parse((await run("list --json")).out)).toEqual({ peers: [], tokens: [] });
  await run("token hermes");
  await run(`add far ${peer.url} --token-stdin`, "peer-token\n");
  const { out } = await run("list");
  expect(out).toMatch(/Yours may ask 1 agent\.\n\s+far\s+accepted\s+http:\/\/127\.0\.0\.1:\d+\n/);
  expect(out).toMatch(/1 token for agents that may ask yours\.\n\s+\w+\s+hermes/);
  expect(JSON.parse((await run("list --json")).out)).toMatchObject({
    peers: [{ name: "far", url: peer.url, enabled: true, accepted: true, open: 0 }],
    tokens: [{ name: "hermes", scopes: ["peer"] }],
  });
});

it("add: bad input is refused with a reason before anything is fetched or stored", async () => {
  const { lares, run } = await start();
  const peer = await withPeer();
  for (const [args, code, reason] of [
    [`add Far ${peer.url} --token-stdin`, 2, /"Far" can't be an agent's name[\s\S]*a-z, 0-9/],
    [`add far- ${peer.url} --token-stdin`, 2, /can't be an agent's name/],
    ["add far hermes.example.com --token-stdin", 2, /address|url/i],
    ["add far ftp://hermes.example.com --token-stdin", 2, /http/i],
    [`add far ${peer.url.replace("//", "//ana:secret@")} --token-stdin`, 2, /password in it[\s\S]*--token-stdin/],
    ["add far", 2, /address/],
  ] as const) {
    const done = await run(args, "peer-token");
    expect([args, done.code, done.out]).toEqual([args, code, ""]);
    expect(done.err).toMatch(reason);
    expect(done.err).not.toContain("secret@");
  }
  expect(await run(`add far ${peer.url} --token-stdin`, "\n")).toMatchObject({
    code: 2,
    err: expect.stringContaining("No token was given"),
  });
  expect(peer.requests).toBe(0);
  expect(await lares.rpc("secrets.list", {})).toMatchObject({ secrets: [] });
  expect((await lares.rpc("a2a.list", {})).peers).toEqual([]);
});

it("add: nobody there, no card there, a name that is taken, and a replacement", async () => {
  const { lares, run } = await start();
  const peer = await withPeer();
  const closed = await startPeer();
  await closed.close();
  const gone = await run(`add far ${closed.url} --token-stdin`, "x");
  expect(gone).toMatchObject({ out: "", err: expect.stringContaining(new URL(closed.url).host) });
  const nothing = await run(`add far ${peer.url}/elsewhere --token-stdin`, "x");
  expect(nothing.err).toMatch(/no agent card at \/elsewhere\/\.well-known\/agent-card\.json/);
  expect([gone.code, nothing.code]).not.toContain(0);
  expect(await lares.rpc("secrets.list", {})).toMatchObject({ secrets: [] });
  const added = await run(`add far ${peer.url} --token-stdin`, "peer-token\n");
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining("Added far. Its card says:") });
  expect(added.out).toContain('"description": "A fake."');
  expect(added.err).toContain(`lares config set policy.allow.peer_ask '["far"]'`);
  const again = await run(`add far ${peer.url}`);
  expect([again.code, again.err]).toEqual([
    expect.any(Number),
    expect.stringMatching(/already an agent called "far"[\s\S]*--replace/),
  ]);
  expect(again.code).not.toBe(0);
  const { code, out } = await run(`add far ${peer.url} --replace --json`);
  expect([code, JSON.parse(out)]).toMatchObject([0, { name: "far", card: expect.stringContaining("A fake.") }]);
});

it("two names that differ by a sign have two tokens, and removing one leaves the other's (HIRE-5)", async () => {
  const { lares, run } = await start();
  const [one, other] = [await withPeer("token-one"), await withPeer("token-other")];
  await run(`add my-agent ${one.url} --token-stdin`, "token-one");
  await run(`add my_agent ${other.url} --token-stdin`, "token-other");
  const names = async () => (await lares.rpc("secrets.list", {})).secrets.map(({ name }) => name);
  expect(await names()).toHaveLength(2);
  await run("remove my-agent --yes");
  expect(await names()).toEqual([expect.stringMatching(/^A2A_MY_AGENT_TOKEN_/)]);
});

it("test: as accepted, changed, accepted again, unreachable, unknown and switched off", async () => {
  const { lares, run } = await start();
  const peer = await withPeer();
  await run(`add far ${peer.url} --token-stdin`, "peer-token");
  expect(await run("test far")).toMatchObject({ code: 0, out: "far is as you accepted it.\n" });
  peer.card.description = "Other words\u202e\u001b[31m";
  const changed = await run("test far");
  expect(changed.out).toMatch(
    /has changed, so it isn't asked[\s\S]*before:[\s\S]*A fake\.[\s\S]*now:[\s\S]*Other words/,
  );
  expect(changed.out).not.toMatch(/[\u202e\u001b]/);
  expect(changed.err).toContain("lares a2a test far --accept");
  expect(changed.code).toBe(1);
  expect((await run("list")).out).toMatch(/far\s+card has changed/);
  await lares.restart();
  expect((await run("list")).out).toMatch(/far\s+card has changed/);
  expect(JSON.parse((await run("test far --json")).out)).toMatchObject({ ok: true, state: "changed" });
  expect((await run("test far --accept")).out).toContain("Accepted the card of far.");
  expect((await run("test far")).out).toContain("as you accepted it");
  expect((await run("list")).out).toMatch(/far\s+accepted/);
  peer.mood.away = true;
  expect(await run("test far")).toMatchObject({ code: 1, out: expect.stringContaining("far can't be reached: ") });
  const failed = await run("test far --json");
  expect([failed.code, JSON.parse(failed.out)]).toMatchObject([1, { ok: false, why: expect.any(String) }]);
  expect(await run("test fra")).toMatchObject({ code: 5, err: expect.stringContaining('no agent called "fra"') });
  await lares.rpc("config.set", { path: "a2a.peers.far.enabled", value: false });
  const off = await run("test far");
  expect(off.err).toMatch(/"far" is switched off[\s\S]*lares config set a2a\.peers\.far\.enabled true/);
  expect((await run("list")).out).toMatch(/far\s+off/);
});

it("add and test: a token that is refused isn't saved, and one that was revoked is named", async () => {
  const { lares, run } = await start();
  const peer = await withPeer();
  const wrong = await run(`add far ${peer.url} --token-stdin`, "wrong-token");
  expect(wrong).toMatchObject({ code: 2, out: "" });
  expect(wrong.err).toMatch(/far refuses the token \(status 401\)\. Nothing was saved\.[\s\S]*Check the token/);
  expect((await lares.rpc("a2a.list", {})).peers).toEqual([]);
  expect(await lares.rpc("secrets.list", {})).toMatchObject({ secrets: [] });
  await run(`add far ${peer.url} --token-stdin`, "peer-token");
  peer.mood.status = 401;
  const revoked = await run("test far");
  expect(revoked).toMatchObject({ code: 1, out: "far refuses the token (status 401).\n" });
  expect(revoked.err).toContain("lares a2a add far ADDRESS --replace --token-stdin");
  expect(peer.sent).toEqual([]);
});

it("remove: takes the agent out of the rule that allows asking without approval, and leaves the others in it", async () => {
  const { lares, run } = await start({ policy: { allow: { peer_ask: ["far", "near"] } } });
  const peer = await withPeer();
  for (const name of ["far", "near"]) await run(`add ${name} ${peer.url} --token-stdin`, "peer-token");
  expect((await run("remove far --yes")).err).toContain("let your agents ask far without approval is gone too");
  expect(JSON.stringify(await lares.rpc("config.get", {}))).toContain('"peer_ask":["near"]');
  const last = await run("remove near --yes --json");
  expect(JSON.parse(last.out)).toEqual({ removed: true, rule: true });
  expect(JSON.stringify(await lares.rpc("config.get", {}))).not.toContain('"near"');
});

it("remove: takes the agent out of the rules of single agents, too", async () => {
  const own = (names: string[]) => ({ policy: { allow: { peer_ask: names } } });
  const { lares, run } = await start({ agents: { main: own(["far"]), cook: own(["far", "near"]), maid: {} } });
  const peer = await withPeer();
  await run(`add far ${peer.url} --token-stdin`, "peer-token");
  expect(JSON.parse((await run("remove far --yes --json")).out)).toEqual({ removed: true, rule: true });
  const { value } = await lares.rpc("config.get", {});
  expect(value).toMatchObject({ agents: { cook: own(["near"]) } });
  expect(JSON.stringify(value)).not.toContain('"far"');
});

it("remove: asks, forgets the agent, its card and its token, and knows when there is none", async () => {
  const { lares, run } = await start();
  const peer = await withPeer();
  await run(`add far ${peer.url} --token-stdin`, "peer-token");
  const unasked = await run("remove far");
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining("--yes")]);
  expect((await lares.rpc("a2a.list", {})).peers).toHaveLength(1);
  expect(await run("remove far --yes")).toMatchObject({ code: 0, out: "Removed far.\n" });
  expect((await lares.rpc("a2a.list", {})).peers).toEqual([]);
  expect(await lares.rpc("secrets.list", {})).toMatchObject({ secrets: [] });
  const none = await run("remove far --yes --json");
  expect([none.code, JSON.parse(none.out)]).toEqual([5, { removed: false }]);
});
