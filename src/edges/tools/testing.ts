/** For the tests of this room: throw-away places with a workspace, an outside and a secret. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ToolPlace } from "../../core/contracts/index.ts";

export interface Scene extends ToolPlace {
  /** Beside the workspace; holds `secret`. */
  out: string;
}

export const SECRET = "the canary sings";

export async function scene(base: string = tmpdir()): Promise<Scene> {
  const dir = await realpath(await mkdtemp(join(base, "lares-tools-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const made = {
    agentDir: dir,
    workspace: join(dir, "workspace"),
    caller: { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } },
    spillDir: join(dir, "workspace", ".lares", "out"),
    out: join(dir, "out"),
  };
  await mkdir(made.workspace);
  await mkdir(made.out);
  await writeFile(join(made.out, "secret"), SECRET);
  return made;
}

export const never = new AbortController().signal;
