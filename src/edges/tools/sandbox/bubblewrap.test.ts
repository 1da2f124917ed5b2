import { expect, it } from "vitest";
import { createBubblewrap } from "./bubblewrap.ts";
import type { Rules } from "./port.ts";

const RULES: Rules = { writable: [], readable: [], hidden: [], network: false };
const COMMAND = { argv: ["/usr/bin/true"] as const, cwd: "/", env: {}, key: "k" };

it("commands that start together all wait for the list of the system's private files, which is made once", async () => {
  let found: (paths: string[]) => void = () => {};
  let walks = 0;
  const sandbox = createBubblewrap({
    systemPrivate: () => {
      walks++;
      return new Promise((resolve) => {
        found = resolve;
      });
    },
  });
  const started: boolean[] = [];
  const commands = [1, 2].map(async () => {
    await sandbox.prepare!();
    const { argv } = sandbox.wrap(COMMAND, RULES);
    const at = argv.lastIndexOf("/etc/passwd");
    started.push(at > 0 && argv[at - 1] === "/dev/null");
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual([]);
  found(["/etc/passwd"]);
  await Promise.all(commands);
  expect(started).toEqual([true, true]);
  expect(walks).toBe(1);
});
