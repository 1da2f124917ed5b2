import { describe, expect, test } from "vitest";
import type { Scope } from "../../core/protocol/index.ts";
import { type ChatAsk, makeChatMessage } from "./chat-message.ts";

const ids = { next: (prefix: string) => `${prefix}_1` };

function make(ask: Partial<ChatAsk> = {}, scopes: readonly Scope[] = ["write"]) {
  const principal = { id: "token-1", scopes: new Set(scopes) };
  return makeChatMessage({ message: "hello", ...ask }, { principal, channel: "http" }, ids);
}

describe("a caller's message", () => {
  test("goes back to the caller, in the conversation of the named person", () => {
    expect(make({ user: "ann" }).route).toEqual({ channel: "http", account: "token-1", chat: "ann" });
    expect(make().sender).toEqual({ id: "owner" });
  });

  test("acts with the rights of the caller's scopes", () => {
    expect(make()).toMatchObject({ authority: "known", mayApprove: false });
    expect(make({}, ["admin", "approvals"])).toMatchObject({ authority: "owner", mayApprove: true });
  });

  test("finds the separate conversation of a key again", () => {
    const once = { once: true, idempotencyKey: "k1" };
    expect(make(once).route).toEqual(make(once).route);
    expect(make({ once: true })).toMatchObject({ brief: true, sender: { id: "once-o_1" } });
  });

  test("has a fingerprint of what was asked with the key, whatever files came with it", () => {
    const first = make({ idempotencyKey: "k1", attachments: ["a1"] });
    expect(make({ idempotencyKey: "k1", attachments: ["a2"] }).fingerprint).toBe(first.fingerprint);
    expect(make({ idempotencyKey: "k1", message: "bye" }).fingerprint).not.toBe(first.fingerprint);
    expect(make()).not.toHaveProperty("fingerprint");
  });

  test("that the model doesn't read is a label for people", () => {
    const { text, about } = make({ given: { silent: true } });
    expect({ text, about }).toEqual({ text: "", about: { label: { kind: "results", text: "hello" } } });
  });
});
