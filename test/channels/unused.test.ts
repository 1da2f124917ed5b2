/** A channel nobody configured costs nothing: none of its code is loaded. What was loaded is read from V8's own list. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { PROGRAM, scratch, startLares } from "../support/index.ts";

test("an unused adapter is not imported; a used one is", async () => {
  const loaded = async (channels: object) => {
    const dir = scratch("loaded");
    const lares = await startLares({ env: { NODE_V8_COVERAGE: dir }, config: { channels } });
    await lares.stop();
    const urls = readdirSync(dir).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(dir, file), "utf8")) as { result: { url: string }[] };
      return result.map(({ url }) => url.split("/").at(-1)!);
    });
    await lares.dispose();
    return urls;
  };
  const chunks = readdirSync(dirname(PROGRAM)).filter((file) => file.endsWith(".js"));
  const chunkOf = (name: string) => chunks.filter((file) => file.startsWith(`${name}-`) && !/^whatsapp-web/.test(file));
  const names = Object.keys(ADAPTERS).filter((name) => name !== "whatsapp-web");
  // Each adapter is a file of its own, or the check would be about nothing.
  for (const name of names) expect({ name, chunks: chunkOf(name).length }).toEqual({ name, chunks: 1 });
  const none = await loaded({});
  expect(none).toContain("main.js");
  expect(names.flatMap(chunkOf).filter((file) => none.includes(file))).toEqual([]);
  const one = await loaded({ webhook: { main: { secret: "0123456789abcdef" } } });
  expect(names.flatMap(chunkOf).filter((file) => one.includes(file))).toEqual(chunkOf("webhook"));
});
