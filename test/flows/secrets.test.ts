/** `lares secrets` with the real program: values go in, are given to one agent's commands, and come out nowhere. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callExec, type Lares, PROGRAM, startLares, startModel, TOKEN } from "../support/index.ts";

const VALUE = "hunter-two-and-more-4711";
let lares: Lares;
let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: { agents: { main: { policy: { mode: "record" } } } } });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

function run(argv: string[], input = ""): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...argv, "--home", lares.home], {
    // No PATH: whatever keyring this machine has is not to be touched.
    env: { PATH: "/nowhere", HOME: lares.home, LARES_TOKEN: TOKEN },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let text = "";
  for (const out of [child.stdout, child.stderr]) out.on("data", (c: Buffer) => (text += c.toString("utf8")));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

test("a secret is set from stdin, granted, used by a command, hidden in what it prints, and removed", async () => {
  const set = await run(["secrets", "set", "MY_SECRET"], `${VALUE}\n`);
  expect(set).toMatchObject({ code: 0 });
  expect(set.text).toContain("MY_SECRET is now in the vault.");
  const before = await lares.chat("owner", callExec("printenv MY_SECRET || echo not-there"));
  expect(JSON.stringify(before)).toContain("not-there");

  expect((await run(["secrets", "grant", "MY_SECRET", "main"])).text).toContain("Commands run by main get MY_SECRET");
  const listed = await run(["secrets", "list"]);
  expect(listed.text).toMatch(/MY_SECRET\s+for main/);
  // Its length and every encoding of it: the command has it, nobody reads it.
  const encoded =
    "printf %s $MY_SECRET | base64; printf %s $MY_SECRET | od -An -tx1 | tr -d ' \\n'; printf %s $MY_SECRET | rev";
  const used = await lares.chat("owner", callExec(`echo $MY_SECRET; printf %s "$MY_SECRET" | wc -c; ${encoded}`));
  const said = JSON.stringify(used) + JSON.stringify(model.requests) + set.text + listed.text;
  expect(said).toContain(String(VALUE.length));
  expect(said).toContain("[redacted]");
  const bytes = Buffer.from(VALUE);
  const forms = [VALUE, bytes.toString("base64").slice(0, 24), bytes.toString("hex"), [...VALUE].reverse().join("")];
  for (const form of forms) expect(said).not.toContain(form);
  for (const file of readdirSync(lares.home).filter((name) => /\.(json|yaml|log|key)$/.test(name)))
    expect(readFileSync(join(lares.home, file), "utf8")).not.toContain(VALUE);

  expect((await run(["secrets", "remove", "MY_SECRET", "--yes"])).text).toContain("main no longer gets it");
  const after = await lares.chat("owner", callExec("printenv MY_SECRET || echo gone-now"));
  expect(JSON.stringify(after)).toContain("gone-now");
});

test("values are not taken from arguments, and names that steer programs are refused", async () => {
  const given = await run(["secrets", "set", "OTHER", VALUE]);
  expect(given.code).toBe(2);
  expect((await run(["secrets", "set", "LD_PRELOAD"], VALUE)).text).toContain("changes which programs run");
  expect((await run(["secrets", "set", "no-dash"], VALUE)).text).toContain("can't be a secret's name");
  expect((await run(["secrets", "set", "EMPTY"], "")).code).toBe(2);
  expect((await run(["secrets", "grant", "NOT_THERE", "main"])).text).toContain('There is no secret "NOT_THERE"');
  expect((await run(["secrets", "list"])).text).toContain("0 secrets in the vault.");
  const { token } = await lares.rpc("tokens.create", { name: "no admin", scopes: ["read", "write"] });
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${lares.url}/rpc/secrets.list`, { method: "POST", headers, body: "{}" })).status).toBe(403);
});

test("without an OS keyring that is said, and the key stays in its file", async () => {
  await run(["secrets", "set", "KEPT"], VALUE);
  expect((await run(["secrets", "keyring"])).text).toContain("no OS keyring is used");
  const home = await startLares({ env: { PATH: "/nowhere" } });
  try {
    await home.rpc("secrets.set", { name: "KEPT", value: VALUE });
    await expect(home.rpc("secrets.keyring", { use: true })).rejects.toThrow(/no OS keyring to use here/);
    expect((await home.rpc("secrets.list", {})).where).toContain("vault.key");
  } finally {
    await home.dispose();
  }
});
