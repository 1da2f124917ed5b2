import { expect, test } from "vitest";
import { removedByCode, removesComputed, removesHome, removesUnseen } from "./floor-code.ts";
import { plainShell } from "./testing.ts";

test.each([
  ['import shutil; shutil.rmtree("/srv")', ["/srv"]],
  ["fs.rmSync('/', {recursive:true}); rimraf('/x')", ["/", "/x"]],
  ["FileUtils.rm_rf ['/var']", ["/var"]],
  ['print("/etc")', []],
])("%s removes %j", (code, paths) => expect(removedByCode(code)).toEqual(paths));

test.each(["shutil.rmtree(os.path.expanduser('~'))", "fs.rmSync(process.env.HOME)", "FileUtils.rm_rf(Dir.home)"])(
  "%s removes a home",
  (code) => expect(removesHome(code)).toBe(true),
);
test.each(["shutil.rmtree(os.path.expanduser('~/x'))", "print(process.env.HOME)"])("%s does not", (code) =>
  expect(removesHome(code)).toBe(false),
);

test.each([
  ["shutil.rmtree(path)", true],
  ['shutil.rmtree("/a" + b)', true],
  ["for f in os.listdir(d): os.remove(f)", true],
  ['shutil.rmtree("build")', false],
  ["os.listdir(d)", false],
])("whether %s removes what is only known when it runs: %s", (code, unseen) =>
  expect(removesUnseen(code)).toBe(unseen),
);

test("only what an interpreter is given is code", () => {
  const code = { literal: "shutil.rmtree(x)", guess: "shutil.rmtree(x)" };
  const given = (name: string) => {
    const shell = plainShell(`${name} -c`);
    shell.commands[0]!.words.push(code);
    return removesComputed(shell);
  };
  expect(given("/usr/bin/python3")).toBe(true);
  expect(given("echo")).toBe(false);
  const fed = { text: "python3 <<E\nshutil.rmtree(x)\nE", reasons: [{ kind: "heredoc" as const, text: "" }] };
  expect(removesComputed(plainShell("python3", fed))).toBe(true);
});
