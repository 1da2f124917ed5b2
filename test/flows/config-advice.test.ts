/** `config set` tells the truth about values that are well written and don't work; `config check` and `doctor` say the same. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/core/domain/index.ts";
import { Lares, RpcFailed, startModel } from "../support/index.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/lares.js", import.meta.url));

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await new Lares({ env: { ...model.env, LARES_MODEL: "anthropic/claude-sonnet-5-5" } }).start();
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

/** `lares …` in a terminal that has neither the keys nor the variables of the running program. */
function cli(...argv: string[]): Promise<{ code: number; said: string }> {
  const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_HOME: lares.home, LARES_COMMAND: "lares" };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...argv, "--token", lares.token], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, said: `${stdout}${stderr}` });
    });
  });
}

const text = () => {
  try {
    return readFileSync(join(lares.home, "lares.yaml"), "utf8");
  } catch {
    return "";
  }
};

describe("what can never work is refused with the way out, and nothing is changed", () => {
  it.each([
    ["agents.main.heartbeat.every", "banana", /Lares can't read "banana"/],
    ["agents.main.heartbeat.every", "   ", /must not be blank/],
    ["schedules", '[{"name":"x","cron":"61 * * * *","prompt":"x"}]', /isn't a cron expression/],
    ["schedules", '[{"name":"x","every":"1 day"}]', /Give either a prompt or a script/],
    ["policy.allow.exce", '["ls *"]', /There is no tool "exce" \(did you mean exec\?\)/],
    ["agents.main.policy.deny.wirte", '["x"]', /There is no tool "wirte" \(did you mean write\?\)/],
    ["policy.allow.read", '["  "]', /must not be blank/],
    ["agents.main.model", "opus", /isn't a model. Give provider\/model/],
  ])("%s %s", async (key, value, why) => {
    const before = text();
    const { code, said } = await cli("config", "set", key, value);
    expect(said).toMatch(why);
    expect(said).toContain("The file is unchanged");
    expect(said).not.toContain("Lares is using it now");
    expect(code).not.toBe(0);
    expect(text()).toBe(before);
    const given = value.startsWith("[") ? (JSON.parse(value) as Json) : value;
    const refused = await lares.rpc("config.set", { path: key, value: given }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RpcFailed);
    expect((refused as RpcFailed).error.message).toMatch(why);
    expect(text()).toBe(before);
  });
});

describe("what doesn't work as things are is set, and said", () => {
  it.each([
    ["models.default", "nosuch/model", /There is no provider "nosuch". Known: anthropic, /],
    ["models.default", "openai/gpt-6.1-sol", /openai isn't set up. Set OPENAI_API_KEY/],
    ["models.default", "anthropic/claude-opus-5-5", /LARES_MODEL is set to anthropic\/claude-sonnet-5-5/],
    ["models.fallbacks", '["nosuch/y"]', /models.fallbacks\[0\]: There is no provider "nosuch"/],
    ["agents.main.model", "nosuch/x", /There is no provider "nosuch"/],
    ["agents.main.roots", '["/nonexistent/here"]', /There is no folder \/nonexistent\/here/],
    ["context.summariser", "nosuch/x", /There is no provider "nosuch"/],
    ["goals.judge", "nosuch/x", /There is no provider "nosuch"/],
    ["sandbox.readable", '["/nonexistent/here"]', /There is no folder \/nonexistent\/here, so commands can't read it/],
    ["memory.documents", '["/nonexistent/here"]', /There is no folder \/nonexistent\/here, so nothing in it is found/],
    ["gateway.bind", "0.0.0.0", /Lares won't start with it/],
    ["routing.defaultAgent", "nobody", /There is no agent "nobody". Create it: lares agents create nobody/],
    ["schedules", '[{"name":"x","every":"1 day","prompt":"x","agent":"ghost"}]', /There is no agent "ghost"/],
  ])("%s %s", async (key, value, why) => {
    const { code, said } = await cli("config", "set", key, value);
    expect(said).toMatch(why);
    expect(said).toContain("It doesn't work as things are:");
    expect(said).not.toContain("Lares is using it now");
    expect(code).toBe(0);
    await cli("config", "set", key, "--unset");
  });

  it("config check and doctor say the same", async () => {
    const file = join(lares.home, "lares.yaml");
    const before = text();
    const bad = {
      models: { default: "nosuch/model" },
      routing: { defaultAgent: "nobody" },
      agents: { main: { roots: ["/nonexistent/here"], heartbeat: { every: "banana" } } },
      policy: { allow: { exce: ["ls *"] } },
    };
    writeFileSync(file, JSON.stringify(bad));
    const [checked, doctor] = [await cli("config", "check"), await cli("doctor")];
    writeFileSync(file, before);
    for (const { code, said } of [checked, doctor]) {
      expect(code).not.toBe(0);
      for (const why of [
        'no provider "nosuch"',
        'no agent "nobody"',
        "no folder /nonexistent/here",
        '"banana"',
        '"exce"',
      ])
        expect(said.replace(/\s+/g, " ")).toContain(why);
    }
  });

  it("a value that works is in use, also beside one that doesn't", async () => {
    await cli("config", "set", "routing.defaultAgent", "nobody");
    expect((await cli("config", "set", "agents.main.heartbeat.every", "2 hours")).said).toContain(
      "Lares is using it now",
    );
    expect((await cli("config", "set", "policy.allow.exec", '["ls *"]')).said).toContain("Lares is using it now");
    await cli("config", "set", "routing.defaultAgent", "--unset");
  });
});

it("rules are about the tools there are", async () => {
  const { TOOL_NAMES } = await import("../../src/edges/tools/index.ts");
  model.reset();
  await lares.chat("u", "say:hi");
  const { tools, body } = model.requests.at(-1)!;
  const found = /There are: ([a-z_, ]+)\./.exec(JSON.stringify(body))![1]!.split(", ");
  const optional = ["web_search", "mcp"];
  expect([...tools, ...found].sort()).toEqual(TOOL_NAMES.filter((name) => !optional.includes(name)).sort());
});
