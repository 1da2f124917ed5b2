import { hostname } from "node:os";
import { expect, test } from "vitest";
import { ownDoors } from "./own-address.ts";

test("the port of the settings counts until the gateway listens, then the real one", () => {
  const doors = ownDoors({ port: 7777, bind: "0.0.0.0" });
  expect(doors.now().ports).toEqual([7777]);
  doors.opened(4242);
  expect(doors.now().ports).toEqual([4242]);
  expect(ownDoors({ port: 0, bind: "::1" }).now().ports).toEqual([]);
});

test("this machine's name, its addresses and the bound one are its own", () => {
  const { hosts } = ownDoors({ port: 1, bind: "10.1.2.3" }).now();
  expect(hosts).toEqual(expect.arrayContaining(["10.1.2.3", "127.0.0.1", hostname().toLowerCase()]));
  expect(new Set(hosts).size).toBe(hosts.length);
});
