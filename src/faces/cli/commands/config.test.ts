import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineConfig } from "../../../ground/config/index.ts";
import { cli, fakeGateway } from "../testing.ts";

const schema = defineConfig(
  {
    gateway: z.strictObject({
      port: z.number().int().min(0).max(65_535).default(7717).describe("The port."),
      token: z.string().optional().describe("The token."),
      name: z.string().default("lares").describe("A name."),
    }),
    limits: z.strictObject({ steps: z.number().default(50).describe("Most steps.") }).prefault({}),
  },
  { gateway: "restart", "gateway.name": "session", limits: "live" },
);

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-config-"));
  file = join(home, "lares.yaml");
});

async function run(...argv: string[]) {
  const ran = cli(["config", ...argv], { home, configSchema: async () => schema });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("config, with nothing running", () => {
  it("get gives what the file says, else the default", async () => {
    expect(await run("get", "gateway.port")).toEqual({
      code: 0,
      out: "7717\n",
      err: expect.stringContaining("default"),
    });
    writeFileSync(file, "gateway:\n  port: 8080\n");
    expect(await run("get", "gateway.port")).toEqual({ code: 0, out: "8080\n", err: "" });
    expect(JSON.parse((await run("get", "gateway", "--json")).out)).toEqual({ port: 8080 });
  });

  it("get says of a key without a value that it isn't set, not that another was meant", async () => {
    const { code, err } = await run("get", "gateway.token");
    expect(err).toContain("gateway.token isn't set and has no default.");
    expect(err).not.toContain("Did you mean");
    expect(code).toBe(5);
  });

  it("secrets are shown as their last four signs", async () => {
    writeFileSync(file, "gateway:\n  token: a-very-long-secret-9876\n");
    const { out } = await run("get");
    expect(out).toContain("••••9876");
    expect(out).not.toContain("long-secret");
    expect((await run("get", "gateway.token")).out).toBe("••••9876\n");
  });

  it("a reference is no secret and is shown as it is written", async () => {
    writeFileSync(file, "gateway:\n  token: vault:GATE_KEY\n");
    expect((await run("get", "gateway.token")).out).toBe("vault:GATE_KEY\n");
    expect((await run("get")).out).toContain('"vault:GATE_KEY"');
    writeFileSync(file, "gateway:\n  token: ${GATE_TOKEN}\n");
    const ran = cli(["config", "get", "gateway.token"], {
      home,
      configSchema: async () => schema,
      variables: { GATE_TOKEN: "a-very-long-secret-9876" },
    });
    await ran.code;
    expect(ran.out()).toBe("${GATE_TOKEN}\n");
  });

  it("a folder in the file's place is named, not the home", async () => {
    rmSync(file, { force: true });
    mkdirSync(file);
    const { code, err } = await run("check");
    expect(err).toContain(`${file} is a folder, not a file.`);
    expect(code).not.toBe(0);
  });

  it("a variable that is not set is named, with its line and what to do", async () => {
    writeFileSync(file, "gateway:\n  token: ${GATE_TOKEN}\n");
    const { code, err } = await run("check");
    expect(err).toContain(
      "line 2: gateway.token refers to the environment variable GATE_TOKEN, which is not set here; set it where",
    );
    expect(code).toBe(1);
  });

  it("a wrong key gets the nearest right one", async () => {
    const { code, err } = await run("get", "gateway.prot");
    expect(err).toContain('Did you mean "gateway.port"?');
    expect(code).toBe(5);
  });

  it("set says whether a running Lares takes it in, or only the next one", async () => {
    expect((await run("set", "limits.steps", "9")).err).toContain("Lares isn't running. It applies at the next start");
    writeFileSync(join(home, "gateway.json"), "{}");
    expect((await run("set", "limits.steps", "8")).err).toContain("hasn't reloaded the file");
    const held = { file, exists: true, value: null, quarantined: [] as string[], restart: [], problems: [] };
    const gateway = await fakeGateway({ "config.get": () => held, "config.check": () => ({ ok: true, problems: [] }) });
    home = gateway.home;
    expect((await run("set", "limits.steps", "8")).err).toContain("Lares is using it now.");
    // Asked after the file is written: when the command ends, the change holds.
    expect(gateway.calls.map((call) => call.method)).toEqual(["config.get", "config.check"]);
    expect((await run("set", "gateway.port", "8080")).err).toContain("It applies after the gateway restarts");
    expect((await run("set", "gateway.name", "other")).err).toContain("It applies to new conversations");
    held.quarantined.push("limits");
    expect((await run("set", "limits.steps", "7")).err).toContain("using the last valid values of limits");
    await gateway.close();
  });

  it("set keeps comments, and takes numbers as numbers and text as text", async () => {
    writeFileSync(file, "# mine\ngateway:\n  port: 1 # here\n");
    expect((await run("set", "gateway.port", "8080")).code).toBe(0);
    expect((await run("set", "gateway.name", "42")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe('# mine\ngateway:\n  port: 8080 # here\n  name: "42"\n');
    expect((await run("set", "gateway.port", "--unset")).code).toBe(0);
    expect((await run("get", "gateway.port")).out).toBe("7717\n");
  });

  it("set refuses what could not be loaded, and leaves the file", async () => {
    writeFileSync(file, "gateway:\n  port: 1\n");
    const { code, err } = await run("set", "gateway.port", "lots");
    expect(err).toMatch(/^gateway\.port was not set: .*\. The file is unchanged\./);
    expect(err).not.toContain("has a problem");
    expect(code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("gateway:\n  port: 1\n");
    expect((await run("set", "gateway.port")).code).toBe(2);
    // A file that was wrong before is what is wrong.
    writeFileSync(file, "gateway:\n  prot: 1\n");
    expect((await run("set", "limits.steps", "3")).err).toContain("has a problem");
  });

  describe("keys that need each other", () => {
    const search = z
      .strictObject({
        provider: z.enum(["brave", "searxng"]).describe("The service. Example: brave"),
        key: z.string().min(1).optional().describe("API key."),
        baseUrl: z.url().optional().describe("Its address. Example: http://127.0.0.1:8888"),
      })
      .superRefine(({ provider, key, baseUrl }, context) => {
        if (provider === "brave" && !key) context.addIssue({ code: "custom", path: ["key"], message: "needs a key" });
        if (provider === "searxng" && !baseUrl)
          context.addIssue({ code: "custom", path: ["baseUrl"], message: "needs the address" });
      });
    const needy = defineConfig({ web: z.strictObject({ search: search.optional() }).prefault({}) }, { web: "live" });
    const go = async (...argv: string[]) => {
      const ran = cli(["config", ...argv], { home, configSchema: async () => needy });
      return { code: await ran.code, err: ran.err() };
    };
    /** The command that the refusal names, as a shell takes it apart. */
    const named = (err: string) => {
      const [, key, value] = /lares config set (\S+) (?:'([^']*)'|\S+)$/m.exec(err.trim()) ?? [];
      return ["set", key!, value ?? err.trim().split(" ").at(-1)!];
    };

    it.each([
      ["provider", "searxng", { provider: "searxng", baseUrl: "http://127.0.0.1:8888" }],
      ["baseUrl", "http://10.0.0.1", { provider: "searxng", baseUrl: "http://10.0.0.1" }],
      ["provider", "brave", { provider: "brave", key: "YOUR_KEY" }],
      ["key", "sk-0123456789abcdefgh", { provider: "brave", key: "YOUR_KEY" }],
    ])("%s %s: the refusal names the command that sets them together, and it works", async (name, value, expected) => {
      const { code, err } = await go("set", `web.search.${name}`, value);
      expect(code).toBe(1);
      expect(err).toMatch(
        /The file is unchanged\. Set them together, with your own values: lares config set web\.search '/,
      );
      expect(err).not.toContain("sk-0123");
      const command = named(err);
      expect(JSON.parse(command[2]!)).toEqual(expected);
      expect((await go(...command)).code).toBe(0);
    });

    it("where the others are set already, what is missing comes first", async () => {
      writeFileSync(file, "web:\n  search: { provider: brave, key: sk-0123456789abcdefgh }\n");
      const { err } = await go("set", "web.search.provider", "searxng");
      expect(err).toMatch(
        /Set web\.search\.baseUrl first: lares config set web\.search\.baseUrl http:\/\/127\.0\.0\.1:8888\n$/,
      );
      expect(err).not.toContain("sk-0123");
      expect((await go(...named(err))).code).toBe(0);
      expect((await go("set", "web.search.provider", "searxng")).code).toBe(0);
    });
  });

  it("check tells every problem with its line", async () => {
    writeFileSync(file, "gateway:\n  prot: 1\n  port: x\n");
    const { code, err } = await run("check");
    expect(err).toContain("2 problems");
    expect(err).toContain("line 3");
    expect(code).toBe(1);
    writeFileSync(file, "");
    expect((await run("check")).out).toContain("is valid");
  });

  it("schema is JSON Schema, explain a row per key", async () => {
    expect(JSON.parse((await run("schema")).out)).toMatchObject({ properties: { gateway: { type: "object" } } });
    expect((await run("explain", "gateway.port")).out).toMatch(/gateway\.port {2}whole number {2}= 7717 {2}The port\./);
  });
});
