/** Every EX and EN case of the security reference and more of their kind, against the real exec tool. */
import { afterAll, describe, expect, test } from "vitest";
import { EN, EX } from "./cases.ts";
import { check } from "./check.ts";
import { FLOOR, NOT_FLOOR, UNSEEN } from "./floor-cases.ts";
import { ground } from "./support.ts";

const g = ground();
afterAll(() => g.close());

describe.each([...Object.entries(EX), ...Object.entries(EN)])("%s", (_name, cases) => {
  test.each(cases)("%j → %s", async (command, want) => {
    expect(await check(g, [command, want])).toBeUndefined();
  });
});

describe("the hard floor", () => {
  const place = (command: string) =>
    command.replaceAll("HOME/", `${g.policy.place.home}/`).replace(/\bHOME$/, g.policy.place.home);
  test.each(FLOOR)("%j is denied in every mode, whatever was allowed", async (command) => {
    for (const mode of ["ask", "record", "ignore"] as const) {
      const open = { exec: ["rm *", "cat *", "find *", "sudo *", "bash *", "dd *", "curl *"] };
      const { verdict, because } = await g.judge(command.includes("$HOME") ? command : place(command), {
        mode,
        allow: open,
      });
      expect(`${mode} ${verdict} ${because}`).toMatch(new RegExp(`^${mode} deny `));
    }
  });
  test.each(NOT_FLOOR)("%j is not the floor's business", async (command) => {
    const { verdict, because } = await g.judge(command, { mode: "record" });
    expect(`${verdict} ${because}`).toMatch(/^allow /);
  });
  test.each(UNSEEN)("%j is asked about in every mode", async (command) => {
    for (const mode of ["ask", "record", "ignore"] as const)
      expect((await g.judge(command, { mode })).verdict).not.toBe("allow");
  });
});
