/** docs/EXTENDING.md as a newcomer follows it, and the plugins in examples/, with the real program. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { expect, it } from "vitest";
import { PROGRAM, TOKEN, toolResults } from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { startPlugins } from "../support/plugin.ts";
import { scratch } from "../support/scratch.ts";

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const page = readFileSync(path("docs/EXTENDING.md"), "utf8");

it("a tool in ten minutes: the files and commands of the page, as they stand there", async () => {
  const { lares, call } = await startPlugins({ policy: {} });
  const dir = scratch("extending");
  const chapter = page.slice(page.indexOf("## A tool in ten minutes"), page.indexOf("## The folder"));
  const files = [...chapter.matchAll(/^`(greeter\/[\w.]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)];
  expect(files.map(([, file]) => file)).toEqual(["greeter/plugin.json", "greeter/main.mjs"]);
  for (const [, file, text] of files) {
    mkdirSync(dirname(join(dir, file!)), { recursive: true });
    writeFileSync(join(dir, file!), text!);
  }
  const [, commands] = /```sh\n([\s\S]*?)```/.exec(chapter)!;
  writeFileSync(join(dir, "lares"), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${dir}:/usr/bin:/bin`, HOME: dir, LARES_HOME: lares.home, LARES_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)("/bin/sh", ["-ec", commands!], { cwd: dir, env });
  expect(stdout).toContain("Installed greeter. It's on.");
  expect(stdout).toContain("Greets a person by name.");
  expect(stdout).toContain("greeter: fine.");
  expect((await call("greeter__greet", { name: "Ana" }, "ana", "greet")).text).toContain("Hello, Ana!");
});

it("examples/plugin/typescript: main.mjs is main.ts without its types", () => {
  const read = (file: string) => readFileSync(path(`examples/plugin/typescript/${file}`), "utf8");
  const plain = (source: string, loader: "ts" | "js") => transformSync(source, { loader }).code;
  expect(plain(read("main.mjs"), "js")).toBe(plain(plain(read("main.ts"), "ts"), "js"));
});

it("examples/plugin/typescript: its tool converts, with the digits that are set", async () => {
  const { install, call } = await startPlugins({ plugins: { config: { converter: { digits: 1 } } } });
  expect(await install(path("examples/plugin/typescript"))).toMatchObject({ state: "on", skills: ["convert-units"] });
  const { text } = await call("converter__convert", { value: 5, from: "km", to: "mi" }, "ana", "convert length");
  expect(text).toContain("5 km = 3.1 mi");
});

it("examples/plugin/typescript: its hook stops a call that mentions a forbidden word", async () => {
  const forbidden = { plugins: { config: { converter: { forbidden: ["nuclear"] } } } };
  const { lares, model, install } = await startPlugins(forbidden);
  await install(path("examples/plugin/typescript"));
  await lares.chat("ana", 'tool:list {"path":"nuclear"} then: say:done');
  expect(toolResults(model.requests.at(-1)!).at(-1)!.text).toContain('"nuclear" is forbidden here.');
});

it.skipIf(!needs("python3", "the example plugin in Python"))(
  "examples/plugin/python: its tool counts words",
  async () => {
    const { install, call } = await startPlugins();
    expect(await install(path("examples/plugin/python"))).toMatchObject({ state: "on" });
    expect((await call("wordcount__count_words", { text: "one two three" }, "ana", "count words")).text).toContain(
      "3 words",
    );
  },
);

it.skipIf(!needs("python3", "the example plugin in Python"))(
  "examples/plugin/python: its hook asks for a shorter answer",
  async () => {
    const { lares, model, install } = await startPlugins({ plugins: { config: { wordcount: { mostWords: 3 } } } });
    await install(path("examples/plugin/python"));
    await lares.chat("ana", "say:one two three four five");
    expect(model.requests).toHaveLength(2);
    expect(model.requests[1]!.raw).toContain("The answer has 5 words. Say it in at most 3.");
  },
);
