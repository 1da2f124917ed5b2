import { expect, test } from "vitest";
import { serverConfig } from "../config.ts";
import { readPasted } from "./paste.ts";

const npx = { command: "npx", args: ["-y", "server"] };
/** As the products' own pages print it. */
const SHAPES: readonly [from: string, text: object, expected: object][] = [
  [
    "Claude and Cursor",
    { mcpServers: { files: { command: "npx", args: ["-y", "server"], env: { A: "b" } } } },
    { ...npx, env: { A: "b" } },
  ],
  ["a README with the program in one string", { mcpServers: { files: { command: "npx -y server" } } }, npx],
  [
    "one string with quotes in it",
    { mcpServers: { files: { command: "/usr/bin/node -e 'a b'" } } },
    { command: "/usr/bin/node", args: ["-e", "a b"] },
  ],
  [
    "a path with a blank beside a list of arguments",
    { mcpServers: { files: { command: "/opt/My App/run", args: [] } } },
    { command: "/opt/My App/run", args: [] },
  ],
  ["VS Code", { servers: { files: { type: "stdio", ...npx } } }, npx],
  [
    "OpenClaw",
    { mcp: { servers: { files: { ...npx, toolFilter: { include: ["a"] }, requestTimeoutMs: 5000 } } } },
    { ...npx, allow: ["a"], callSeconds: 5 },
  ],
  [
    "Hermes",
    { mcp_servers: { files: { ...npx, timeout: 20, connect_timeout: 9, tools: { exclude: ["b"] } } } },
    { ...npx, deny: ["b"], callSeconds: 20, startSeconds: 9 },
  ],
  [
    "opencode",
    { mcp: { files: { type: "local", command: ["npx", "-y", "server"], environment: { A: "b" }, enabled: false } } },
    { ...npx, env: { A: "b" }, enabled: false },
  ],
  [
    "Goose",
    { extensions: { files: { type: "stdio", cmd: "npx", args: ["-y", "server"], envs: { A: "b" } } } },
    { ...npx, env: { A: "b" } },
  ],
  [
    "a remote one",
    { mcpServers: { files: { type: "http", url: "https://mcp.example.com/x", headers: { A: "b" } } } },
    { url: "https://mcp.example.com/x", headers: { A: "b" } },
  ],
  ["servers without a frame", { files: npx }, npx],
];

test.each(SHAPES)("%s", (_from, text, expected) => {
  const { servers, refused } = readPasted(JSON.stringify(text));
  expect(refused).toEqual([]);
  expect(servers).toMatchObject([{ name: "files", config: expected }]);
});

test("one server without a name takes the one that is given", () => {
  expect(readPasted(JSON.stringify(npx), "files").servers).toMatchObject([{ name: "files", config: npx }]);
  expect(readPasted(JSON.stringify(npx)).refused).toMatchObject([
    { reason: expect.stringContaining("there are no server definitions in it") },
  ]);
});

test("a bad entry is refused with its reason, and its siblings are taken", () => {
  const { servers, refused } = readPasted(
    JSON.stringify({
      mcpServers: {
        a: npx,
        b: { url: "https://x.example/sse", type: "sse" },
        c: {},
        d: { url: "https://x.example", auth: "oauth" },
      },
    }),
  );
  expect(servers.map(({ name }) => name)).toEqual(["a", "d"]);
  expect(refused.map(({ name }) => name)).toEqual(["b", "c"]);
  expect(refused[1]!.reason).toMatch(/^it needs either `command`/);
});

test("a line that only a shell could run is refused with a way out, and nothing of it is stored", () => {
  const { servers, refused } = readPasted(JSON.stringify({ command: "cd /srv && node x" }), "a");
  expect(servers).toEqual([]);
  expect(refused).toEqual([{ name: "a", reason: expect.stringContaining("use bash -c") }]);
});

test("variables that change which code runs are left out, and refused in the settings (MC-11)", () => {
  const env = { NODE_OPTIONS: "--require /tmp/x", LD_PRELOAD: "/tmp/x.so", TOKEN: "t" };
  const { servers, notes } = readPasted(JSON.stringify({ mcpServers: { a: { ...npx, env } } }));
  expect(servers[0]!.config.env).toEqual({ TOKEN: "t" });
  expect(notes).toHaveLength(2);
  expect(serverConfig.safeParse({ ...npx, env }).error?.issues.map(({ message }) => message)).toEqual([
    expect.stringContaining("NODE_OPTIONS changes which code a program runs"),
    expect.stringContaining("LD_PRELOAD changes which code a program runs"),
  ]);
});

test("rights that another program gave are not taken over, and that is said", () => {
  const { notes } = readPasted(JSON.stringify({ mcpServers: { a: { ...npx, autoApprove: ["*"], trust: true } } }));
  expect(notes).toEqual([
    expect.stringContaining('"autoApprove" was left out'),
    expect.stringContaining('"trust" was left out'),
  ]);
});
