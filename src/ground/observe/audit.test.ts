import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { type AuditParts, audit } from "./audit.ts";

const home = mkdtempSync(join(tmpdir(), "lares-audit-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const sandboxHint = (sandbox: AuditParts["sandbox"]) =>
  audit({
    home,
    config: pretend<AuditParts["config"]>({
      gateway: { hosts: [] },
      policy: { mode: "ask", allow: {}, deny: {} },
      agents: {},
      sandbox: { limits: { memoryMb: 1, processes: 1, tmpMb: 1, fileMb: 1 } },
      channels: {},
    }),
    hasPrlimit: () => true,
    hasNetwork: false,
    bind: "127.0.0.1",
    token: { text: "a".repeat(40), fromEnvironment: false },
    tokens: [],
    advice: [],
    sandbox,
  }).findings.find(({ id }) => id === "sandbox")?.hint;

test("bubblewrap is to be installed where it is missing, and to be allowed where it fails", () => {
  const none = { name: "none", ok: false, why: "bubblewrap does not work here: no permission" };
  expect(sandboxHint({ ...none, missing: true })).toMatch(/^Install bubblewrap/);
  expect(sandboxHint(none)).not.toContain("Install");
  expect(sandboxHint(none)).toContain("user namespaces");
  expect(sandboxHint({ ...none, byHand: true })).toContain("Turn it on");
});
