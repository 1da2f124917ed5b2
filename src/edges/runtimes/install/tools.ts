/**
 * Programs of runtimes that were installed on request, in the home: `tools/NAME` is a link to the folder that npm filled.
 *
 * RUNTOOL-1: a program takes its place once it has printed its version; until then, the one that was there stays.
 * RUNTOOL-2: no script of a package runs but the one that its driver names, in an environment made from nothing.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { type Crash, installPackages } from "../../../core/kit/index.ts";
import type { NpmProgram, RuntimeDriver } from "../driver.ts";
import { askProgram } from "../program.ts";
import { installWords as words } from "./words.ts";

export interface ToolsParts {
  /** Of Lares. */
  home: string;
  crash: Crash;
  /** Where the programs of this machine are. */
  searchPath(): readonly string[];
  /** The variables of every child, with this folder as its home. */
  environment(home: string): Record<string, string>;
}

export interface InstalledProgram {
  version: string;
  program: string;
  /** The script of its package that had to run. */
  script: string | null;
}

interface Installable {
  name: string;
  program: string;
  npm: NpmProgram;
}

/** A large program's first start on a busy machine. */
const CHECK_MS = 60_000;
const SCRIPT_MS = 120_000;
const BIN = join("node_modules", ".bin");

export class RuntimeTools {
  private readonly parts: ToolsParts;
  private readonly root: string;
  private readonly under = new Map<string, Promise<InstalledProgram>>();

  constructor(parts: ToolsParts) {
    this.parts = parts;
    this.root = join(parts.home, "tools");
  }

  /** The folders of what is installed, for looking up programs. */
  folders(drivers: readonly Pick<RuntimeDriver, "name" | "npm">[]): string[] {
    return drivers.flatMap(({ name, npm }) => (npm && existsSync(this.bin(name)) ? [this.bin(name)] : []));
  }

  /** Whether this program is one of ours, and not of the machine. */
  has(program: string): boolean {
    return program.startsWith(`${this.root}/`);
  }

  /** Installs the newest one. Two callers at once wait for the same. */
  install({ name, program, npm }: Installable, isBusy: () => boolean): Promise<InstalledProgram> {
    const running = this.under.get(name);
    if (running) return running;
    const made = this.place({ name, program, npm }, isBusy).finally(() => this.under.delete(name));
    this.under.set(name, made);
    return made;
  }

  private async place({ name, program, npm }: Installable, isBusy: () => boolean): Promise<InstalledProgram> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    const link = join(this.root, name);
    const before = await readlink(link).catch(() => undefined);
    const folder = `.${name}-${randomBytes(6).toString("hex")}`;
    await this.sweep(name, [before]);
    try {
      const version = await this.fill(join(this.root, folder), { program, npm });
      this.parts.crash.at("tool.staged", () => name);
      const next = join(this.root, `${folder}.link`);
      await symlink(folder, next);
      // At once: there is always one of them.
      await rename(next, link);
      this.parts.crash.at("tool.placed", () => name);
      await this.sweep(name, isBusy() ? [folder, before] : [folder]);
      return { version, program: join(this.bin(name), program), script: npm.script };
    } catch (error) {
      await rm(join(this.root, folder), { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns its version (RUNTOOL-1). */
  private async fill(folder: string, { program: named, npm }: Omit<Installable, "name">): Promise<string> {
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, "package.json"), '{"private":true}\n');
    const done = await installPackages(folder, [npm.package]);
    if (!done.ok)
      throw new AppError("CONFLICT", {
        message: words.npmFailed(npm.package, done.why),
        hint: words.tryIt(done.args),
        retry: "later",
      });
    // RUNTOOL-2
    if (npm.script !== null) await this.runScript(folder, npm.package, npm.script);
    const program = join(folder, BIN, named);
    if (!existsSync(program))
      throw new AppError("CONFLICT", { message: words.noProgram(npm.package, named), retry: "after-change" });
    const said = await this.ask(folder, [program, "--version"], CHECK_MS);
    const version = said.stdout.trim().split("\n").at(-1)?.trim().slice(0, 200);
    if (said.code !== 0 || !version)
      throw new AppError("CONFLICT", {
        message: words.noVersion(npm.package, lastLine(said.stderr) || lastLine(said.stdout)),
        retry: "after-change",
      });
    return version;
  }

  private async runScript(folder: string, name: string, script: string): Promise<void> {
    const at = join(folder, "node_modules", ...readName(name).split("/"));
    const { code, stderr } = await this.ask(folder, [process.execPath, join(at, script)], SCRIPT_MS, at);
    if (code !== 0)
      throw new AppError("CONFLICT", { message: words.scriptFailed(name, script, lastLine(stderr)), retry: "later" });
  }

  private ask(folder: string, argv: readonly [string, ...string[]], patienceMs: number, cwd = folder) {
    const env = { ...this.parts.environment(folder), TMPDIR: folder };
    const folders = [...this.parts.searchPath(), dirname(process.execPath)];
    return askProgram({ argv, folders, env, cwd, patienceMs, signal: new AbortController().signal });
  }

  /** Removes what earlier installations left, except what is named here. */
  private async sweep(name: string, keep: readonly (string | undefined)[]): Promise<void> {
    for (const one of await readdir(this.root)) {
      const isOf = one.startsWith(`.${name}-`) && /^[0-9a-f]{12}(\.link)?$/.test(one.slice(name.length + 2));
      if (isOf && !keep.includes(one)) await rm(join(this.root, one), { recursive: true, force: true });
    }
  }

  private bin(name: string): string {
    return join(this.root, name, BIN);
  }
}

/** Without the version that npm takes behind it. */
function readName(given: string): string {
  const at = given.indexOf("@", 1);
  return at < 0 ? given : given.slice(0, at);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
}
