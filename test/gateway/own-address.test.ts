/** The gate knows the port on which Lares really listens. */
import { afterEach, expect, test } from "vitest";
import { openInstance, type TestInstance } from "./support.ts";

let instance: TestInstance;
afterEach(() => instance.stop());

test("a command that names the address of the running gateway is denied, a look at its health is not", async () => {
  instance = await openInstance({ config: "policy:\n  mode: record\n" });
  const { port } = new URL(instance.app.url);
  const verdict = async (command: string) => (await instance.rpc("policy.explain", { command })).verdict;
  expect(await verdict(`curl -d @msg.json http://127.0.0.1:${port}/chat`)).toBe("deny");
  expect(await verdict(`nc localhost ${port}`)).toBe("deny");
  expect(await verdict(`curl -fsS http://127.0.0.1:${port}/healthz`)).toBe("allow");
  expect(await verdict("curl -d @msg.json http://127.0.0.1:1/chat")).toBe("allow");
});
