/** What shutting a command in costs: for `npm run bench`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfinement, sandboxConfig } from "../../src/edges/tools/sandbox/index.ts";

/** Median time from start to end of `true`, with and without a sandbox, in turn. */
export async function measureSandbox(times = 30): Promise<{ plainMs: number; sandboxMs: number; backend: string }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "lares-measure-")));
  try {
    const parts = { home: join(dir, "home"), userHome: dir, config: () => sandboxConfig.parse({}) };
    const room = await createConfinement(parts).room(dir);
    const command = { argv: ["/usr/bin/true"] as const, cwd: dir, env: { PATH: "/usr/bin:/bin" }, key: "measure" };
    const plain: number[] = [];
    const shut: number[] = [];
    for (let i = 0; i < times; i++) {
      plain.push(run([...command.argv], command.env));
      const begun = performance.now();
      const { argv, env } = await room.wrap(command);
      shut.push(performance.now() - begun + run(argv, env));
    }
    return { plainMs: median(plain), sandboxMs: median(shut), backend: room.name };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function run([program, ...args]: string[], env: Record<string, string>): number {
  const begun = performance.now();
  const { status } = spawnSync(program!, args, { env });
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return performance.now() - begun;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
