/** A command that says it has begun and goes on when the test lets it: how a test acts in the middle of a tool call. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./until.ts";

export interface HeldCommand {
  /** For the `exec` tool. */
  command: string;
  begun(): Promise<void>;
  release(): void;
}

/** Files in the agent's workspace, so that it works inside a sandbox too. `then` runs after the release. */
export function heldCommand(workspace: string, name: string, then = "echo released"): HeldCommand {
  mkdirSync(workspace, { recursive: true });
  return {
    command: `touch ${name}.begun; until [ -e ${name}.go ]; do sleep 0.01; done; ${then}`,
    begun: async () => {
      await until(`${name} to begin`, () => existsSync(join(workspace, `${name}.begun`)));
    },
    release: () => writeFileSync(join(workspace, `${name}.go`), ""),
  };
}

/** `tool:exec {…}` for the scripted model. */
export function callExec(command: string, more: Record<string, unknown> = {}): string {
  return `tool:exec ${JSON.stringify({ command, ...more })}`;
}
