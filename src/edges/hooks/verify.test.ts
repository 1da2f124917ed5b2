import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Hook, hooksConfig } from "./config.ts";
import { check, type HookHeaders, shown } from "./verify.ts";

const SECRET = "a-secret-of-enough-letters";
const NOW = 1_800_000_000_000;
const body = Buffer.from('{"a":1}');
const hookOf = (over: object): Hook => hooksConfig.parse({ x: { secret: SECRET, ...over } }).x!;
const sign = (text: string) => createHmac("sha256", SECRET).update(text).digest("hex");
const judge = (hook: Hook, headers: HookHeaders, given = body) => {
  const found = shown(hook, headers, NOW);
  return found ? check(hook, found, headers, given) : undefined;
};

describe("what the headers alone refuse (HOOKS-4)", () => {
  const stripe = hookOf({ scheme: "stripe" });
  const signedAt = (time: string) => ({ "stripe-signature": `t=${time},v1=${sign(`${time}.{"a":1}`)}` });
  test.each([
    ["no signature", stripe, {}],
    ["a time in words", stripe, signedAt("now")],
    ["a time of six minutes ago", stripe, signedAt(String(NOW / 1000 - 360))],
    ["a time to come", stripe, signedAt(String(NOW / 1000 + 360))],
    ["a wrong bearer", hookOf({ scheme: "bearer" }), { authorization: "Bearer nope" }],
    [
      "a bearer that is only the beginning",
      hookOf({ scheme: "bearer" }),
      { authorization: `Bearer ${SECRET.slice(0, 9)}` },
    ],
    ["a standard id with a dot", hookOf({ scheme: "standard" }), { "webhook-id": "a.b", "webhook-timestamp": "1" }],
  ])("%s", (_why, hook, headers) => expect(shown(hook, headers, NOW)).toBeUndefined());

  test("a fresh time passes, and its signature fades", () => {
    expect(judge(stripe, signedAt(String(NOW / 1000 - 60)))).toMatchObject({ ok: true, fades: true });
  });
});

test("credentials are taken from headers, and each of several secrets is good (HOOKS-5)", () => {
  const hook = hookOf({ scheme: "bearer", secret: ["another-secret-of-letters", SECRET] });
  expect(judge(hook, { authorization: `Bearer ${SECRET}` })).toMatchObject({ ok: true });
  expect(judge(hookOf({ scheme: "github" }), { "x-hub-signature-256": `sha256=${sign("x")}` })).toEqual({ ok: false });
});

test("deliveries are told apart by what is signed, however the signature is written (HOOKS-6)", () => {
  const hook = hookOf({ scheme: "hmac" });
  const hex = sign('{"a":1}');
  const ways = [hex, hex.toUpperCase(), `sha256=${hex}`, Buffer.from(hex, "hex").toString("base64")];
  const keys = ways.map((way) => judge(hook, { "x-signature-256": way }));
  expect(new Set(keys.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(keys[0]).toMatchObject({ ok: true });
  const other = judge(hook, { "x-signature-256": sign("b") }, Buffer.from("b"));
  expect(other).not.toEqual(keys[0]);
});
