// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as a plugin writes them
import { expect, it } from "vitest";
import { readPluginManifest } from "./manifest.ts";
import { readMcpFile } from "./mcp-file.ts";
import { expandPlaces } from "./server-fields.ts";

const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const read = (given: object) => readPluginManifest(JSON.stringify({ $schema, name: "sky", ...given }));
const own = (part: object) => read({ extensions: { "dev.lares": part } });

it("the smallest plugin asks for nothing", () => {
  expect(read({})).toMatchObject({
    name: "sky",
    notes: [],
    own: { rights: { hosts: [], secrets: [], hooks: [], tools: [] } },
  });
});

it("PLUGINS-1: an unknown field is reported and ignored, and so is an extensions field that is none", () => {
  expect(read({ hooks: "./x", version: "not a version" })).toMatchObject({
    version: "not a version",
    notes: ['plugin.json has an unknown field "hooks", which is ignored'],
  });
  expect(read({ extensions: [] })).toMatchObject({ notes: [expect.stringContaining("extensions")] });
  expect(read({ extensions: { "com.other": { x: 1 } } })).toMatchObject({ notes: [] });
});

it.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["nested too deeply", `{"$schema":"${$schema}","name":"a","keywords":${"[".repeat(50)}${"]".repeat(50)}}`],
  [
    "another version of the format",
    JSON.stringify({ $schema: "https://agent-plugins.org/schemas/2.0.0/plugin.schema.json", name: "a" }),
  ],
  ["no schema", JSON.stringify({ name: "a" })],
  ...["", "Sky", "-sky", "sky-", "a--b", "a..b", "a/b", "..", "x".repeat(65), "ским"].map((name) => [
    `the name "${name.slice(0, 8)}"`,
    JSON.stringify({ $schema, name }),
  ]),
  ["an author with another field", JSON.stringify({ $schema, name: "a", author: { phone: "1" } })],
  ["a version that is a number", JSON.stringify({ $schema, name: "a", version: 1 })],
])("a manifest that has %s is refused", (_what, text) => {
  expect(readPluginManifest(text!)).toMatchObject({ why: expect.stringContaining("plugin.json") });
});

it.each([
  ["a right nobody knows", { rights: { camera: true } }],
  ["a field nobody knows", { runsAsRoot: true }],
  ["a command of two words", { code: { command: "node main.js" } }],
  ["a command elsewhere", { code: { command: "/bin/sh" } }],
  ["a command above it", { code: { command: "./../../bin/sh" } }],
  ["a variable that steers programs", { code: { command: "node", env: { NODE_OPTIONS: "--import=x" } } }],
  ["a secret that steers programs", { rights: { secrets: ["LD_PRELOAD"] } }],
  ["an address for a host", { rights: { hosts: ["https://a.example/x"] } }],
  ["every host", { rights: { hosts: ["*"] } }],
  ["a path that means another place each time", { rights: { paths: { read: ["notes"] } } }],
])("PLUGINS-1: our own part with %s refuses the plugin", (_what, part) => {
  expect(own(part)).toMatchObject({ why: expect.stringContaining("dev.lares") });
});

it("our own part is taken as it is", () => {
  const rights = {
    hosts: ["api.example.com", "*.example.org:8443"],
    paths: { read: ["~/Notes"], write: ["workspace"] },
  };
  const part = own({
    code: { command: "./bin/run" },
    rights: { ...rights, secrets: ["SKY_KEY"], hooks: ["turn.ended"] },
  });
  expect(part).toMatchObject({
    own: { code: { command: "./bin/run", args: [] }, rights: { ...rights, secrets: ["SKY_KEY"] } },
  });
});

const mcp = (servers: unknown, more: object = {}) =>
  readMcpFile(
    JSON.stringify({
      $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
      mcpServers: servers,
      ...more,
    }),
  );

it("PLUGINS-2: a bad server doesn't lose its siblings", () => {
  const good = { type: "stdio", command: "node", args: ["x"] };
  const { servers, problems } = mcp({
    good,
    far: { type: "streamable-http", url: "https://a.example/mcp" },
    old: { type: "sse", url: "https://a.example/sse" },
    shell: { type: "stdio", command: "sh -c x" },
    up: { type: "stdio", command: "../x" },
    away: { ...good, cwd: "${PLUGIN_ROOT}/../.." },
    root: { ...good, env: { PLUGIN_ROOT: "/" } },
    more: { ...good, url: "https://a.example" },
    plain: { type: "streamable-http", url: "http://a.example/mcp" },
    named: { type: "streamable-http", url: "https://me:pw@a.example/mcp" },
    twice: { type: "streamable-http", url: "https://a.example/mcp", headers: { a: "1", A: "2" } },
    what: { type: "carrier-pigeon" },
    none: null,
  });
  expect(Object.keys(servers)).toEqual(["good", "far"]);
  expect(problems).toHaveLength(11);
  expect(problems[1]).toContain('server "shell"');
});

it("PLUGINS-2: a bad file loses its servers only", () => {
  expect(mcp({}, { other: 1 })).toMatchObject({ servers: {}, problems: [expect.stringContaining("unknown field")] });
  expect(mcp([])).toMatchObject({ problems: [expect.stringContaining("mcpServers")] });
  expect(readMcpFile('{"mcpServers":{}}')).toMatchObject({ problems: [expect.stringContaining("$schema")] });
});

it("the two places are put in once, and nothing else is", () => {
  const places = { root: "/p/${PLUGIN_DATA}", data: "/d" };
  expect(expandPlaces("${PLUGIN_ROOT}:${PLUGIN_DATA}:${HOME}:$PLUGIN_ROOT", places)).toBe(
    "/p/${PLUGIN_DATA}:/d:${HOME}:$PLUGIN_ROOT",
  );
});
