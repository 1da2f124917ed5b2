import { format, inspect } from "node:util";
import { expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { HIDDEN, Secret } from "./index.ts";

const secret = new Secret("hunter2-hunter2");

test.each<[string, () => unknown]>([
  ["joined to a text", () => `key: ${secret}`],
  ["added to a text", () => `key: ${"".concat(pretend<string>(secret))}`],
  ["made to a string", () => String(secret)],
  ["made to JSON", () => JSON.stringify({ deep: [{ secret }] })],
  ["printed", () => format("%s %o %j %O", secret, secret, secret, { secret })],
  ["inspected with everything shown", () => inspect({ secret }, { showHidden: true, depth: 9, getters: true })],
  ["listed by its fields", () => JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret), { ...secret }])],
  ["copied by the structured clone", () => inspect(structuredClone(secret))],
  ["thrown inside an error", () => inspect(new Error(`failed with ${secret}`, { cause: secret }))],
])("a secret does not come out when it is %s", (_how, leak) => {
  expect(String(leak())).not.toContain("hunter2");
});

test("a secret comes out when it is asked for by name", () => {
  expect(secret.reveal()).toBe("hunter2-hunter2");
  expect(`${secret}`).toBe(HIDDEN);
});
