/** Scenarios of the crash sweep that install, update and remove a plugin: PLUGINS-5 holds after a kill. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Lares } from "./lares.ts";
import { makePlugin } from "./plugin.ts";

/** What is there in the next life: the installed version, or none. */
type Left = "1.0.0" | "2.0.0" | undefined;

async function install(lares: Lares, from: string): Promise<void> {
  const { digest } = await lares.rpc("plugins.stage", { from });
  await lares.rpc("plugins.accept", { digest });
}

async function check(lares: Lares, left: Left): Promise<void> {
  const { plugins } = await lares.rpc("plugins.list", {});
  expect(plugins.map(({ version, state }) => [version, state])).toEqual(left === undefined ? [] : [[left, "on"]]);
  const dir = join(lares.home, "plugins");
  expect(readdirSync(join(dir, "store"))).toEqual(plugins.map(({ digest }) => `sky@${digest.slice(0, 16)}`));
  expect(readdirSync(join(dir, "quarantine"))).toEqual([]);
  expect(await lares.rpc("plugins.doctor", {})).toEqual({
    plugins: left === undefined ? [] : [{ name: "sky", problems: [] }],
  });
}

export function installing(left: Left) {
  const from = makePlugin("sky");
  return {
    provoke: ({ lares }: { lares: Lares }) => install(lares, from),
    async settle({ lares }: { lares: Lares }) {
      await check(lares, left);
      // It can be done again, to the same end.
      await install(lares, from);
      await check(lares, "1.0.0");
    },
  };
}

export function updating(left: Left) {
  const from = makePlugin("sky");
  return {
    async provoke({ lares }: { lares: Lares }) {
      await install(lares, from);
      const manifest = readFileSync(join(from, "plugin.json"), "utf8");
      writeFileSync(join(from, "plugin.json"), manifest.replace('"version": "1.0.0"', '"version": "2.0.0"'));
      const { digest } = await lares.rpc("plugins.stage", { name: "sky" });
      await lares.rpc("plugins.accept", { digest });
    },
    settle: ({ lares }: { lares: Lares }) => check(lares, left),
  };
}

export function removing() {
  const from = makePlugin("sky");
  return {
    async provoke({ lares }: { lares: Lares }) {
      await install(lares, from);
      await lares.rpc("plugins.remove", { name: "sky", deleteData: true });
    },
    async settle({ lares }: { lares: Lares }) {
      await check(lares, undefined);
      expect(existsSync(join(lares.home, "plugins/data/sky"))).toBe(false);
      expect(JSON.parse(readFileSync(join(lares.home, "plugins/lock.json"), "utf8")).leaving).toEqual([]);
    },
  };
}
