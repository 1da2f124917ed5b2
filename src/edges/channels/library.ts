/**
 * Libraries of channels are not part of Lares: they are installed into the home when a channel is added, and loaded when an
 * account of it is opened. One that is among Lares's own packages (a clone with its development packages) is taken from there.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../../core/domain/index.ts";
import { installPackages } from "../../core/kit/index.ts";

const here = createRequire(import.meta.url);

export class Libraries {
  private readonly dir: string;

  constructor(home: string) {
    this.dir = join(home, "packages");
  }

  /** `wanted` is a name, or a name with its version as npm takes it. */
  isInstalled(wanted: string): boolean {
    const name = packageName(wanted);
    return isBesideUs(name) || existsSync(join(this.dir, "node_modules", ...name.split("/"), "package.json"));
  }

  async load<T>(wanted: string): Promise<T> {
    const name = packageName(wanted);
    if (isBesideUs(name)) return (await import(name)) as T;
    if (!this.isInstalled(name)) {
      throw new AppError("CONFIG_INVALID", {
        message: `The package ${name} is not installed.`,
        hint: "Install what the channel needs: lares channels add",
        retry: "after-change",
      });
    }
    // Imported by a file in that folder, so that Node looks there, no matter what kind of module it is.
    const from = (await import(pathToFileURL(join(this.dir, "load.mjs")).href)) as { load(name: string): Promise<T> };
    return from.load(name);
  }

  /** Installs them by npm, without running their scripts. */
  async install(wanted: readonly string[]): Promise<void> {
    const missing = wanted.filter((one) => !this.isInstalled(one));
    if (!missing.length) return;
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    await writeFile(join(this.dir, "load.mjs"), "export const load = (name) => import(name);\n");
    if (!existsSync(join(this.dir, "package.json")))
      await writeFile(join(this.dir, "package.json"), '{"private":true}\n');
    const done = await installPackages(this.dir, missing);
    if (done.ok) return;
    throw new AppError("CHANNEL_SEND", {
      message: `npm could not install ${missing.join(", ")}: ${done.why}`,
      hint: `Try it yourself: npm ${done.args.join(" ")}`,
      retry: "later",
    });
  }
}

function packageName(wanted: string): string {
  return wanted.replace(/(?<=.)@[^@/]+$/, "");
}

function isBesideUs(name: string): boolean {
  try {
    here.resolve(name);
    return true;
  } catch (error) {
    // A package without an entry for `require` is installed all the same.
    return (error as { code?: string }).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}
