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
    program: "claude",
    npm: { package: "@anthropic-ai/claude-code", script: "install.cjs" },
    make: async (parts) => (await import("./claude-code/adapter.ts")).makeClaudeCodeAdapter(parts),
  },
  {
    name: "codex",
    title: "Codex",
    program: "codex",
    npm: { package: "@openai/codex", script: null },
    make: async (parts) => (await import("./codex/adapter.ts")).makeCodexAdapter(parts),
  },
  {
    name: "openclaw",
    title: "OpenClaw",
    program: "openclaw",
    // A daemon that people run themselves, with another Node.
    npm: null,
    make: async (parts) => (await import("./openclaw/adapter.ts")).makeOpenClawAdapter(parts),
  },
  ...ACP_PROFILES.map(driveAcp),
];

/** A driver for any agent that speaks ACP. */
export function driveAcp(profile: AcpProfile): RuntimeDriver {
  const { name, title, npm, command } = profile;
  return {
    name,
    title,
    program: command,
    npm,
    make: async (parts) => (await import("./acp/adapter.ts")).makeAcpAdapter(profile, parts),
  };
}
