import { expect, test } from "vitest";
import { WeakCache } from "./weak-cache.ts";

test("what is read now and then stays, however many others come; what nobody reads is dropped after a while", () => {
  const cache = new WeakCache<object, number>(10);
  const [used, unused] = [{}, {}];
  cache.set(used, 1);
  cache.set(unused, 2);
  for (let n = 0; n < 100; n++) {
    cache.set({}, n);
    expect(cache.get(used)).toBe(1);
  }
  expect(cache.get(unused)).toBeUndefined();
});

test("the newest are always there", () => {
  const cache = new WeakCache<object, number>(10);
  const keys = Array.from({ length: 100 }, () => ({}));
  for (const [n, key] of keys.entries()) {
    cache.set(key, n);
    for (let back = 0; back < Math.min(10, n + 1); back++) expect(cache.get(keys[n - back]!)).toBe(n - back);
  }
});
