import { expect, it } from "vitest";
import { OwnIdentity } from "./own-identity.ts";

const { signal } = new AbortController();

it("asks once, and again only to refresh", async () => {
  let asked = 0;
  const self = new OwnIdentity(async () => ++asked);
  expect([await self.get(signal), await self.get(signal)]).toEqual([1, 1]);
  expect(await self.refresh(signal)).toBe(2);
  expect(await self.get(signal)).toBe(2);
});

it("a failure is not remembered", async () => {
  let isDown = true;
  const self = new OwnIdentity(async () => {
    if (isDown) throw new Error("down");
    return "lares";
  });
  await expect(self.get(signal)).rejects.toThrow("down");
  isDown = false;
  expect(await self.get(signal)).toBe("lares");
});
