import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import type { ServerConfig } from "./config.ts";
import { type BroughtServer, SessionServers } from "./session-servers.ts";

const RENEW_MS = 30_000;

function house() {
  const clock = new ManualClock();
  const root = mkdtempSync(join(tmpdir(), "brought-"));
  const open: { definitions: () => Readonly<Record<string, ServerConfig>>; isClosed: boolean }[] = [];
  const servers = new SessionServers({
    clock,
    folder: { root, path: "mcp" },
    serve: () => ({ get: () => undefined, list: async () => ({ tools: [], isSeen: true }) }),
    open(definitions) {
      const one = { definitions, isClosed: false };
      open.push(one);
      const close = async () => {
        one.isClosed = true;
      };
      return pretend({ apply: async () => {}, close });
    },
  });
  const bring = (given: BroughtServer[], yes: string[], of: { session?: string; holder?: string } = {}) =>
    servers.bring({ session: "s", holder: "h", folder: "/srv/app", ...of }, given, yes);
  return { clock, folder: join(root, "mcp"), open, servers, bring };
}

const FILES = { name: "My files!", command: "/usr/bin/files", args: ["--all"] };

test("a yes is for exactly one definition in one conversation (MCP-22)", async () => {
  const { servers, bring } = house();
  const [asked] = await bring([FILES], []);
  expect(asked).toMatchObject({ state: "asks", name: "My files!", target: "/usr/bin/files --all" });
  expect(servers.names("s")).toEqual([]);
  const yes = [asked!.id];
  const changes: BroughtServer[] = [
    { ...FILES, args: ["--all", "--more"] },
    { ...FILES, command: "/usr/bin/other" },
    { ...FILES, env: { MODE: "new" } },
    { ...FILES, name: "other" },
  ];
  for (const changed of changes) expect(await bring([changed], yes)).toMatchObject([{ state: "asks" }]);
  expect(await bring([FILES], yes, { session: "another" })).toMatchObject([{ state: "asks" }]);
  expect(await bring([FILES], yes)).toMatchObject([{ state: "used" }]);
  expect(servers.names("s")).toEqual([expect.stringMatching(/^My-files-[0-9a-f]{8}$/)]);
  expect(servers.names("another")).toEqual([]);
});

test("an editor that stops renewing them, as a killed one does, leaves nothing behind", async () => {
  const { clock, folder, open, servers, bring } = house();
  const [asked] = await bring([FILES], []);
  await bring([FILES], [asked!.id]);
  const own = join(folder, servers.names("s")[0]!);
  mkdirSync(own, { recursive: true });
  for (let i = 0; i < 10; i++) {
    clock.advance(RENEW_MS);
    await bring([FILES], [asked!.id]);
  }
  expect(servers.names("s")).toHaveLength(1);
  expect(open).toHaveLength(1);
  clock.advance(3 * RENEW_MS);
  await expect.poll(() => existsSync(own)).toBe(false);
  expect(open[0]!.isClosed).toBe(true);
  expect(servers.names("s")).toEqual([]);
});

test("two editors in one conversation don't end each other's servers", async () => {
  const { open, servers, bring } = house();
  const [asked] = await bring([FILES], []);
  for (const holder of ["a", "b"]) await bring([FILES], [asked!.id], { holder });
  await bring([], [], { holder: "a" });
  expect(open.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  expect(servers.names("s")).toHaveLength(1);
});

test.each<[string, BroughtServer, string]>([
  ["the old transport", { name: "old", type: "sse", url: "https://a.example/sse" }, "old SSE transport"],
  ["nothing to start", { name: "empty" }, "needs either"],
  ["an address that isn't one", { name: "odd", type: "http", url: "ftp://a.example" }, "url"],
])("%s is refused with the reason", async (_, given, why) => {
  const { servers, bring } = house();
  const [refused] = await bring([given], []);
  expect(refused).toMatchObject({ state: "refused", why: expect.stringContaining(why) });
  await bring([given], [refused!.id]);
  expect(servers.names("s")).toEqual([]);
});
