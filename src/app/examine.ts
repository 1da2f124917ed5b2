/** What `lares doctor` can only learn by trying: whether the database opens and holds, whether the sandbox runs a command, whether the log has a place. */
import { homedir } from "node:os";
import { join } from "node:path";
import { createConfinement, sandboxConfig } from "../edges/tools/sandbox/index.ts";
import type { HomeExamined } from "../faces/cli/index.ts";
import { logProblem } from "../ground/observe/index.ts";
import { examineDatabase } from "../ground/records/index.ts";

/** `config`: the whole settings; those of the sandbox are taken, or the defaults where they don't hold. */
export async function examineHome(home: string, config: Readonly<Record<string, unknown>>): Promise<HomeExamined> {
  const given = sandboxConfig.safeParse(config.sandbox ?? {});
  const settings = given.success ? given.data : sandboxConfig.parse({});
  const confinement = createConfinement({ config: () => settings, home, userHome: homedir() });
  const [database, sandbox] = await Promise.all([examineDatabase(join(home, "lares.db")), confinement.state()]);
  return { database, sandbox, log: logProblem(home) };
}
