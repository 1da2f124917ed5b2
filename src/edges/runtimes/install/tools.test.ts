import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { noCrash } from "../../../core/kit/index.ts";
import { RuntimeTools } from "./tools.ts";

test("RUNTOOL-2: no script of a package runs but the one that its driver names, with none of our variables", async () => {
  const from = mkdtempSync(join(tmpdir(), "package-"));
  const manifest = {
    name: "modelled",
    version: "1.0.0",
    bin: { modelled: "run.js" },
    scripts: { postinstall: "echo ran > postinstall.txt" },
  };
  writeFileSync(join(from, "package.json"), JSON.stringify(manifest));
  const version = 'process.stdout.write(require("node:fs").readFileSync(`${__dirname}/version`, "utf8"))';
  writeFileSync(join(from, "run.js"), `#!/usr/bin/env node\n${version};\n`, { mode: 0o755 });
  const names = 'require("node:fs").writeFileSync("version", Object.keys(process.env).sort().join(" "))';
  writeFileSync(join(from, "native.cjs"), `${names};\n`);
  execFileSync("npm", ["pack", "--pack-destination", from], { cwd: from, stdio: "ignore" });
  const home = mkdtempSync(join(tmpdir(), "home-"));
  const tools = new RuntimeTools({
    home,
    crash: noCrash,
    searchPath: () => [dirname(process.execPath), "/usr/bin", "/bin"],
    environment: (folder) => ({ HOME: folder, PATH: "" }),
  });
  const npm = { package: `modelled@file:${from}/modelled-1.0.0.tgz`, script: "native.cjs" };
  const done = await tools.install({ name: "mine", program: "modelled", npm }, () => false);
  expect(done).toMatchObject({ version: "HOME PATH TMPDIR", script: "native.cjs" });
  expect(existsSync(join(dirname(dirname(done.program)), "modelled", "postinstall.txt"))).toBe(false);
  expect(readFileSync(join(home, "tools", "mine", "package.json"), "utf8")).toContain("private");
}, 60_000);
