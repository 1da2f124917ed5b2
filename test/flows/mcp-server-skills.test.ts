/** Skills of agents for other programs: the skills extension of MCP (SEP-2640), with the official client, in both eras. */
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { Scope } from "../../src/core/protocol/index.ts";
import { type Lares, startLares, startModel } from "../support/index.ts";
import { ERAS, type Era, type McpClient, openMcp, openMcpBridge } from "../support/mcp-client.ts";

const SECRET = "sk-proj-0123456789abcdefghijABCDEFGHIJ";
const IMAGE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00]);

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: { agents: { main: {}, helper: { skills: { disabled: ["laundry"] } } }, skills: { disabled: ["retired"] } },
  });
  skill("agents/main/skills/forms", "Fills in forms.");
  file("agents/main/skills/forms/references/Q&A über.md", "Form 37-B is the blue one.");
  file("agents/main/skills/forms/logo.png", IMAGE);
  file("agents/main/skills/forms/.env", "PASSWORD=hunter2");
  file("agents/main/skills/forms/key.md", `The key is ${SECRET}.`);
  file("agents/main/secret.md", "not part of any skill");
  symlinkSync(join(lares.home, "agents/main/secret.md"), join(lares.home, "agents/main/skills/forms/link.md"));
  symlinkSync(join(lares.home, "agents/main"), join(lares.home, "agents/main/skills/forms/all"));
  skill("skills/laundry", "Washes things by colour.");
  skill("skills/retired", "Turned off by the owner.");
  skill("skills/stranger", "Imported, and nobody has allowed it.");
  file("skills/stranger/.origin.json", JSON.stringify({ from: "openclaw" }));
  skill("skills/heavy", "Brings a file that is too large.");
  file("skills/heavy/large.bin", "");
  truncateSync(join(lares.home, "skills/heavy/large.bin"), 2 * 1024 * 1024);
  skill("agents/helper/skills/errands", "Runs errands.");
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

function file(path: string, content: string | Buffer): void {
  mkdirSync(join(lares.home, path, ".."), { recursive: true });
  writeFileSync(join(lares.home, path), content);
}
function skill(dir: string, description: string): void {
  const name = dir.slice(dir.lastIndexOf("/") + 1);
  file(`${dir}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\n\nSteps of ${name}.\n`);
}
async function open(scopes: Scope[], era: Era): Promise<McpClient & { skills: SkillsClient }> {
  const { token } = await lares.rpc("tokens.create", { name: "another agent", scopes });
  const mcp = await openMcp(lares.url, token, era);
  onTestFinished(() => mcp.close().catch(() => {}));
  return { ...mcp, skills: new SkillsClient(mcp.client) };
}
const ANYTHING = z.looseObject({});
const OFFERED = ["skill://helper/errands/SKILL.md", "skill://main/forms/SKILL.md", "skill://main/laundry/SKILL.md"];

describe.each(ERAS)("%s era", (era) => {
  it("skills that agents can use are listed and read, and every file passes the client's check (MCPSERVER-8)", async () => {
    const { skills } = await open(["read"], era);
    expect(skills.supported).toBe(true);
    const { skills: listed } = await skills.list();
    expect(listed.map(({ uri }) => uri)).toEqual(OFFERED);
    const forms = listed[1]!;
    expect(forms.frontmatter).toEqual({ name: "forms", description: "Fills in forms." });
    expect(await skills.read(forms)).toMatchObject({
      verified: true,
      body: expect.stringContaining("Steps of forms."),
    });
    const about = await skills.read(forms, "references/Q&A über.md");
    expect(about).toMatchObject({ verified: true, text: "Form 37-B is the blue one." });
    expect(Buffer.from((await skills.read(forms, "logo.png")).bytes)).toEqual(IMAGE);
    expect((await skills.get(OFFERED[2]!)).skill).toEqual(listed[2]);
    // Secrets are hidden, and the digest is of what is sent.
    const key = await skills.read(forms, "key.md");
    expect(key).toMatchObject({ verified: true, text: expect.stringContaining("The key is ") });
    expect(key.text).not.toContain(SECRET);
  });

  it("a token without the right to read gets none (MCPSERVER-8)", async () => {
    const { client, skills } = await open(["write", "approvals"], era);
    expect(skills.supported).toBe(false);
    await expect(client.readResource({ uri: OFFERED[1]! })).rejects.toThrow(/not found/i);
    const asked = client.request({ method: "skills/list", params: {} }, ANYTHING);
    await expect(asked).rejects.toThrow();
  });

  it("skills that are off, not allowed, or another agent's aren't there under any address (MCPSERVER-8)", async () => {
    const { client, skills } = await open(["read"], era);
    for (const at of ["main/retired", "main/stranger", "helper/laundry", "helper/forms", "nobody/forms"]) {
      const uri = `skill://${at}/SKILL.md`;
      await expect(skills.get(uri), at).rejects.toThrow();
      await expect(client.readResource({ uri }), at).rejects.toThrow(/not found/i);
    }
    await lares.rpc("config.set", { path: "skills.disabled", value: ["retired", "laundry"] });
    await expect(client.readResource({ uri: OFFERED[2]! }, { cacheMode: "bypass" })).rejects.toThrow(/not found/i);
    expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual(OFFERED.slice(0, 2));
    await lares.rpc("config.set", { path: "skills.disabled", value: ["retired"] });
  });

  it.each([
    ["..", "skill://main/forms/../../secret.md"],
    [".. with escapes", "skill://main/forms/%2e%2e/%2e%2e/secret.md"],
    ["an escaped slash", "skill://main/forms/..%2f..%2fsecret.md"],
    ["an escaped backslash", "skill://main/forms/..%5c..%5csecret.md"],
    ["escapes of escapes", "skill://main/forms/%252e%252e/%252e%252e/secret.md"],
    [".. as the skill", "skill://main/%2e%2e/secret.md"],
    [".. as the agent", "skill://%2e%2e/forms/SKILL.md"],
    ["an absolute path", "skill://main/forms//etc/passwd"],
    ["an escaped absolute path", "skill://main/forms/%2fetc%2fpasswd"],
    ["another scheme", "file:///etc/passwd"],
    ["a link to a file outside", "skill://main/forms/link.md"],
    ["a link to a folder outside", "skill://main/forms/all/secret.md"],
    ["a hidden file", "skill://main/forms/.env"],
    ["where an import is recorded", "skill://main/stranger/.origin.json"],
    ["a folder", "skill://main/forms/references"],
    ["the skill's folder", "skill://main/forms/"],
    ["a NUL", "skill://main/forms/SKILL.md%00.txt"],
    ["bytes that are no text", "skill://main/forms/%ff%fe"],
    ["a query", "skill://main/forms/SKILL.md?x=../../secret.md"],
    ["a file that is too large", "skill://main/heavy/large.bin"],
    ["a huge address", `skill://main/forms/${"a/".repeat(100_000)}b`],
    ["a huge name", `skill://main/${"a".repeat(200_000)}/SKILL.md`],
  ])("%s as an address reads nothing, and the next request is served (MCPSERVER-9)", async (_what, uri) => {
    const { client, skills } = await open(["read"], era);
    const refused = await client.readResource({ uri }).catch((error: Error) => error);
    expect(refused).toBeInstanceOf(Error);
    // Clients of the newer era repeat the address in a header, which is refused by itself when it is too long.
    expect(String(refused)).toMatch(/not found|invalid|exceeds|POSTing/i);
    expect(String(refused)).not.toContain(lares.home);
    await expect(skills.get(uri)).rejects.toThrow();
    expect((await skills.list()).skills).toHaveLength(OFFERED.length);
  });
});

it("a long list comes in pages, and a made-up cursor is harmless", async () => {
  for (let n = 0; n < 45; n++) skill(`agents/many/skills/s-${String(n).padStart(2, "0")}`, `Number ${n}.`);
  await lares.rpc("config.set", { path: "agents.many", value: { skills: { disabled: ["laundry"] } } });
  const { skills } = await open(["read"], "modern");
  const { skills: all } = await skills.list();
  expect(all.filter(({ uri }) => uri.startsWith("skill://many/"))).toHaveLength(45);
  expect(new Set(all.map(({ uri }) => uri)).size).toBe(all.length);
  expect((await skills.list({ cursor: "../../etc" })).skills.length).toBeGreaterThan(0);
  expect((await skills.list({ cursor: "~".repeat(100_000) })).skills).toEqual([]);
});

it("lares mcp serve passes them on", async () => {
  const { token } = await lares.rpc("tokens.create", { name: "an editor", scopes: ["read"] });
  const bridge = await openMcpBridge({ home: lares.home, token }, "modern");
  onTestFinished(() => bridge.close().catch(() => {}));
  const skills = new SkillsClient(bridge.client);
  const { skill: forms } = await skills.get(OFFERED[1]!);
  expect(await skills.read(forms, "references/Q&A über.md")).toMatchObject({ verified: true });
});
