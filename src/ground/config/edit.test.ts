// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what a reference in lares.yaml looks like
import { expect, test } from "vitest";
import type { Json } from "../../core/domain/index.ts";
import { getFromFile, setInFile } from "./index.ts";

const TEXT = `# my house
gateway:
  port: 7717 # the usual one
  # who may call
  token: \${LARES_SECRET}

models:
  fallbacks:
    - a/b # cheap
    - c/d
`;

test("setting a key keeps comments, order and references", async () => {
  const changed = await setInFile(TEXT, "gateway.port", 8080);
  expect(changed).toBe(TEXT.replace("7717", "8080"));
});

test("a new key, a new section, an entry of a list", async () => {
  const text = await setInFile(await setInFile(TEXT, "policy.mode", "ask"), "models.fallbacks[1]", "e/f");
  expect(text).toContain("policy:\n  mode: ask\n");
  expect(text).toContain("- a/b # cheap\n    - e/f\n");
  expect(await getFromFile(text, "policy")).toEqual({ mode: "ask" });
});

test("a file that is empty, missing or only comments takes a first key", async () => {
  expect(await setInFile("", "gateway.port", 1)).toBe("gateway:\n  port: 1\n");
  const text = await setInFile("# hello\n", "gateway.port", 1);
  expect(text).toContain("# hello");
  expect(await getFromFile(text, "gateway.port")).toBe(1);
});

test("a section whose lines are commented out takes a key", async () => {
  const text = await setInFile("gateway:\n  # port: 1\nmodels: {}\n", "gateway.bind", "::1");
  expect(await getFromFile(text, "gateway.bind")).toBe("::1");
  expect(text).toContain("# port: 1");
});

test("text that looks like something else is quoted, and read back the same", async () => {
  for (const value of ["true", "12", "null", "a: b", "# no", "", " x", "multi\nline", "${VAR}", "é✓"]) {
    expect(await getFromFile(await setInFile(TEXT, "gateway.token", value), "gateway.token")).toBe(value);
  }
});

test("a section or list can be set whole", async () => {
  const text = await setInFile(TEXT, "gateway", { port: 1, list: [1, { a: null }] });
  expect(await getFromFile(text, "gateway")).toEqual({ port: 1, list: [1, { a: null }] });
});

test("undefined removes a key and nothing else; removing what is not there changes nothing", async () => {
  const text = await setInFile(TEXT, "gateway.token", undefined);
  expect(await getFromFile(text, "gateway.token")).toBeUndefined();
  expect(text).toContain("port: 7717 # the usual one");
  expect(await setInFile(TEXT, "gateway.nothing", undefined)).toBe(TEXT);
  expect(await setInFile("a: 1\n", "a", undefined)).toBe("");
});

test("what held only the removed key goes with it, unless a comment or an agent's name is there", async () => {
  const removed = (text: string, key: string) => setInFile(text, key, undefined);
  expect(await removed("a: 1\nchannels:\n  external:\n    mine:\n      x: 1\n", "channels.external.mine")).toBe(
    "a: 1\n",
  );
  expect(await removed("agents:\n  main:\n    secrets:\n      - A\n", "agents.main.secrets")).toBe("");
  expect(await removed("agents:\n  ada:\n    secrets:\n      - A\n", "agents.ada.secrets")).toBe(
    "agents:\n  ada: {}\n",
  );
  expect(await removed("a:\n  b:\n    c: 1\n    # later: d\n", "a.b.c")).toContain("# later: d");
  expect(await removed("a:\n  b:\n    c: 1\n  d: 2\n", "a.b.c")).toBe("a:\n  d: 2\n");
});

test("a reference is read as it is written, never resolved (LK-03)", async () => {
  expect(await getFromFile(TEXT, "gateway.token")).toBe("${LARES_SECRET}");
  expect(await getFromFile(TEXT, "gateway.no.such")).toBeUndefined();
});

test("names with dots are given as parts", async () => {
  const text = await setInFile("", ["agents", "a.b", "mode"], "ask");
  expect(await getFromFile(text, ["agents", "a.b", "mode"])).toBe("ask");
});

test("keys that reach into JavaScript, empty names, a key below a plain value and a broken file are refused", async () => {
  for (const path of ["__proto__.x", "a.constructor", "", "a..b"]) {
    await expect(setInFile(TEXT, path, 1)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  }
  await expect(setInFile(TEXT, "gateway.port.x", 1)).rejects.toThrow("gateway.port in lares.yaml is a plain value");
  await expect(setInFile("a: [", "b", 1)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("a value that uses one list twice is written out twice, without an alias", async () => {
  const people = ["111"];
  const text = await setInFile("", "channels", { allow: people, groups: { "-1": { allow: people } } });
  expect(text).not.toMatch(/[&*]/);
  expect(await getFromFile(text, "channels.groups.-1.allow")).toEqual(["111"]);
});

const SHARED = `channels:
  allow: &a1 ["111"] # people
  groups:
    "-1":
      allow: *a1
    "-2": &g
      allow: *a1
    "-3": *g
models: &m
  fallbacks: [ a/b ]
other: *m
`;

test.each<[what: string, path: string, value: Json | undefined]>([
  ["the list with the anchor", "channels.allow", ["111", "222"]],
  ["an entry of the list with the anchor", "channels.allow.0", "222"],
  ["what is an alias", "channels.groups.-1.allow", ["222"]],
  ["an entry of what is an alias", "channels.groups.-1.allow.0", "222"],
  ["a key below two aliases", "channels.groups.-3.allow.0", "222"],
  ["a key below an anchor", "channels.groups.-2.mention", false],
  ["a section with anchors in it", "channels.groups", {}],
  ["nothing, where the anchor is", "channels.allow", undefined],
  ["nothing, below an alias", "channels.groups.-3.allow", undefined],
])("setting %s changes that key alone", async (_what, path, value) => {
  const { parse } = await import("yaml");
  const text = await setInFile(SHARED, path, value);
  const plain = JSON.parse(JSON.stringify(parse(SHARED))) as Record<string, unknown>;
  const parts = path.split(".");
  const above = parts.slice(0, -1).reduce<Record<string, unknown>>((at, part) => at[part] as typeof at, plain);
  if (value === undefined) delete above[parts.at(-1)!];
  else above[parts.at(-1)!] = value;
  if (path === "channels.groups.-3.allow") delete (plain.channels as { groups: Record<string, unknown> }).groups["-3"];
  expect(parse(text)).toEqual(plain);
  // Anchors that the change doesn't touch stay as they were written.
  expect(text).toContain("models: &m\n  fallbacks: [ a/b ]\nother: *m\n");
});

test("an anchor's name that is used twice gives each alias its own value", async () => {
  const { parse } = await import("yaml");
  const text = await setInFile("a: &x [1]\nb: &y [*x]\nc: &x [2]\nd: *y\ne: *x\n", "b[0]", 3);
  expect(parse(text)).toEqual({ a: [1], b: [3], c: [2], d: [[1]], e: [2] });
});

test("aliases that stand for nothing, for themselves or for too much are refused with the way out", async () => {
  const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
  for (let i = 1; i < 12; i++) bomb.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`)}]`);
  for (const text of ["a: *nobody\nb: 1\n", "b: &b [1, *b]\n", `${bomb.join("\n")}\n`]) {
    for (const path of ["b", "a0", "b.0"]) {
      const refused = await setInFile(text, path, "y").then(
        (done) => done,
        (error: unknown) => error,
      );
      if (typeof refused === "string") continue;
      expect(refused, text).toMatchObject({
        code: "CONFIG_INVALID",
        hint: expect.stringMatching(/by hand|config check/),
      });
    }
  }
  await expect(setInFile("a: *nobody\nb: 1\n", "b", 2)).rejects.toThrow(/\*nobody/);
  await expect(setInFile(`${bomb.join("\n")}\n`, "a0", "y")).rejects.toThrow(/aliases/);
});
