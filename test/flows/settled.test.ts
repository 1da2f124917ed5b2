/** Commands with patterns, loops and substitutions in the real program: they run as they were judged, and print what a shell prints. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lares, startLares, startModel } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: {
      gateway: { http: { wait: 0.05 } },
      policy: {
        allow: {
          exec: ["cat *", "wc *", "echo *", "ls *", "touch *", "tee *", "find *", "basename *", "mv *"],
          write: ["workspace/**"],
        },
      },
    },
  });
  // Folders are made with the first message.
  await send("first", "hello");
  mkdirSync(join(lares.workspace(), "src"));
  for (const [name, text] of Object.entries({ "a.md": "one\n", "b.md": "two\n", "src/x.ts": "three\n" }))
    writeFileSync(join(lares.workspace(), name), text);
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const send = (user: string, message: string) => lares.rpc("chat.send", { user, message, agent: "main" });
const exec = (command: string) => `tool:exec ${JSON.stringify({ command })}`;

it.each([
  ["cat *.md", "one\ntwo\n"],
  ['for f in *.md; do echo "== $f"; cat "$f"; done', "== a.md\none\n== b.md\ntwo\n"],
  ["cd src && cat *.ts", "three\n"],
  ['echo "there are $(ls src | wc -l)"', "there are 1\n"],
  ["cat <<< hello", "hello\n"],
  ["echo x | tee made.txt && cat made.txt", "x\nx\n"],
  ["find . -name '*.ts' | xargs cat", "three\n"],
  ["cd src && ls && cat x.ts", "x.ts\nthree\n"],
])("%s runs without asking", async (command, printed) => {
  const { response, approval } = await send(`run ${command}`, `${exec(command)} then: say:{results}`);
  expect(approval).toBeUndefined();
  expect(response).toContain(`${printed}[exit 0`);
});

it("a command whose files changed after it was allowed isn't run", async () => {
  // Both are judged first; the second then waits for the first, which moves something.
  writeFileSync(join(lares.workspace(), "src/c.txt"), "");
  const both = `${exec("mv src/c.txt c.md")} ${exec("for f in *.md; do touch $f; done")} then: say:{results}`;
  const { response } = await send("changed", both);
  expect(response).toContain("Not run: the command's files changed");
  expect((await send("again", `${exec("cat *.md")} then: say:{results}`)).response).toContain("two\n[exit 0");
});

it.each([["cat notes.txt"], ["for i in 1; do cat notes.txt; done"], ["cat note*.txt"]])(
  "a link put in a file's place after %s was allowed is not followed",
  async (command) => {
    const at = lares.workspace();
    writeFileSync(join(dirname(at), "private"), "the canary sings");
    mkdirSync(join(at, "kept"), { recursive: true });
    writeFileSync(join(at, "private"), "nothing");
    rmSync(join(at, "notes.txt"), { force: true });
    writeFileSync(join(at, "notes.txt"), "plain\n");
    rmSync(join(at, "kept/up"), { force: true });
    // Inside the workspace where it is; moved up, it leads out of it.
    symlinkSync("../private", join(at, "kept/up"));
    expect((await send(`before ${command}`, `${exec(command)} then: say:{results}`)).response).toContain(
      "plain\n[exit 0",
    );
    // Both are judged first; the second then waits for the first.
    const both = `${exec("mv kept/up notes.txt")} ${exec(command)} then: say:{results}`;
    const { response } = await send(`swapped ${command}`, both);
    expect(response).toContain("Not run: the command's files changed");
    expect(response).not.toContain("canary");
  },
);
