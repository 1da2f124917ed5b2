/**
 * The runtimes that Lares knows, one row each. What a runtime needs is in its adapter or its profile: nothing else in the program asks
 * for a runtime by its name.
 */
import { ACP_PROFILES, type AcpProfile } from "./acp/profile.ts";
import type { RuntimeDriver } from "./driver.ts";

export const DRIVERS: readonly RuntimeDriver[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    make: async (parts) => (await import("./claude-code/adapter.ts")).makeClaudeCodeAdapter(parts),
  },
  {
    name: "codex",
    title: "Codex",
    make: async (parts) => (await import("./codex/adapter.ts")).makeCodexAdapter(parts),
  },
  {
    name: "openclaw",
    title: "OpenClaw",
    make: async (parts) => (await import("./openclaw/adapter.ts")).makeOpenClawAdapter(parts),
  },
  ...ACP_PROFILES.map(driveAcp),
];

/** A driver for any agent that speaks ACP. */
export function driveAcp(profile: AcpProfile): RuntimeDriver {
  const { name, title } = profile;
  return {
    name,
    title,
    make: async (parts) => (await import("./acp/adapter.ts")).makeAcpAdapter(profile, parts),
  };
}
