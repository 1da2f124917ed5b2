import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../../core/domain/index.ts";
import { createRedactor } from "../observe/index.ts";
import { grantsConfig, type Keyring, makeGrants, makeResolver, openVault, scrub } from "./index.ts";

const TOKEN = "ghp-not-a-pattern-4711";
const none: Keyring = {
  get: () => Promise.reject(new AppError("NOT_READY", { message: "There is no OS keyring to use here." })),
  set: () => Promise.reject(new AppError("NOT_READY", { message: "There is no OS keyring to use here." })),
};

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "lares-vault-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function open(home: string, more: { keyring?: Keyring; heard?: string[] } = {}) {
  return openVault({
    home,
    now: () => 7,
    onSecret: (value) => more.heard?.push(value),
    keyring: more.keyring ?? none,
  });
}

/** A keyring as far as the vault needs it; a stand-in, because this machine has none. */
function fakeKeyring(): Keyring & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (account) => kept.get(account),
    set: async (account, value) => void kept.set(account, value),
  };
}

test("what is set is there for the next process, and in no file in readable form (VAULT-1)", async () => {
  const home = newHome();
  await (await open(home)).set("GITHUB_TOKEN", TOKEN);
  const vault = await open(home);
  expect(vault.get("GITHUB_TOKEN")?.reveal()).toBe(TOKEN);
  expect(vault.list()).toEqual([{ name: "GITHUB_TOKEN", setAt: 7 }]);
  for (const file of readdirSync(home)) {
    const text = readFileSync(join(home, file), "utf8");
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(Buffer.from(TOKEN).toString("base64").slice(0, 20));
    expect(text).not.toContain("GITHUB_TOKEN");
    expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
  }
});

test("without a secret no file and no key are made (VAULT-4)", async () => {
  const home = newHome();
  const vault = await open(home);
  expect(vault.list()).toEqual([]);
  expect(vault.where()).toContain("no vault yet");
  expect(await vault.remove("NOTHING")).toBe(false);
  expect(readdirSync(home)).toEqual([]);
});

test("removing takes it out for good, and says whether it was there", async () => {
  const home = newHome();
  const vault = await open(home);
  await vault.set("A", "aaaaaaaa");
  await vault.set("B", "bbbbbbbb");
  expect(await vault.remove("A")).toBe(true);
  expect(await vault.remove("A")).toBe(false);
  expect(await vault.remove("constructor")).toBe(false);
  expect((await open(home)).list()).toMatchObject([{ name: "B" }]);
});

test("changes made side by side are all kept", async () => {
  const home = newHome();
  const vault = await open(home);
  await Promise.all(Array.from({ length: 20 }, (_, i) => vault.set(`S${i}`, `secret-number-${i}`)));
  expect((await open(home)).list()).toHaveLength(20);
});

test("another process's change is kept by a change here", async () => {
  const home = newHome();
  const here = await open(home);
  await here.set("A", "aaaaaaaa");
  await (await open(home)).set("B", "bbbbbbbb");
  await here.set("C", "cccccccc");
  expect((await open(home)).list().map((entry) => entry.name)).toEqual(["A", "B", "C"]);
});

test.each([
  ["lower", true],
  ["", false],
  ["1A", false],
  ["A-B", false],
  ["A B", false],
  ["__proto__", false],
  ["LD_PRELOAD", false],
  ["PATH", false],
  ["NODE_OPTIONS", false],
  ["BASH_ENV", false],
  ["GIT_SSH_COMMAND", false],
  ["LARES_TOKEN", false],
  ["GITHUB_TOKEN", true],
])("the name %j is a secret's name: %s", async (name, fine) => {
  const vault = await open(newHome());
  const set = vault.set(name, "aaaaaaaa");
  if (fine) await set;
  else await expect(set).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

test.each([
  ["too short to be kept out of logs", "12345"],
  ["too short but for blanks", " 1234      "],
  ["not text", "abcdefg\0"],
  ["too long", "x".repeat(70_000)],
])("a value that is %s is refused without repeating it", async (_why, value) => {
  const vault = await open(newHome());
  const error = await vault.set("A", value).catch((e: unknown) => e as Error);
  expect(error).toMatchObject({ code: "BAD_REQUEST" });
  expect((error as Error).message).not.toContain(value.trim());
});

test("every secret is known to the redactor before anybody has it (VAULT-3)", async () => {
  const home = newHome();
  const heard: string[] = [];
  await (await open(home, { heard })).set("A", TOKEN);
  expect(heard).toContain(TOKEN);
  const again: string[] = [];
  await open(home, { heard: again });
  expect(again).toEqual([TOKEN]);
});

test("where() says plainly that the key lies in a file", async () => {
  const vault = await open(newHome());
  await vault.set("A", "aaaaaaaa");
  expect(vault.where()).toMatch(/key lies beside it in vault\.key \(mode 0600\), because no OS keyring is used/);
});

test("asked for, the key is in the keyring and in no file; without it the vault says what is missing", async () => {
  const home = newHome();
  const ring = fakeKeyring();
  const vault = await open(home, { keyring: ring });
  await vault.set("A", "aaaaaaaa");
  // Nobody asked: a keyring that is there is not used by itself.
  expect(ring.kept.size).toBe(0);
  await vault.moveKey("keyring");
  expect(vault.where()).toContain("its key is in the OS keyring");
  expect(existsSync(join(home, "vault.key"))).toBe(false);
  const again = await open(home, { keyring: ring });
  expect(again.get("A")?.reveal()).toBe("aaaaaaaa");
  await again.set("B", "bbbbbbbb");
  expect(existsSync(join(home, "vault.key"))).toBe(false);
  await expect(open(home)).rejects.toThrow(/cannot be used now/);
  await again.moveKey("file");
  expect((await open(home)).list().map((one) => one.name)).toEqual(["A", "B"]);
  await again.moveKey("keyring");
  ring.kept.clear();
  await expect(open(home, { keyring: ring })).rejects.toThrow(/does not have its key/);
});

test("a keyring that is not there, or does not give back what it took, is refused in words and nothing changes", async () => {
  const home = newHome();
  const forgetful: Keyring = { get: async () => undefined, set: async () => {} };
  for (const keyring of [forgetful, none]) {
    const vault = await open(home, { keyring });
    await vault.set("A", "aaaaaaaa");
    await expect(vault.moveKey("keyring")).rejects.toMatchObject({ code: "NOT_READY" });
    expect(vault.where()).toContain("vault.key");
    expect((await open(home)).get("A")?.reveal()).toBe("aaaaaaaa");
  }
});

test("a key file others could read is closed again", async () => {
  const home = newHome();
  await (await open(home)).set("A", "aaaaaaaa");
  chmodSync(join(home, "vault.key"), 0o644);
  await open(home);
  expect(statSync(join(home, "vault.key")).mode & 0o777).toBe(0o600);
});

test.each<[string, (home: string) => void, RegExp]>([
  ["a changed byte", (home) => change(home, (box) => ({ ...box, data: flip(box.data!) })), /was changed/],
  ["a changed tag", (home) => change(home, (box) => ({ ...box, tag: flip(box.tag!) })), /was changed/],
  ["a shortened tag", (home) => change(home, (box) => ({ ...box, tag: box.tag!.slice(0, 8) })), /was changed/],
  [
    "another key",
    (home) => writeFileSync(join(home, "vault.key"), Buffer.alloc(32, 1).toString("base64")),
    /another one/,
  ],
  ["a lost key", (home) => rmSync(join(home, "vault.key")), /vault\.key is missing or damaged/],
  ["a file that is no vault", (home) => writeFileSync(join(home, "vault.json"), "{}"), /is not a vault/],
])("%s is told, and nothing is overwritten", async (_what, spoil, expected) => {
  const home = newHome();
  const vault = await open(home);
  await vault.set("A", TOKEN);
  spoil(home);
  const before = readFileSync(join(home, "vault.json"), "utf8");
  await expect(open(home)).rejects.toMatchObject({ code: "STORAGE_FAILED", message: expect.stringMatching(expected) });
  await expect(vault.set("B", "bbbbbbbb")).rejects.toThrow(expected);
  expect(readFileSync(join(home, "vault.json"), "utf8")).toBe(before);
});

function change(home: string, edit: (box: Record<string, string>) => Record<string, string>): void {
  const file = join(home, "vault.json");
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)));
}

function flip(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  bytes[0]! ^= 1;
  return bytes.toString("base64");
}

test("a process killed in the middle of setting leaves every secret it said it has (VAULT-2)", async () => {
  const home = newHome();
  const here = JSON.stringify(new URL("./index.ts", import.meta.url).href);
  const code = `
    const { openVault } = await import(${here});
    const vault = await openVault({ home: ${JSON.stringify(home)}, now: Date.now, onSecret() {} });
    const from = vault.list().length - 1;
    process.stdout.write("ready\\n");
    for (let i = from; ; i++) {
      await vault.set("S" + i, "secret-number-" + i);
      process.stdout.write("S" + i + "\\n");
    }`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  let said = 0;
  // A large file takes a while to write, so that there is a middle to be killed in.
  await (await open(home)).set("LARGE", "x".repeat(60_000));
  const file = join(home, "vault.json");
  let looked = 0;
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, ["--import", tsx, "--input-type=module", "-e", code]);
    let out = "";
    const enough = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk) => {
        out += chunk;
        // Another place in the middle of a change each round.
        if (out.split("\n").length > 3 + round) setTimeout(resolve, round * 0.7);
      });
    });
    let isEnough = false;
    void enough.then(() => {
      isEnough = true;
    });
    // Whatever moment the power goes, the file is what a reader sees in that moment: never a part.
    while (!isEnough) {
      expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("tag");
      looked++;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    child.kill("SIGKILL");
    await once(child, "close");
    for (const [, n] of out.matchAll(/^S(\d+)$/gm)) said = Math.max(said, Number(n) + 1);
    const vault = await open(home);
    const names = vault.list().map((entry) => entry.name);
    for (let i = 0; i < said; i++) expect(vault.get(`S${i}`)?.reveal(), names.join()).toBe(`secret-number-${i}`);
  }
  expect(looked).toBeGreaterThan(20);
  // What the killed ones left half written goes with the next change.
  await (await open(home)).set("LAST", "the-last-one");
  expect(readdirSync(home).sort()).toEqual(["vault.json", "vault.key"]);
});

test("an agent's commands get the secrets it was granted and no others", async () => {
  const vault = await open(newHome());
  await vault.set("GITHUB_TOKEN", TOKEN);
  await vault.set("BANK_PIN", "123456789");
  const table: Record<string, string[]> = { coder: ["GITHUB_TOKEN", "NOT_THERE"] };
  const { environmentFor } = makeGrants(vault, (agent) => table[agent] ?? []);
  const { env, missing } = environmentFor("coder");
  expect(Object.keys(env)).toEqual(["GITHUB_TOKEN"]);
  expect(env.GITHUB_TOKEN?.reveal()).toBe(TOKEN);
  expect(missing).toEqual(["NOT_THERE"]);
  expect(environmentFor("stranger")).toEqual({ env: {}, missing: [] });
  expect(JSON.stringify(env)).not.toContain(TOKEN);
  expect(grantsConfig.safeParse(["LD_PRELOAD"]).success).toBe(false);
  expect(grantsConfig.parse(undefined)).toEqual([]);
});

test("a config value that is a reference becomes the secret, any other text stays, an unknown name is told", async () => {
  const vault = await open(newHome());
  await vault.set("GITHUB_TOKEN", TOKEN);
  const resolveVault = makeResolver(vault);
  expect(resolveVault("vault:GITHUB_TOKEN")).toBe(TOKEN);
  for (const text of ["", "a vault:GITHUB_TOKEN", "vault: of heaven", "vault:"]) expect(resolveVault(text)).toBe(text);
  expect(() => resolveVault("vault:GITHUB_TOKN")).toThrow(/"GITHUB_TOKN", which is not in the vault/);
});

test("scrubbing reaches every text of a value and leaves the rest as it is", () => {
  const redactor = createRedactor();
  redactor.addSecret(TOKEN);
  const value = { list: [`a ${TOKEN} b`, 1, null, true], deep: { [`x-${TOKEN}`]: { text: "plain" } } };
  const before = structuredClone(value);
  const clean = scrub(value, redactor.redact);
  expect(JSON.stringify(clean)).not.toContain(TOKEN);
  expect(clean).toEqual({ list: ["a [redacted] b", 1, null, true], deep: { "x-[redacted]": { text: "plain" } } });
  expect(value).toEqual(before);
});
