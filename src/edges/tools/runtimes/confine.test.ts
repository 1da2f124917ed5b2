/** What the sandbox around a runtime's program shows of it. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "../../../../test/support/index.ts";
import { findParts } from "./confine.ts";

test("a program from npm is shown with the packages beside it, not with the folder that they are installed in", () => {
  expect(findParts("/home/ana/node_modules/agent/bin/run.js")).toEqual(["/home/ana/node_modules"]);
});

test("a program of a virtual environment is shown with it, and with the Python that it was made from, wherever that is", () => {
  const home = scratch("confine");
  const [environment, python] = [join(home, "tools", "agent"), join(home, "python")];
  for (const folder of [join(environment, "bin"), join(python, "bin"), join(python, "lib")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(python, "bin", "python3"), "");
  writeFileSync(join(environment, "pyvenv.cfg"), "");
  writeFileSync(join(environment, "bin", "agent"), "");
  symlinkSync(join(python, "bin", "python3"), join(environment, "bin", "python"));
  expect(findParts(join(environment, "bin", "agent"))).toEqual([environment, join(python, "bin"), join(python, "lib")]);
});
