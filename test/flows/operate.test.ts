/** What an operator meets on a bad day, with the real program: the log when Lares is down, a home that can't be used, damaged pages. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Lares, notRun, programAt, scratch, startModel, until } from "../support/index.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/lares.js", import.meta.url));
const NOBODY = 65534;

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model?.close());

/** `lares …` on a home, as somebody at a terminal; `as`: another user of this machine. */
function lares(home: string, argv: string[], as?: number): { code: number; out: string; err: string } {
  const env = { PATH: process.env.PATH ?? "", HOME: home, LARES_HOME: home, LARES_COMMAND: "lares" };
  const user = as === undefined ? {} : { uid: as, gid: as };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], { env, ...user, timeout: 30_000 });
  return { code: status ?? -1, out: String(stdout), err: String(stderr) };
}

describe("the log", () => {
  it("outlives kill -9 and is read without a gateway", async () => {
    const one = new Lares({ env: model.env });
    try {
      await one.start();
      await one.chat("u", "say:hello");
      await until("the turn to be in the file", () =>
        readFileSync(join(one.home, "logs/lares.log"), "utf8").includes("turn answered"),
      );
      expect(readFileSync(join(one.home, "logs/lares.log"), "utf8")).not.toContain("hello");
      await one.kill9();
      const read = lares(one.home, ["logs", "--token", one.token]);
      expect(read).toMatchObject({ code: 0, err: expect.stringContaining("Lares is not running. This is from ") });
      expect(read.out).toMatch(/Lares started[\s\S]*turn answered/);
      await one.start();
      expect(lares(one.home, ["logs", "--token", one.token]).err).toBe("");
    } finally {
      await one.dispose();
    }
  }, 60_000);
});

describe("a log that has no place", () => {
  it.each([
    ["a file called logs", (home: string) => writeFileSync(join(home, "logs"), "x"), "logs is a file, not a folder"],
    [
      "a folder called lares.log",
      (home: string) => mkdirSync(join(home, "logs/lares.log"), { recursive: true }),
      "lares.log is a folder, not a file",
    ],
  ])(
    "%s: Lares goes on, says it once with the way out, and doctor says the same",
    async (_, make, what) => {
      const one = new Lares({ env: model.env });
      try {
        make(one.home);
        await one.start();
        expect((await one.chat("u", "say:hello")).response).toBe("hello");
        await one.chat("u", "say:again");
        await until("the sentence", () => one.output.includes(what));
        expect(one.output.split(what)).toHaveLength(2);
        expect(one.output).toMatch(/There is no log in the home: .* Move it away: mv .* Lares goes on without it\./);
        expect(lares(one.home, ["doctor", "--token", one.token]).out).toContain(what);
      } finally {
        await one.dispose();
      }
    },
    60_000,
  );
});

describe("a home that can't be used", () => {
  const told = (home: string, as?: number) => ({
    start: lares(home, ["gateway", "run", "--port", "0"], as).err,
    status: lares(home, ["status"], as).out,
    doctor: lares(home, ["doctor"], as).out,
    set: lares(home, ["config", "set", "gateway.port", "8080"], as).err,
  });

  it("a file, or below a file: the same sentence from start, status and doctor", () => {
    const file = join(scratch("file-as-home"), "file");
    writeFileSync(file, "x");
    for (const said of Object.values(told(file))) expect(said).toContain(`${file} is a file, not a folder.`);
    for (const said of Object.values(told(join(file, "home")))) expect(said).toContain("part of its path is a file");
  }, 60_000);

  it("a link to a folder that isn't there: what it points to, and nothing is made in its place", () => {
    const parent = scratch("dangling-home");
    const home = join(parent, "home");
    symlinkSync("disk/lares", home);
    const sentence = `${home} is a link to ${join(parent, "disk/lares")}, which doesn't exist.`;
    for (const said of Object.values(told(home))) expect(said).toContain(sentence);
    expect(told(join(home, "deeper")).start).toContain(sentence);
    expect(readdirSync(parent)).toEqual(["home"]);
  }, 60_000);

  it("doctor says nothing is fine in a home that it couldn't look into", () => {
    const file = join(scratch("doctor-file-home"), "file");
    writeFileSync(file, "x");
    const { checks } = JSON.parse(lares(file, ["doctor", "--json"]).out) as { checks: { id: string; level: string }[] };
    expect(checks.find(({ id }) => id === "home")?.level).toBe("bad");
    for (const id of ["files", "config", "database", "log", "lock", "port", "model", "heartbeat"])
      expect(checks.map((one) => one.id)).not.toContain(id);
  }, 60_000);

  const isRoot = process.getuid?.() === 0;
  if (!isRoot) notRun("homes of another user", "Run the tests as root, who can be another user");
  it.skipIf(!isRoot)(
    "somebody else's: said with the folder and the way out",
    () => {
      const parent = scratch("others-home");
      chmodSync(parent, 0o755);
      const home = join(parent, "home");
      mkdirSync(home, { recursive: true, mode: 0o755 });
      for (const said of Object.values(told(home, NOBODY)))
        expect(said).toContain(`You can't write to ${home} (EACCES).`);
      for (const said of Object.values(told(join(parent, "new"), NOBODY)))
        expect(said).toContain(`can't be made: you can't write to ${parent}`);
      expect(readdirSync(home)).toEqual([]);
    },
    60_000,
  );

  const canMount = isRoot && programAt("unshare") !== undefined && spawnSync("unshare", ["-m", "true"]).status === 0;
  if (!canMount) notRun("homes that are read-only or full", "Run the tests as root where file systems can be mounted");
  /** Start and doctor where `mount` was done to the home, as an ordinary user. */
  const mounted = (home: string, mount: string): string => {
    const run = `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups ${process.execPath} ${PROGRAM}`;
    const script = `${mount}; ${run} gateway run --port 0; ${run} doctor; true`;
    const env = { PATH: process.env.PATH ?? "", HOME: home, LARES_HOME: home, LARES_COMMAND: "lares" };
    const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-c", script], { env, timeout: 40_000 });
    return String(stderr) + String(stdout);
  };
  it.skipIf(!canMount)(
    "read-only, and full",
    () => {
      const home = scratch("mounted-home");
      mkdirSync(home, { recursive: true, mode: 0o700 });
      chownSync(home, NOBODY, NOBODY);
      const said = mounted(home, `mount --bind ${home} ${home} && mount -o remount,ro,bind ${home}`);
      expect(said.split(`${home} is on a read-only file system.`)).toHaveLength(3);
      const tmpfs = `mount -t tmpfs -o size=64k,mode=700,uid=${NOBODY},gid=${NOBODY} tmpfs ${home}`;
      const full = mounted(home, `${tmpfs}; dd if=/dev/zero of=${home}/filler bs=1k count=99 2>/dev/null`);
      expect(full).toMatch(/can't be written: the disk is full\. Free some space/);
      expect(full).toContain("Only 0 B left on the disk of");
    },
    60_000,
  );
});

describe("damaged pages", () => {
  it("are named by start and doctor with the file and the way out, and nothing is changed", async () => {
    const one = new Lares({ env: model.env });
    try {
      await one.start();
      await one.chat("u", "say:hello");
      await one.stop();
      const file = join(one.home, "lares.db");
      const fd = openSync(file, "r+");
      const pages = statSync(file).size / 4096;
      for (let page = 3; page < pages; page += 2) writeSync(fd, Buffer.alloc(4096, 0x5a), 0, 4096, page * 4096);
      const start = lares(one.home, ["gateway", "run", "--port", "0"]);
      expect(start.code).toBe(1);
      expect(start.err).toContain(`${file} is damaged: `);
      expect(start.err).toContain(`sqlite3 ${file} .recover`);
      expect(start.err.trim().split("\n")).toHaveLength(1);
      const doctor = lares(one.home, ["doctor"]);
      expect(doctor.code).toBe(1);
      expect(doctor.out).toContain(`${file} is damaged: parts of it can't be read.`);
      expect(start.err).not.toMatch(/tree|page|malformed/i);
      expect(doctor.out).toMatch(/^ +SQLite says: .+/m);
      expect(lares(one.home, ["status"]).out).toContain("Lares did not start: ");
    } finally {
      await one.dispose();
    }
  }, 60_000);
});

describe("a home that others can look into", () => {
  it.each([
    [0o755, "warn", "Others can look into"],
    [0o770, "bad", "Others can change what is in"],
    [0o700, "ok", ""],
  ])(
    "%o: doctor and the audit judge it alike",
    async (mode, level, text) => {
      const one = new Lares({ env: model.env });
      try {
        await one.start();
        chmodSync(one.home, mode);
        const { findings } = await one.rpc("security.audit", {});
        const audited = findings.find(({ id }) => id === "mode:home");
        const { checks } = JSON.parse(lares(one.home, ["doctor", "--json", "--token", one.token]).out) as {
          checks: { id: string; level: string; text: string }[];
        };
        const checked = checks.find(({ id }) => id === "home");
        for (const found of [audited, checked])
          expect(found).toMatchObject({ level, text: expect.stringContaining(text) });
      } finally {
        await one.dispose();
      }
    },
    60_000,
  );
});

describe("the sandbox", () => {
  it("status, doctor and the audit say when none holds", async () => {
    const one = new Lares({ env: model.env, config: { sandbox: { backend: "none" } } });
    try {
      await one.start();
      expect((await one.rpc("status", {})).sandbox).toMatchObject({ name: "none", ok: false });
      const status = lares(one.home, ["status", "--token", one.token]).out;
      expect(status).toContain("none: commands run with your rights");
      expect(lares(one.home, ["doctor", "--token", one.token]).out).toContain("No sandbox: commands run");
      const { findings } = await one.rpc("security.audit", {});
      expect(findings.find(({ id }) => id === "sandbox")).toMatchObject({ level: "warn" });
    } finally {
      await one.dispose();
    }
  }, 60_000);
});
