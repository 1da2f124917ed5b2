/** One-time codes: good once, for a while, and not for ever in memory. */
import { expect, test } from "vitest";
import type { Principal } from "../../core/protocol/index.ts";
import { CODE_MS, LoginCodes } from "./codes.ts";

const by: Principal = { id: "owner", name: "owner", scopes: new Set(["read"]), credential: "owner" };

test("a code is good once; the second try is refused as used (ACCESS-1)", () => {
  const codes = new LoginCodes();
  const { code, expiresAt } = codes.make(by, 1000);
  expect(expiresAt).toBe(1000 + CODE_MS);
  expect(codes.use(code, 2000)).toEqual({ ok: true, by });
  expect(codes.use(code, 2001)).toEqual({ ok: false, why: "used" });
});

test("an old code is called old, one nobody made unknown", () => {
  const codes = new LoginCodes();
  const { code, expiresAt } = codes.make(by, 0);
  expect(codes.use(code, expiresAt)).toEqual({ ok: false, why: "expired" });
  expect(codes.use("made up", 0)).toEqual({ ok: false, why: "unknown" });
});

test("an expired code is forgotten after a second lifetime", () => {
  const codes = new LoginCodes();
  const { code } = codes.make(by, 0);
  codes.make(by, 2 * CODE_MS + 1);
  expect(codes.use(code, 2 * CODE_MS + 1)).toEqual({ ok: false, why: "unknown" });
});

test("the table is bounded: the oldest code goes first (ACCESS-2)", () => {
  const codes = new LoginCodes();
  const made = Array.from({ length: 65 }, (_, i) => codes.make(by, i).code);
  expect(codes.use(made[0]!, 100)).toEqual({ ok: false, why: "unknown" });
  expect(codes.use(made.at(-1)!, 100)).toMatchObject({ ok: true });
});

test("codes of a credential that was revoked are worth nothing; others stay", () => {
  const codes = new LoginCodes();
  const gone = codes.make({ ...by, credential: "tok_1" }, 0).code;
  const kept = codes.make(by, 0).code;
  codes.drop("tok_1");
  expect(codes.use(gone, 1)).toEqual({ ok: false, why: "unknown" });
  expect(codes.use(kept, 1)).toMatchObject({ ok: true });
});
