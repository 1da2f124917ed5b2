/**
 * A PostgreSQL of the test's own: made in a temporary folder, on a Unix socket, as an unprivileged user (it refuses to run as root), and
 * gone afterwards. Each test takes a database of its own in it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programAt } from "./not-run.ts";
import { until } from "./until.ts";

/** Debian keeps the server's programs out of PATH, in a folder per version. */
const DEBIAN = "/usr/lib/postgresql";

export function postgresBin(): string | undefined {
  const onPath = programAt("initdb");
  if (onPath) return onPath.slice(0, -"/initdb".length);
  if (!existsSync(DEBIAN)) return undefined;
  const newest = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  return newest.map((version) => join(DEBIAN, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

/** "nobody" wherever there is a root to step down from. */
const NOBODY = 65_534;

export class Postgres {
  readonly dir = mkdtempSync(join(tmpdir(), "lares-pg-"));
  private readonly bin = postgresBin()!;
  private server: ChildProcess | undefined;
  private made = 0;

  static async start(): Promise<Postgres> {
    const postgres = new Postgres();
    postgres.init();
    await postgres.start();
    // Not the superuser: row-level security wouldn't bind it.
    postgres.sql("CREATE ROLE lares LOGIN");
    return postgres;
  }

  /** A new, empty database. */
  database(): string {
    const name = `d${++this.made}`;
    this.sql(`CREATE DATABASE ${name} OWNER lares`);
    return this.url(name);
  }

  url(name: string, role = "lares"): string {
    return `postgres://${role}@/${name}?host=${encodeURIComponent(this.dir)}`;
  }

  /** As the superuser. Returns rows as lines, with | between columns. */
  sql(text: string, database = "postgres"): string {
    return execFileSync(
      "psql",
      ["-XAtq", "-v", "ON_ERROR_STOP=1", "-h", this.dir, "-U", "boss", "-c", text, database],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      },
    ).trim();
  }

  async start(): Promise<void> {
    // Without fsync a server that is killed leaves what it wrote to the kernel, which lives on; only a power cut would lose it.
    const settings = ["listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_connections=40", "autovacuum=off"];
    this.server = spawn(
      join(this.bin, "postgres"),
      ["-D", join(this.dir, "data"), "-k", this.dir, ...settings.flatMap((one) => ["-c", one])],
      { stdio: "ignore", ...this.user() },
    );
    await until("PostgreSQL to answer", () => {
      try {
        return this.sql("SELECT 1") === "1";
      } catch {
        return false;
      }
    });
  }

  /** As a power cut would end it, or with goodbyes to its clients. */
  async end(how: "SIGKILL" | "SIGINT"): Promise<void> {
    const { server } = this;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const over = new Promise((resolve) => server.once("exit", resolve));
    // Its children notice that the postmaster died and end themselves.
    server.kill(how);
    await over;
  }

  async dispose(): Promise<void> {
    await this.end("SIGINT");
    rmSync(this.dir, { recursive: true, force: true });
  }

  private init(): void {
    const data = join(this.dir, "data");
    mkdirSync(data);
    chmodSync(this.dir, 0o755);
    if (process.getuid?.() === 0) for (const path of [this.dir, data]) chownSync(path, NOBODY, NOBODY);
    // Its files need no sync yet: nobody relies on an empty cluster.
    const how = [
      "-D",
      data,
      "-U",
      "boss",
      "--auth=trust",
      "--no-sync",
      "--locale=C.UTF-8",
      "-E",
      "UTF8",
      "--no-instructions",
    ];
    execFileSync(join(this.bin, "initdb"), how, { stdio: ["ignore", "ignore", "pipe"], ...this.user() });
  }

  private user(): { uid?: number; gid?: number; cwd: string } {
    return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY, cwd: this.dir } : { cwd: this.dir };
  }
}
