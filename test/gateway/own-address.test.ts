/** The gate knows the port on which Lares really listens. */
import { afterEach, expect, test } from "vitest";
import { type House, openHouse } from "./support.ts";

let house: House;
afterEach(() => house.stop());

test("a command that names the address of the running gateway is denied, a look at its health is not", async () => {
  house = await openHouse({ config: "policy:\n  mode: record\n" });
  const { port } = new URL(house.app.url);
  const verdict = async (command: string) => (await house.rpc("policy.explain", { command })).verdict;
  expect(await verdict(`curl -d @msg.json http://127.0.0.1:${port}/chat`)).toBe("deny");
  expect(await verdict(`nc localhost ${port}`)).toBe("deny");
  expect(await verdict(`curl -fsS http://127.0.0.1:${port}/healthz`)).toBe("allow");
  expect(await verdict("curl -d @msg.json http://127.0.0.1:1/chat")).toBe("allow");
});
