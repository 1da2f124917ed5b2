import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Granting } from "./granting.ts";
import { openVault } from "./vault.ts";

async function granting(agents: Record<string, { secrets: readonly string[] }>, used: readonly string[] = []) {
  const home = mkdtempSync(join(tmpdir(), "lares-granting-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const vault = await openVault({ home, now: () => 1, onSecret: () => {} });
  return new Granting({
    vault,
    agents: () => agents,
    give: async (agent, secrets) => {
      agents[agent] = { secrets };
    },
    refersTo: async (reference) => used.includes(reference),
  });
}

test("a secret is given once, taken back, and the list says who has it and what is missing", async () => {
  const agents = { ada: { secrets: [] as readonly string[] }, bob: { secrets: ["OLD_KEY"] } };
  const secrets = await granting(agents);
  await secrets.grant("DEPLOY_KEY", "ada");
  await secrets.grant("DEPLOY_KEY", "ada");
  expect(agents.ada.secrets).toEqual(["DEPLOY_KEY"]);
  expect((await secrets.list()).missing).toEqual([
    { name: "DEPLOY_KEY", agents: ["ada"] },
    { name: "OLD_KEY", agents: ["bob"] },
  ]);
  await secrets.revoke("DEPLOY_KEY", "ada");
  expect(secrets.agentsWith("DEPLOY_KEY")).toEqual([]);
});

test("removing a secret takes it from every agent, but not while the settings refer to it", async () => {
  const agents = { ada: { secrets: ["A_KEY", "B_KEY"] }, bob: { secrets: ["A_KEY"] } };
  const secrets = await granting(agents, ["vault:B_KEY"]);
  expect(await secrets.remove("A_KEY")).toEqual({ removed: false, agents: ["ada", "bob"] });
  expect(agents).toEqual({ ada: { secrets: ["B_KEY"] }, bob: { secrets: [] } });
  await expect(secrets.remove("B_KEY")).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a secret that is not in the vault is named", async () => {
  const secrets = await granting({});
  expect(() => secrets.mustExist("NO_KEY")).toThrow(/no secret "NO_KEY"/);
});
