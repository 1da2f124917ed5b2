// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what a reference in lares.yaml looks like
import { expect, test } from "vitest";
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
