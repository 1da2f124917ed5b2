/** `config set` tells the truth about values that are well written and don't work; `config check` and `doctor` say the same. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/core/domain/index.ts";
import { Lares, needs, RpcFailed, startModel } from "../support/index.ts";

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
    await lares.rpc("config.set", { path: key });
  });

  it("config check, doctor and security audit say the same", async () => {
    const file = join(lares.home, "lares.yaml");
    const before = text();
    const bad = {
      models: { default: "nosuch/model" },
      routing: { defaultAgent: "nobody" },
      agents: { main: { roots: ["/nonexistent/here"], heartbeat: { every: "banana" } } },
      policy: { allow: { exce: ["ls *"], web_fetch: ["docs.example.com/x"] } },
      sandbox: { backend: "docker", image: "debian:stable-slim" },
      memory: { embedder: { use: "ollama" }, teams: { home: ["nemo"] } },
      web: { privateHosts: ["http://nas.lan"] },
      schedules: [{ name: "inp", every: "1 hour", prompt: "hi", input: "nojob" }],
    };
    writeFileSync(file, JSON.stringify(bad));
    const asked = [await cli("config", "check"), await cli("doctor"), await cli("security", "audit")];
    writeFileSync(file, before);
    expect(asked.map(({ code }) => code).slice(0, 2)).toEqual([1, 1]);
    for (const { said } of asked) {
      for (const why of [
        'no provider "nosuch"',
        'no agent "nobody"',
        "no folder /nonexistent/here",
        '"banana"',
        '"exce"',
        "docker doesn't work",
        "No server answers at http://127.0.0.1:11434",
        'no agent "nemo"',
        '"http://nas.lan" isn\'t a host',
        '"docs.example.com/x" can\'t match any address',
        'There is no job "nojob" whose output this one could get',
      ])
        expect(said.replace(/\s+/g, " ")).toContain(why);
    }
  });

  it.each([
    ["openai/gpt-6.1-sol", "openai isn't set up"],
    ["google/gemini-3-pro", "google isn't set up"],
    ["dead/x", "No server answers at http://127.0.0.1:9"],
  ])("set, check and doctor agree that %s can't answer, and why", async (id, why) => {
    await lares.rpc("config.set", { path: "models.providers", value: { dead: { baseUrl: "http://127.0.0.1:9/v1" } } });
    const asked = [await cli("config", "set", "models.default", id), await cli("config", "check"), await cli("doctor")];
    await cli("config", "unset", "models.default");
    await cli("config", "unset", "models.providers");
    for (const { said } of asked) {
      expect(said.replace(/\s+/g, " ")).toContain(`${id} can't answer: ${why}`);
      expect(said).not.toMatch(/Lares is using it now|Check the network/);
    }
    expect(asked.map(({ code }) => code)).toEqual([0, 1, 1]);
  });

  it("a value that works is in use, also beside one that doesn't", async () => {
    await cli("config", "set", "routing.defaultAgent", "nobody");
    expect((await cli("config", "set", "agents.main.heartbeat.every", "2 hours")).said).toContain(
      "Lares is using it now",
    );
    expect((await cli("config", "set", "policy.allow.exec", '["ls *"]')).said).toContain("Lares is using it now");
    await cli("config", "unset", "routing.defaultAgent");
  });

  it.each([
    [
      "policy.allow.exec",
      '["ls *","make *","xargs *"]',
      [/exec\[1\]: "make \*" covers hardly/, /"xargs \*" covers hardly/],
    ],
    ["approvals.remindAfterHours", "48", [/Nobody is reminded/]],
  ])("%s %s is in use, and what does less than it seems to is said", async (key, value, why) => {
    const { code, said } = await cli("config", "set", key, value);
    expect(said).toContain("Lares is using it now.");
    expect(said).toContain("It does less than it seems to:");
    expect(said).not.toContain("It doesn't work as things are");
    for (const one of why) expect(said).toMatch(one);
    expect(code).toBe(0);
    await cli("config", "unset", key);
  });

  it("an agent that isn't there is created, and that is said", async () => {
    const { code, said } = await cli("config", "set", "agents.mian.model", "anthropic/claude-sonnet-5-5");
    expect(said).toContain('There is no agent "mian" yet. Lares creates it with these settings.');
    expect(said).toContain("If you meant main: lares config unset agents.mian");
    expect(said).toContain("Lares is using it now");
    expect(code).toBe(0);
    const given = { path: "agents.mani.model", value: "anthropic/claude-sonnet-5-5" };
    expect((await lares.rpc("config.set", given)).advice).toEqual([expect.stringContaining('no agent "mani" yet')]);
    for (const agent of ["mian", "mani"]) await cli("config", "unset", `agents.${agent}`);
    expect((await cli("config", "check")).said).not.toContain("mian");
  });

  it("config unset says when there is nothing to remove, and refuses a key that nobody knows", async () => {
    expect((await cli("config", "unset", "limits.minutes")).said).toContain("Nothing to change");
    const unknown = await cli("config", "unset", "limits.minuts");
    expect(unknown.code).not.toBe(0);
    expect(unknown.said).toContain('There is no config key "limits.minuts".');
    expect(unknown.said).toContain("limits.minutes");
  });
});

/** Every kind of value that is well written and can't work: names of nothing, addresses that are none. */
const NEVER: [key: string, value: string, why: RegExp][] = [
  ["agents.main.roots", '["/"]', /An agent can't work in "\/": it is the whole machine/],
  ["agents.main.roots", '["~"]', /it is your whole home/],
  ["agents.main.roots", '["/etc/ssl"]', /it is inside \/etc/],
  ["sandbox.readable", '["/proc"]', /The sandbox can't include "\/proc"/],
  ["sandbox", '{"backend":"docker","image":"debian","network":"host"}', /can't use the network "host"/],
  ["sandbox", '{"backend":"docker","image":"debian","network":"yes"}', /must be true or false, not "yes"/],
  ["sandbox.network", "host", /must be true or false, not "host".* Only docker and podman/],
  ["sandbox.network", "maybe", /must be true or false, not "maybe"\. Write false to keep commands off the network/],
  ["sandbox.network", "bridge", /must be true or false, not "bridge"/],
  ["sandbox.network", "on", /must be true or false, not "on"/],
  ["policy.allow.read", '["/etc/shadow"]', /No rule can allow "\/etc\/shadow"/],
  ["agents.main.policy.allow.write", '["~/.ssh/**"]', /No rule can allow "~\/.ssh\/\*\*"/],
  ["models.fallbacks", '["practice/practice"]', /can't stand in for a model/],
  ["models.providers", '{"x":{"baseUrl":"ftp://x"}}', /must be an address such as https/],
  ["gateway.http", '{"wait":2147484}', /at most 86400/],
  ["gateway.http", '{"maxBodyBytes":1}', /at least 65536/],
  ["limits", '{"minutes":40000}', /at most 20160/],
  ["teams", '{"minutes":40000}', /at most 20160/],
  ["models", '{"firstByteTimeoutMs":2147483648}', /at most 86400000/],
  ["outbox", '{"mostRetryMs":2147483648}', /at most 86400000/],
  ["web.privateHosts", '["http://nas.lan:8080/x"]', /isn't a host. .* such as nas.lan:8080/],
  ["web.privateHosts", '["not a host!"]', /"not a host!" isn't a host/],
  ["web.privateHosts", '["10.0.0.0/8"]', /"10.0.0.0\/8" isn't a host/],
  ["policy.allow.web_fetch", '["docs.example.com/api/*"]', /can't match any address: .*For example: docs.example.com/],
  ["policy.allow.web_fetch", '["https://docs.example.com"]', /can't match any address/],
  ["policy.deny.web_fetch", '["docs.example.com:8443"]', /can't match any address/],
  ["agents.main.policy.allow.browser", '["*"]', /can't match any address/],
  ["policy.allow.exec", '["ls *","cd *"]', /"cd \*" covers nothing: cd is part of the shell.* It needs none/],
  ["agents.main.policy.allow.exec", '["type *"]', /"type \*" covers nothing.* Write "which \*" instead/],
  ["policy.allow.exec", '["export X=1"]', /export is part of the shell, not a program, so no rule can allow it/],
  ["policy.allow.exec", '["for *"]', /"for \*" covers nothing/],
  ["policy.allow.exec", '["ls*"]', /"ls\*" can't match any command.* Did you mean "ls \*"\?/],
  ["policy.allow.exec", '["git* status"]', /"git\* status" can't match any command.* Did you mean "git status"\?/],
  ["agents.main.policy.allow.exec", '["git-* *"]', /"git-\* \*" can't match any command.* Write the whole name\./],
  ["policy.allow.exec", '["cd*"]', /"cd\*" covers nothing: cd is part of the shell/],
  ["policy.allow.exec", '["ls | cat"]', /Put quotes around what is meant literally\.(?!\.)/],
  ["routing.rules", '[{"agent":"main","channel":"telegrm"}]', /no channel "telegrm" \(did you mean telegram\?\)/],
  ["routing.identities", '{"ana":["telegrm:1"]}', /no channel "telegrm"/],
  ["routing.identities", '{"ana":["12345"]}', /"12345" isn't a person's id/],
  [
    "channels.irc",
    '{"x":{"host":"https://irc.libera.chat","nick":"b"}}',
    /isn't a server's name.* such as irc.libera.chat/,
  ],
  ["runtimes", '{"claude-code":{"command":"claude"}}', /"claude-code" is the name of a runtime that Lares drives/],
];

const NOT_NOW: typeof NEVER = [
  [
    "policy.allow.exec",
    '["python3 *"]',
    /"python3 \*" covers hardly anything.* for example: "python3 tools\/report \*"/,
  ],
  [
    "policy.allow.exec",
    '["ln *"]',
    /what ln does depends on what it's given\. Write its arguments into the rule in full\.$/,
  ],
  ["policy.allow.exec", '["xargs *"]', /Write a rule for what it runs instead/],
  ["approvals", '{"remindAfterHours":48}', /Nobody is reminded: approvals expire after 24 hours/],
  ["approvals", '{"expireAfterHours":2}', /the first reminder would come after 4 hours\. Set it below 2, or to 0/],
  ["gateway.bind", "192.0.2.77", /isn't an address of this machine/],
  [
    "sandbox",
    '{"backend":"docker","image":"debian:stable-slim"}',
    /sandbox.backend: docker doesn't work \(.+\), so commands won't run/,
  ],
  ["sandbox", '{"backend":"ssh","host":"nobody@127.0.0.1"}', /sandbox.backend: ssh doesn't work/],
  [
    "memory.embedder.use",
    "ollama",
    /No server answers at http:\/\/127.0.0.1:11434, so memory is searched by words only/,
  ],
  ["memory.embedder.use", "openai", /It needs memory.embedder.baseUrl/],
  ["memory.teams", '{"home":["main","nobody"]}', /memory.teams.home\[1\]: There is no agent "nobody"/],
  ["budgets.agents", '{"nobody":{"perDay":{"calls":1}}}', /There is no agent "nobody"/],
  ["models.providers", '{"mine":{"baseUrl":"http://127.0.0.1:9/v1"}}', /No server answers at http:\/\/127.0.0.1:9/],
  ["web.search", '{"provider":"searxng","baseUrl":"http://127.0.0.1:9"}', /No server answers at/],
  ["mcp.servers", '{"x":{"command":"no-such-program-here"}}', /There is no program no-such-program-here/],
  ["mcp.servers", '{"x":{"url":"http://127.0.0.1:9/mcp"}}', /No server answers at/],
  ["agents.main.mcp", '{"allow":["githb/*"]}', /There is no MCP server "githb"/],
  ["policy.allow.mcp", '["githb/list_*"]', /There is no MCP server "githb"/],
  ["routing.rules", '[{"agent":"main","channel":"telegram"}]', /No message comes from telegram: it isn't connected/],
  ["routing.rules", '[{"agent":"main","person":"anna"}]', /Nobody is called "anna"/],
  [
    "hooks",
    '{"x":{"scheme":"bearer","secret":"0123456789abcdef","deliver":{"channel":"telegram","account":"a","chat":"1"}}}',
    /Nothing can be delivered to telegram\/a/,
  ],
  [
    "agents.main.heartbeat",
    '{"deliver":{"channel":"telegram","account":"a","chat":"1"}}',
    /Nothing can be delivered to telegram\/a/,
  ],
  [
    "channels.irc",
    '{"x":{"host":"irc.example.org","nick":"b","enabled":false,"groups":{"#a":{"agent":"nobody","tools":["exec"]}}}}',
    /groups.#a.agent: There is no agent "nobody"/,
  ],
  ["context.models", '{"nosuch/x":{"maxTokens":9000}}', /There is no provider "nosuch"/],
];

describe("names of nothing and addresses that are none", () => {
  const given = (value: string) => (/^[[{]/.test(value) ? (JSON.parse(value) as Json) : value);

  it.each(NEVER)("%s %s is refused", async (path, value, why) => {
    const before = text();
    const refused = await lares.rpc("config.set", { path, value: given(value) }).catch((error: unknown) => error);
    expect((refused as RpcFailed).error.message).toMatch(why);
    expect((refused as RpcFailed).error.message).not.toMatch(/\.\.$/);
    expect(text()).toBe(before);
  });

  it.each(NOT_NOW)("%s %s is set, and what is missing is said", async (path, value, why) => {
    const { advice } = await lares.rpc("config.set", { path, value: given(value) });
    expect(advice?.join("\n")).toMatch(why);
    const { advice: still } = await lares.rpc("config.set", { path });
    expect(still ?? []).toEqual([]);
  });

  it("the command line says the same", async () => {
    const root = await cli("config", "set", "agents.main.roots", '["/"]');
    expect(root).toMatchObject({ code: 1, said: expect.stringContaining("it is the whole machine") });
    const rule = await cli("config", "set", "policy.allow.exec", '["ls | cat"]');
    expect(rule.said).toMatch(/what is meant literally\. The file is unchanged\./);
    const team = await cli("config", "set", "memory.teams", '{"home":["nobody"]}');
    expect(team).toMatchObject({ code: 0, said: expect.stringContaining('There is no agent "nobody"') });
    expect(team.said).not.toContain("Lares is using it now");
    const removed = await cli("config", "unset", "memory.teams");
    expect(removed).toMatchObject({ code: 0, said: expect.stringContaining("Removed memory.teams in ") });
    expect(removed.said).toContain("Lares is using it now");
  });
});

it("a word for off turns the network off, one for on isn't guessed, and the audit says which it is", async () => {
  const network = async () => (await lares.rpc("security.audit", {})).findings.find(({ id }) => id === "network");
  const isConfined = needs("bwrap", "the audit's word about the network", (await network()) !== undefined);
  expect((await cli("config", "set", "sandbox.network", "off")).said).toContain("Lares is using it now");
  if (isConfined) expect(await network()).toMatchObject({ level: "ok" });
  await cli("config", "set", "sandbox.network", "true");
  if (isConfined)
    expect(await network()).toMatchObject({ level: "warn", text: expect.stringContaining("can use the network") });
  const before = text();
  writeFileSync(join(lares.home, "lares.yaml"), "sandbox:\n  network: maybe\n");
  const check = await cli("config", "check");
  writeFileSync(join(lares.home, "lares.yaml"), before);
  expect(check).toMatchObject({ code: 1, said: expect.stringContaining('must be true or false, not "maybe"') });
  await cli("config", "unset", "sandbox.network");
});

it("rules are about the tools there are", async () => {
  const { TOOL_NAMES } = await import("../../src/edges/tools/index.ts");
  model.reset();
  await lares.chat("u", "say:hi");
  const { tools, body } = model.requests.at(-1)!;
  const found = /There are: ([a-z_, ]+)\./.exec(JSON.stringify(body))![1]!.split(", ");
  const optional = ["web_search", "mcp", "peer_ask"];
  expect([...tools, ...found].sort()).toEqual(TOOL_NAMES.filter((name) => !optional.includes(name)).sort());
});
