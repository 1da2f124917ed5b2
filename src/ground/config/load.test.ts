// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what a reference in lares.yaml looks like

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { pretend } from "../../../test/support/pretend.ts";
import { AppError } from "../../core/domain/index.ts";
import { type ConfigProblem, defineConfig, loadConfig, parseConfig, saveConfig } from "./index.ts";

const schema = defineConfig({
  gateway: z.object({
    port: z.int().min(1).max(65_535).default(7717),
    bind: z.string().default("127.0.0.1"),
    token: z.string().optional(),
    open: z.boolean().default(false),
    http: z.object({ wait: z.number().positive().default(120) }),
  }),
  models: z.strictObject({
    default: z.string().optional(),
    fallbacks: z.array(z.string()).default([]),
    providers: z
      .record(z.string(), z.object({ baseUrl: z.url().optional(), apiKey: z.string().optional() }))
      .default({}),
  }),
  watch: z
    .record(
      z.string().regex(/^[a-z]+$/, "small letters"),
      z.discriminatedUnion("kind", [
        z.object({
          kind: z.literal("feed"),
          hours: z
            .string()
            .regex(/^\d+-\d+$/, 'hours: "8-22"')
            .optional(),
        }),
        z.object({ kind: z.literal("page") }),
      ]),
    )
    .default({}),
  policy: z.object({
    mode: z.enum(["ask", "record", "ignore"]).default("ask"),
    rule: z.union([z.string(), z.object({ exec: z.array(z.string()) })]).optional(),
  }),
});

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "lares-config-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const parse = (text: string, env: Record<string, string> = {}) => parseConfig({ schema, env, text });

async function failure(text: string, env: Record<string, string> = {}): Promise<AppError> {
  const error = await parse(text, env).then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof AppError)) throw new Error(`expected CONFIG_INVALID, got ${error}`);
  expect(error.code).toBe("CONFIG_INVALID");
  return error;
}

async function problems(text: string, env: Record<string, string> = {}): Promise<ConfigProblem[]> {
  return pretend<ConfigProblem[]>((await failure(text, env)).details?.problems);
}

describe("loading", () => {
  test("a missing file, an empty file and a file of comments give the defaults (CONFIG-2)", async () => {
    const { config, exists, file } = await loadConfig({ home, env: {}, schema });
    expect(exists).toBe(false);
    expect(file).toBe(join(home, "lares.yaml"));
    expect(config.gateway).toEqual({ port: 7717, bind: "127.0.0.1", open: false, http: { wait: 120 } });
    for (const text of ["", "  \n", "# nothing yet\n", "---\n", "gateway:\n# port: 1\nmodels:\n"]) {
      expect((await parse(text)).config).toEqual(config);
    }
  });

  test("the file's values win over defaults and the rest stays", async () => {
    const { config } = await parse(
      "gateway:\n  port: 8080\n  http:\n    # all commented out\nmodels: {fallbacks: [a/b]}\n",
    );
    expect(config.gateway.port).toBe(8080);
    expect(config.gateway.http.wait).toBe(120);
    expect(config.models.fallbacks).toEqual(["a/b"]);
  });

  test("the result is frozen all the way down", async () => {
    const { config } = await parse("models: {fallbacks: [a/b]}");
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.gateway.http)).toBe(true);
    expect(() => (config.models.fallbacks as string[]).push("x")).toThrow(TypeError);
  });

  test("a flag wins over the file, and a wrong flag is not blamed on a line", async () => {
    const text = "gateway:\n  port: 8080\n";
    const { config } = await parseConfig({ schema, env: {}, text, overrides: { "gateway.port": 9000 } });
    expect(config.gateway.port).toBe(9000);
    const wrong = parseConfig({ schema, env: {}, text, overrides: { "gateway.port": "many" } });
    await expect(wrong).rejects.toThrow("gateway.port must be a number, not text (given on the command line)");
    const evil = parseConfig({ schema, env: {}, text, overrides: { "gateway.__proto__.port": 1 } });
    await expect(evil).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("a file with another spelling is not ignored in silence", async () => {
    const other = mkdtempSync(join(tmpdir(), "lares-config-"));
    writeFileSync(join(other, "lares.yml"), "gateway: {port: 1}");
    await expect(loadConfig({ home: other, env: {}, schema })).rejects.toThrow("rename it");
    rmSync(other, { recursive: true });
  });

  test("a file that is not text is refused", async () => {
    const other = mkdtempSync(join(tmpdir(), "lares-config-"));
    writeFileSync(join(other, "lares.yaml"), Buffer.from([0x67, 0xff, 0xfe, 0x00]));
    await expect(loadConfig({ home: other, env: {}, schema })).rejects.toThrow("not UTF-8");
    rmSync(other, { recursive: true });
  });

  test("a saved file replaces the old one whole, is private when new, and keeps the owner's mode", async () => {
    const other = join(mkdtempSync(join(tmpdir(), "lares-config-")), "home");
    await saveConfig(other, "gateway: {}\n");
    expect(statSync(join(other, "lares.yaml")).mode & 0o777).toBe(0o600);
    await saveConfig(other, "gateway: {port: 2}\n");
    expect(readFileSync(join(other, "lares.yaml"), "utf8")).toBe("gateway: {port: 2}\n");
    expect(readdirSync(other)).toEqual(["lares.yaml"]);
  });
});

describe("what is refused", () => {
  test("an unknown key is refused with the nearest name, its line and a caret", async () => {
    const error = await failure("# mine\ngateway:\n  prot: 8080\n");
    expect(error.message).toContain("line 3: unknown key gateway.prot; nearest: port");
    expect(error.message).toContain("    3 |   prot: 8080\n      |   ^");
    expect(await problems("gatway:\n  port: 1\n")).toMatchObject([
      { path: "gatway", line: 1, column: 1, message: "unknown key gatway; nearest: gateway" },
    ]);
  });

  test("unknown keys are refused inside maps, strict sections and unions, once each", async () => {
    const found = await problems(
      "models:\n  providers:\n    mine: {baseURL: 'http://x'}\n  fallback: []\npolicy:\n  rule: {exce: []}\n",
    );
    expect(found.map((p) => [p.line, p.path])).toEqual([
      [3, "models.providers.mine.baseURL"],
      [4, "models.fallback"],
      [6, "policy.rule.exce"],
    ]);
    expect(found[0]?.message).toContain("nearest: baseUrl");
  });

  test("a mistyped key does not hide a problem of the right one", async () => {
    expect(await problems("gateway:\n  prot: 1\n  port: many\n")).toHaveLength(2);
  });

  test("a key of another section is pointed to its place", async () => {
    expect((await problems("mode: ask\n"))[0]?.message).toBe("unknown key mode; nearest: policy.mode");
  });

  test("every problem of the file is reported at once, in its order (CONFIG-1)", async () => {
    const found = await problems(
      "gateway:\n  port: many\n  open: 3\n  http: 5\npolicy:\n  mode: asks\nmodels:\n  fallbacks: x\n",
    );
    expect(found.map((p) => [p.line, p.message])).toEqual([
      [2, "gateway.port must be a number, not text"],
      [3, "gateway.open must be true or false, not a number"],
      [4, "gateway.http must be a section with keys, not a number"],
      [6, "policy.mode must be one of ask, record, ignore; nearest: ask"],
      [8, "models.fallbacks must be a list, not text"],
    ]);
    expect(found[0]?.excerpt).toBe("2 |   port: many\n  |         ^");
  });

  test("limits and forms are told in words", async () => {
    const found = await problems(
      "gateway:\n  port: 70000\n  http: {wait: 0}\nmodels:\n  providers: {a: {baseUrl: nowhere}}\npolicy:\n  rule: 4\n",
    );
    expect(found.map((p) => p.message)).toEqual([
      "gateway.port must be at most 65535",
      "gateway.http.wait must be more than 0",
      "models.providers.a.baseUrl must be an address such as https://example.com",
      "policy.rule must be text or a section with keys, not a number",
    ]);
  });

  test("a form is told in the schema's own words, a kind with those there are", async () => {
    const found = await problems("watch:\n  a: {kind: rss}\n  b: {kind: feed, hours: late}\n  B2: {kind: page}\n");
    expect(found.map((p) => p.message)).toEqual([
      "watch.a.kind must be one of feed, page",
      'watch.b.hours must be hours: "8-22"',
      "watch.B2: this name is not allowed here; it must be small letters",
    ]);
  });

  test("the right branch of a union is the one complained about", async () => {
    expect((await problems("policy:\n  rule: {exec: [1]}\n"))[0]?.message).toBe(
      "policy.rule.exec[0] must be text, not a number",
    );
  });

  test("a needed key that is missing is named", async () => {
    const needy = defineConfig({ mail: z.object({ server: z.string(), kind: z.enum(["imap"]) }) });
    await expect(parseConfig({ schema: needy, env: {}, text: "" })).rejects.toThrow("mail.server is needed: text");
    await expect(parseConfig({ schema: needy, env: {}, text: "mail: {server: x}" })).rejects.toThrow(
      "line 1: mail.kind is needed: imap",
    );
  });

  test.each(["__proto__", "constructor", "prototype"])(
    "the key %s is refused at any depth (DO-09, CONFIG-6)",
    async (key) => {
      for (const text of [`${key}: {a: 1}`, `models:\n  providers:\n    ${key}: {}`, `? "${key}"\n: 1`]) {
        const found = await problems(text);
        expect(found[0]?.message).toContain(`"${key}" is not allowed as a key`);
        expect(found[0]?.line).toBeGreaterThan(0);
      }
      expect(({} as Record<string, unknown>).a).toBeUndefined();
    },
  );

  test("an alias bomb is refused quickly", async () => {
    const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(",")}]`,
      );
    expect((await problems(lines.join("\n")))[0]?.message).toContain("aliases");
  });

  test("a few aliases are fine", async () => {
    const { config } = await parse("models:\n  default: &m a/b\n  fallbacks: [*m]\n");
    expect(config.models.fallbacks).toEqual(["a/b"]);
  });

  test("deep nesting, a huge file, custom tags, merge keys, two documents and repeated keys are refused (CONFIG-5)", async () => {
    expect((await problems("[".repeat(50_000)))[0]?.message).toContain("nested too deeply");
    expect((await problems(`# ${"x".repeat(1_000_001)}`))[0]?.message).toContain("larger than 1 MB");
    expect((await problems("gateway: !run {port: 1}"))[0]).toMatchObject({ line: 1 });
    expect((await problems("gateway:\n  <<: {port: 1}"))[0]?.message).toContain("unknown key gateway.<<");
    expect((await problems("gateway: {}\n---\nmodels: {}"))[0]?.message).toContain("multiple documents");
    expect((await problems("gateway: {}\ngateway: {}"))[0]).toMatchObject({ line: 2 });
    expect((await problems("- a\n- b"))[0]?.message).toContain("list of keys");
    expect((await problems("? [a]\n: 1"))[0]?.message).toContain("plain word");
  });

  test("broken YAML is told with its line and a caret", async () => {
    const [found] = await problems("gateway:\n  bind: [127.0.0.1\nmodels: {}\n");
    expect(found?.line).toBeGreaterThanOrEqual(2);
    expect(found?.excerpt).toContain("^");
  });
});

describe("references and secrets", () => {
  test("${VAR} is resolved in values, also as a number or true, and $${ is plain", async () => {
    const text = "gateway:\n  port: ${PORT}\n  open: ${OPEN}\n  bind: 10.0.0.${LAST}\nmodels:\n  default: $${PORT}\n";
    const { config } = await parse(text, { PORT: "8081", OPEN: "true", LAST: "7" });
    expect(config.gateway).toMatchObject({ port: 8081, open: true, bind: "10.0.0.7" });
    expect(config.models.default).toBe("${PORT}");
  });

  test("text that looks like a number stays text where text is wanted", async () => {
    expect((await parse("gateway: {token: '${T}'}", { T: "12345678" })).config.gateway.token).toBe("12345678");
  });

  test("a variable that is not set is a problem with a line, and only one", async () => {
    const found = await problems("gateway:\n  port: ${PORT}\n");
    const unset = "refers to the environment variable PORT, which is not set here; set it where Lares is started";
    expect(found).toMatchObject([{ line: 2, message: `gateway.port ${unset}` }]);
    const [secret] = await problems("gateway:\n  token: ${MINE}\n");
    expect(secret?.message).toContain("or store it with `lares secrets set MINE` and write vault:MINE");
    expect(await problems("gateway:\n  token: ${toString}\n")).toHaveLength(1);
  });

  test("the loaded text keeps the reference (LK-03, CONFIG-3)", async () => {
    const other = mkdtempSync(join(tmpdir(), "lares-config-"));
    const text = "gateway:\n  token: ${MY_TOKEN} # from the vault\n";
    writeFileSync(join(other, "lares.yaml"), text);
    const loaded = await loadConfig({ home: other, env: { MY_TOKEN: "canary-7f3a" }, schema });
    expect(loaded.config.gateway.token).toBe("canary-7f3a");
    expect(loaded.text).toBe(text);
    expect(loaded.secrets).toEqual(["canary-7f3a"]);
    rmSync(other, { recursive: true });
  });

  test("secrets by key name are collected, and no problem shows a secret (CONFIG-4)", async () => {
    const { secrets } = await parse("gateway: {token: canary-1}\nmodels: {providers: {a: {apiKey: canary-2}}}\n");
    expect(secrets).toEqual(["canary-1", "canary-2"]);
    const error = await failure(
      "gateway:\n  token: [canary-3]\n  port: ${CANARY_KEY}\nmodels:\n  providers:\n    a:\n      apiKey: 1234567\n",
      {
        CANARY_KEY: "canary-4",
      },
    );
    expect(JSON.stringify(error.toShape())).not.toMatch(/canary-|1234567/);
    expect(error.message).toContain("token: …");
  });
});
