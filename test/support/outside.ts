/** Programs of others that tests run against, fetched once into a cache folder outside the repository. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The newest Node of a major version, for programs that need a newer one than Lares does. */
export function findNode(major: number, who: string): string {
  const script = fileURLToPath(new URL("../../scripts/node-versions.mjs", import.meta.url));
  const done = spawnSync(process.execPath, [script, String(major)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (done.status !== 0) throw new Error(`There is no Node ${major} for ${who}.`);
  return done.stdout.trim();
}

/** These packages from npm, in `folder`; installed when they aren't there. */
export function fromNpm(folder: string, packages: Readonly<Record<string, string>>): string {
  const list = join(folder, "package.json");
  const text = `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`;
  if (existsSync(join(folder, "node_modules")) && isSame(list, text)) return folder;
  say(`Installing ${Object.keys(packages).join(", ")} into ${folder}…`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(list, text);
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const done = spawnSync("npm", args, { stdio: "inherit" });
  if (done.status !== 0) throw new Error(`npm could not install ${Object.keys(packages).join(", ")}`);
  return folder;
}

/** A Python with these packages from PyPI, in `folder`; nothing where there is no Python that can make one. */
export function fromPyPi(folder: string, packages: readonly string[]): string | undefined {
  const python = join(folder, "bin/python");
  const list = join(folder, "installed.txt");
  const text = `${packages.join("\n")}\n`;
  if (existsSync(python) && isSame(list, text)) return python;
  say(`Installing ${packages.join(", ")} into ${folder}…`);
  const made = spawnSync("python3", ["-m", "venv", "--clear", folder], { stdio: ["ignore", "inherit", "inherit"] });
  if (made.status !== 0) return undefined;
  const done = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages], {
    stdio: "inherit",
  });
  if (done.status !== 0) throw new Error(`pip could not install ${packages.join(", ")}`);
  writeFileSync(list, text);
  return python;
}

function isSame(file: string, text: string): boolean {
  return existsSync(file) && readFileSync(file, "utf8") === text;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
