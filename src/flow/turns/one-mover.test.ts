import { expect, test } from "vitest";
import { OneMover } from "./one-mover.ts";

test("a command that moves files waits for those before it, and those after it wait for it", async () => {
  const order = new OneMover();
  const said: string[] = [];
  const gates = new Map<string, () => void>();
  const work = (name: string, moves: boolean, fails = false) =>
    order
      .run(moves, async () => {
        said.push(`begin ${name}`);
        await new Promise<void>((resolve) => gates.set(name, resolve));
        said.push(`end ${name}`);
        if (fails) throw new Error(name);
      })
      .catch(() => {});
  const all = [work("a", false), work("b", false, true), work("mv", true, true), work("c", false), work("d", false)];
  const open = async (name: string) => {
    await expect.poll(() => gates.has(name)).toBe(true);
    gates.get(name)!();
  };
  for (const name of ["b", "a", "mv", "d", "c"]) await open(name);
  await Promise.all(all);
  expect(said).toEqual([
    "begin a",
    "begin b",
    "end b",
    "end a",
    "begin mv",
    "end mv",
    "begin c",
    "begin d",
    "end d",
    "end c",
  ]);
});
