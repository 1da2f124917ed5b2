/** Where a caller may act. */
import { expect, test } from "vitest";
import type { Principal, Scope } from "../../core/protocol/index.ts";
import { type ActTarget, mustReach } from "./act.ts";

const who = (...scopes: Scope[]): Principal => ({
  id: "tok_1",
  name: "tok_1",
  scopes: new Set(scopes),
  credential: "c",
});
const writer = who("write");
const reader = who("read", "write");

const OWN = "agent:main:http:tok_1:ann";
const OTHERS = "agent:main:http:tok_2:bob";
const SPOKEN = "agent:main:web:notes";
const turns = new Map([
  ["t_own", OWN],
  ["t_others", OTHERS],
]);
const parts = {
  isAgent: (name: string) => name === "main",
  hasSession: async (session: string) => [OWN, OTHERS, SPOKEN].includes(session),
  findTurnSession: async (turn: string) => turns.get(turn),
  hasSpokenIn: async (session: string) => session === SPOKEN,
};

test.each<[string, Principal, Partial<ActTarget>, boolean]>([
  ["in its own conversation", writer, { session: OWN }, true],
  ["in one it has spoken in", writer, { session: SPOKEN }, true],
  ["not in another's without the right to read", writer, { session: OTHERS }, false],
  ["in another's with it", reader, { session: OTHERS }, true],
  ["on its own turn", writer, { turn: "t_own" }, true],
  ["not on another's turn without the right to read", writer, { turn: "t_others" }, false],
  ["not on a turn nobody knows", writer, { turn: "t_none" }, false],
  ["not in a new conversation it may not begin", reader, { session: "agent:main:http:tok_1:new", begins: true }, false],
  ["in a new one it may begin", reader, { session: "agent:main:web:new", begins: true }, true],
  ["wherever nothing is named", writer, {}, true],
])("a caller may act %s", async (_, principal, target, may) => {
  const asked = mustReach(parts, principal, { begins: false, ...target });
  if (may) await asked;
  else await expect(asked).rejects.toMatchObject({ code: "NOT_FOUND" });
});
