// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as a plugin writes them
/** What Lares says about plugins that can't work, before and after somebody tries them. With the real program. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { PROGRAM, TOKEN, toolResults, until } from "../support/index.ts";
import { makePlugin, startPlugins } from "../support/plugin.ts";

const CONVERTER = fileURLToPath(new URL("../../examples/plugin/typescript", import.meta.url));

/** A command of the real program, with everything it printed. */
function command(home: string, ...args: string[]): Promise<{ code: number; text: string }> {
  const env = { PATH: "/usr/bin:/bin", HOME: home, LARES_HOME: home, LARES_TOKEN: TOKEN };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr }),
    );
  });
}

it("a rule about a plugin's server is fine, and one about a server that nobody has is not", async () => {
  const { lares, install } = await startPlugins({ policy: {} });
  await install(makePlugin("greeter"));
  const set = await command(lares.home, "config", "set", "policy.allow.mcp", '["greeter/act"]');
  expect(set.text).not.toContain("There is no MCP server");
  expect(await command(lares.home, "config", "check")).toMatchObject({ code: 0 });
  await lares.stop();
  expect(await command(lares.home, "config", "check")).toMatchObject({ code: 0 });
  const typo = await command(lares.home, "config", "set", "policy.allow.mcp", '["greetr/act"]');
  expect(typo.text).toContain('There is no MCP server "greetr" in mcp.servers or of a plugin. Did you mean greeter?');
});

it("settings that a plugin can't be used with, and settings for no plugin, are named when they are set and checked", async () => {
  const { lares, install } = await startPlugins();
  await install(CONVERTER);
  expect((await command(lares.home, "config", "set", "plugins.config.converter.digits", "2")).text).not.toContain(
    "doesn't work",
  );
  const unfit = await command(lares.home, "config", "set", "plugins.config.converter.digits", "99");
  expect(unfit.text).toContain("plugins.config.converter: The plugin converter can't be used with it: ");
  expect(await command(lares.home, "config", "check")).toMatchObject({ code: 1 });
  await lares.rpc("config.set", { path: "plugins.config.converter", value: {} });
  const unknown = await command(lares.home, "config", "set", "plugins.config.convertr.x", "1");
  expect(unknown.text).toContain('There is no plugin "convertr". Did you mean converter?');
  const { problems } = await lares.rpc("config.check", {});
  expect(problems.map(({ path }) => path)).toEqual(["plugins.config.convertr"]);
});

it("a plugin whose program isn't there: list, doctor and `mcp tools --fresh` say which", async () => {
  const { lares, install, state } = await startPlugins();
  await install(makePlugin("sky", { code: { command: "nosuchprogram" } }));
  const why = 'There is no program "nosuchprogram" on this machine.';
  expect(await state("sky")).toMatchObject({ why });
  const { plugins } = await lares.rpc("plugins.doctor", { name: "sky" });
  expect(plugins).toEqual([{ name: "sky", problems: [why] }]);
  const fresh = await command(lares.home, "mcp", "tools", "sky", "--fresh");
  expect(fresh.text).toContain(why);
  expect(fresh.text).not.toContain("internal error");
});

it("a plugin whose files were changed: `mcp tools --fresh` says so", async () => {
  const { lares, install } = await startPlugins();
  const { digest } = await install(makePlugin("sky"));
  const main = join(lares.home, "plugins/store", `sky@${digest.slice(0, 16)}`, "main.mjs");
  writeFileSync(main, `${readFileSync(main, "utf8")}\n`);
  const fresh = await command(lares.home, "mcp", "tools", "sky", "--fresh");
  expect(fresh.text).toContain("The files of the plugin sky were changed after they were accepted");
});

it("a plugin that asks for a folder no plugin can have is refused at the install and at an update", async () => {
  const { lares, install, state } = await startPlugins();
  const keys = { rights: { tools: ["act"], paths: { read: ["~/.ssh"] } } };
  const refused = /it asks to read ~\/\.ssh, and no plugin can: it is \S+\/\.ssh, which stays outside the sandbox/;
  await expect(lares.rpc("plugins.stage", { from: makePlugin("rain", keys) })).rejects.toThrow(refused);
  const from = makePlugin("sky");
  await install(from);
  const manifest = JSON.parse(readFileSync(join(from, "plugin.json"), "utf8"));
  manifest.extensions["dev.lares"].rights = keys.rights;
  writeFileSync(join(from, "plugin.json"), JSON.stringify(manifest));
  await expect(lares.rpc("plugins.stage", { name: "sky" })).rejects.toThrow(refused);
  expect(await state("sky")).toMatchObject({ state: "on" });
});

it("a secret that a plugin wants and the vault lacks is named in the list until it is there", async () => {
  const { lares, install, state } = await startPlugins();
  const installed = await install(makePlugin("sky", { rights: { tools: ["act"], secrets: ["SKY_KEY"] } }));
  const why = "It wants the secret SKY_KEY, which isn't in the vault.";
  expect(installed).toMatchObject({ state: "on", why });
  expect((await command(lares.home, "plugins", "list")).text).toContain(why);
  await lares.rpc("secrets.set", { name: "SKY_KEY", value: "s3cret-for-the-sky" });
  expect((await state("sky")).why).toBeUndefined();
});

it.each([
  ["flood", "it sent more than 2000 lines at once, so Lares ended it"],
  ["oneLine", "it sent a line of more than 10 MB, so Lares ended it"],
])("a plugin that Lares ends (%s) is switched off with that as the reason", async (way, why) => {
  const { install, call, state } = await startPlugins({ plugins: { config: { sky: { tool: way } } } });
  await install(makePlugin("sky"));
  for (let i = 0; i < 3; i++) await call("sky__act", {});
  const off = await until("it to be off", async () => (await state("sky")).state === "failed" && state("sky"));
  expect(off).toMatchObject({ why: `It failed 3 times within 10 minutes, the last time: ${why}.` });
});

it.runIf(process.platform === "linux")(
  "PL-08: a plugin that starts processes without end is ended, also for root, and says why (MCP-29)",
  async () => {
    const seconds = String(90_000 + (process.pid % 1000));
    const { install, call, state, lares } = await startPlugins({
      plugins: { config: { sky: { tool: "forks", seconds } } },
    });
    await install(makePlugin("sky"));
    const sleepers = () =>
      readdirSync("/proc").filter((pid) => {
        if (!/^\d+$/.test(pid)) return false;
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
        } catch {
          return false;
        }
      }).length;
    const { text } = await call("sky__act", {});
    // Where the kernel counts, those above the limit aren't started in the first place, and nobody has to be ended.
    if (process.getuid?.() !== 0) {
      expect(sleepers()).toBeLessThan(64);
      return;
    }
    expect(text).not.toContain("forked");
    await until("all of them to be gone", () => sleepers() === 0);
    const { text: log } = await command(lares.home, "mcp", "logs", "sky");
    expect(log).toMatch(/it had \d+ processes, and a plugin may have 64, so Lares ended it/);
    for (let n = 0; n < 2; n++) await call("sky__act", {});
    await until("it to be off", async () => (await state("sky")).state === "failed");
  },
);

it.runIf(process.platform === "linux")(
  "PL-08: a plugin that fills the disk is ended at its limit, and isn't started while it is over it (MCP-29)",
  async () => {
    const { install, call, state, lares } = await startPlugins({
      plugins: { dataMb: 64, config: { sky: { tool: "fills" } } },
    });
    await install(makePlugin("sky"));
    expect((await call("sky__act", {})).text).not.toContain("filled");
    const data = join(lares.home, "plugins/data/sky");
    const mb = readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0) / 1024 / 1024;
    expect(mb).toBeLessThan(250);
    expect((await call("sky__act", {})).text).toMatch(/data folder has \d+ MB, and plugins\.dataMb allows 64/);
    expect(await state("sky")).toMatchObject({ why: expect.stringMatching(/plugins\.dataMb allows 64/) });
    for (const name of readdirSync(data)) if (name.startsWith("fill-")) rmSync(join(data, name));
    await lares.rpc("plugins.enable", { name: "sky" });
    await lares.rpc("config.set", { path: "plugins.config.sky.tool", value: "none" });
    expect((await call("sky__act", {})).text).toContain("done");
  },
);

it("a plugin that can't be started: tool_search, tool_run and `mcp logs` say why", async () => {
  const { lares, install, call, model } = await startPlugins();
  await install(makePlugin("sky", { code: { command: "nosuchprogram" } }));
  const why = 'There is no program "nosuchprogram" on this machine.';
  expect((await call("sky__act", {})).text).toContain(why);
  expect(toolResults(model.requests.at(-1)!).at(-2)!.text).toContain(`sky can't be used now. ${why}`);
  expect((await command(lares.home, "mcp", "logs", "sky")).text).toContain(why);
});

it("a plugin that Lares switched off: tool_search, tool_run and `mcp logs` say so", async () => {
  const { lares, install, call, state, model } = await startPlugins({
    plugins: { config: { sky: { start: "exits" } } },
  });
  await install(makePlugin("sky"));
  for (let n = 0; n < 3; n++) await call("sky__act", {});
  await until("it to be off", async () => (await state("sky")).state === "failed");
  const off = "The plugin sky is switched off, because it failed several times.";
  expect((await call("sky__act", {})).text).toContain(off);
  expect(toolResults(model.requests.at(-1)!).at(-2)!.text).toContain(off);
  expect((await command(lares.home, "mcp", "logs", "sky")).text).toContain("The plugin sky is off: It failed 3 times");
  await lares.rpc("plugins.disable", { name: "sky" });
  expect((await call("sky__act", {})).text).not.toContain(off);
});

it("the list counts what a plugin brings: tools, commands, hooks, roles, servers and real skills", async () => {
  const { lares, install, state } = await startPlugins();
  const rights = { tools: ["act", "other"], commands: ["standup"], hooks: ["turn.ended"], memory: true, watch: true };
  const skill = "---\nname: rain\ndescription: About rain.\n---\nLook up.\n";
  const schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
  const mcp = JSON.stringify({
    $schema: schema,
    mcpServers: { far: { type: "streamable-http", url: "https://mcp.example.com/" } },
  });
  const files = { "skills/rain/SKILL.md": skill, "skills/empty/notes.txt": "nothing", "mcp.json": mcp };
  await install(makePlugin("sky", { rights }, files));
  const offers = ["2 tools", "1 command", "1 hook", "a watcher", "a memory back end", "1 MCP server", "1 skill"];
  expect(await state("sky")).toMatchObject({ offers, skills: ["rain"], notes: ["skills/empty has no SKILL.md"] });
  expect((await command(lares.home, "plugins", "list")).text).toContain(offers.join(", "));
});

it("a reference to the vault in a plugin's own arguments is only text: no secret comes with it (MCP-20)", async () => {
  const { lares, install, call } = await startPlugins();
  await lares.rpc("secrets.set", { name: "MINE", value: "not-for-plugins" });
  await lares.rpc("config.set", { path: "plugins.config.sky", value: { home: lares.home } });
  const args = ["${PLUGIN_ROOT}/main.mjs", "--token=vault:MINE", "--at=x:vault:MINE@y"];
  await install(makePlugin("sky", { code: { command: "node", args } }));
  const { text } = await call("sky__act", { way: "look" });
  expect(JSON.parse(text.split("\n")[1]!).given).toEqual(["--token=vault:MINE", "--at=x:vault:MINE@y"]);
});
