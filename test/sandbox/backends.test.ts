/** Containers and SSH: no engine and no far machine here, so what is looked at are the commands they would issue. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createExec } from "../../src/edges/tools/index.ts";
import {
  type Confinement,
  createConfinement,
  createContainer,
  createNone,
  createSsh,
  hasPrlimit,
  type Rules,
  type Sandbox,
  sandboxConfig,
} from "../../src/edges/tools/sandbox/index.ts";
import { scratch } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { world } from "./support.ts";

const SECRET = "correct-horse";
const command = {
  argv: ["/usr/bin/mawk", "-f", "it's.awk"] as const,
  argv0: "awk",
  cwd: "/w/sub",
  env: { PATH: "/usr/bin", LANG: "C.UTF-8", TOKEN: SECRET },
  key: "t_1.call:2",
};
const rules: Rules = { writable: ["/w"], readable: ["/data"], hidden: [], network: false };

function pairs(argv: readonly string[], option: string): string[] {
  return argv.flatMap((word, i) => (word === option ? [argv[i + 1]!] : []));
}

function program(body: string): string {
  const file = join(scratch("program"), "program");
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

test.each(["docker", "podman"] as const)("%s: one container a command, shut in, named, gone afterwards", (engine) => {
  const { argv, end, env } = createContainer({ engine, image: "debian:stable-slim", owner: { uid: 7, gid: 8 } }).wrap(
    command,
    rules,
  );
  const line = argv.join(" ");
  expect(argv.slice(0, 3)).toEqual([engine, "run", "--rm"]);
  expect(pairs(argv, "--network")).toEqual(["none"]);
  expect(pairs(argv, "--cap-drop")).toEqual(["ALL"]);
  expect(pairs(argv, "--security-opt")).toEqual(["no-new-privileges"]);
  expect(pairs(argv, "--user")).toEqual(["7:8"]);
  expect(pairs(argv, "--workdir")).toEqual(["/w/sub"]);
  expect(pairs(argv, "--mount")).toEqual(["type=bind,src=/w,dst=/w", "type=bind,src=/data,dst=/data,readonly"]);
  expect(line).toContain("--read-only");
  expect(line).not.toMatch(/privileged |docker\.sock|--pid |--ipc|host/);
  expect(pairs(argv, "--entrypoint")).toEqual(["awk"]);
  expect(argv.slice(-3)).toEqual(["debian:stable-slim", "-f", "it's.awk"]);
  // Values travel in the client's environment: everybody sees a command line (SANDBOX-1).
  expect(pairs(argv, "--env")).toEqual(["PATH", "LANG", "TOKEN"]);
  expect(line).not.toContain(SECRET);
  expect(env.TOKEN).toBe(SECRET);
  expect(end).toEqual([engine, "kill", pairs(argv, "--name")[0]]);
  expect(pairs(argv, "--name")[0]).toMatch(/^lares-[\w.-]+$/);
});

test("a container has the network it was given, and hides what lies inside what it sees", () => {
  const dir = scratch("hide");
  mkdirSync(join(dir, "keys"));
  writeFileSync(join(dir, "secret"), "");
  const open: Rules = {
    writable: [dir],
    readable: [],
    hidden: [join(dir, "keys"), join(dir, "secret"), "/x"],
    network: true,
  };
  const wrap = (network?: string) =>
    createContainer({ engine: "docker", image: "i", ...(network ? { network } : {}) }).wrap(command, open).argv;
  expect(pairs(wrap(), "--network")).toEqual(["bridge"]);
  expect(pairs(wrap("agents"), "--network")).toEqual(["agents"]);
  expect(pairs(wrap(), "--mount")).toEqual([
    `type=bind,src=${dir},dst=${dir}`,
    expect.stringMatching(`type=tmpfs,dst=${dir}/keys`),
    `type=bind,src=/dev/null,dst=${dir}/secret,readonly`,
  ]);
});

test("a path that a mount cannot say is refused, not mounted as something else", () => {
  const odd = { ...rules, writable: ["/w,src=/etc"] };
  expect(() => createContainer({ engine: "docker", image: "i" }).wrap(command, odd)).toThrow(/comma/);
});

test("SSH: one remote command, every word quoted, nothing forwarded, no secret on the line", () => {
  const { argv, env, end } = createSsh({ host: "agent@build.lan", folder: "/srv/ws" }).wrap(command, rules);
  expect(argv[0]).toBe("ssh");
  for (const option of ["BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ClearAllForwardings=yes"]) {
    expect(pairs(argv, "-o")).toContain(option);
  }
  expect(argv.slice(-3)).toEqual([
    "--",
    "agent@build.lan",
    `cd '/srv/ws/sub' && exec 'env' '-i' 'PATH=/usr/local/bin:/usr/bin:/bin' 'LARES_RUN=t_1.call:2' 'LANG=C.UTF-8' 'awk' '-f' 'it'\\''s.awk'`,
  ]);
  expect(JSON.stringify([argv, env])).not.toContain(SECRET);
  expect(end?.at(-1)).toContain("'LARES_RUN=t_1.call:2'");
});

test("a host that would be an option of ssh is never tried", async () => {
  for (const host of ["-oProxyCommand=touch /tmp/pwned", "a b", "", "x;y"]) {
    expect(await createSsh({ host, program: "/bin/false" }).available()).toMatchObject({ ok: false });
  }
});

test("a container runs the image that was shown, not whichever has its name by then", async () => {
  const ids = ["a", "b"].map((digit) => digit.repeat(64));
  const fake = (id: string) => program(`[ "$1" = image ] && echo ${id}; exit 0`);
  const [a, b] = await Promise.all(
    [`sha256:${ids[0]}`, ids[1]!].map(async (id) => {
      const one = createContainer({ engine: "docker", image: "debian:12", program: fake(id) });
      await one.available();
      return { where: one.where(rules), argv: one.wrap(command, rules).argv };
    }),
  );
  expect(a!.where).toContain("(docker, debian:12, sha256:aaaaaaaaaaaaaaaa)");
  expect(a!.where).not.toBe(b!.where);
  expect([a!.argv.at(-3), b!.argv.at(-3)]).toEqual(ids.map((id) => `sha256:${id}`));
  const unknown = createContainer({ engine: "docker", image: "debian:12", program: program("[ $1 = version ]") });
  expect(await unknown.available()).toEqual({ ok: true });
  expect(unknown.where(rules)).toContain("debian:12, whichever image has that name");
  expect(unknown.wrap(command, rules).argv.at(-3)).toBe("debian:12");
});

test("a backend is there when its program says so, and says why when not", async () => {
  const docker = (program: string) => createContainer({ engine: "docker", image: "i", program }).available();
  expect(await docker(program("exit 0"))).toEqual({ ok: true });
  expect(await docker(program("echo Cannot connect to the daemon >&2; exit 1"))).toEqual({
    ok: false,
    why: "docker does not answer: Cannot connect to the daemon",
  });
  expect(await docker("/nonexistent/docker")).toMatchObject({ why: expect.stringContaining("not installed") });
  expect(await createSsh({ host: "h", program: program("exit 255") }).available()).toMatchObject({ ok: false });
});

const broken: Sandbox = {
  ...createNone(),
  name: "bubblewrap",
  available: async () => ({ ok: false, why: "no such kernel" }),
};
const confine = (backend: string) => {
  const home = scratch("home");
  const parts = { home, userHome: home, bubblewrap: broken, config: () => sandboxConfig.parse({ backend }) };
  return { home, made: createConfinement(parts) };
};

test("auto without a sandbox runs without one and says so (SANDBOX-2)", async () => {
  const { home, made } = confine("auto");
  const room = await made.room(home);
  expect(room).toMatchObject({ name: "none", where: "without a sandbox: no such kernel" });
  const { argv, env } = await room.wrap(command);
  expect(argv.slice(-command.argv.length)).toEqual([...command.argv]);
  expect(env).toEqual(command.env);
  // Under the kernel's limits, where there is the program that sets them; under the name it was given either way.
  if (hasPrlimit()) expect(argv).toEqual(expect.arrayContaining(["/usr/bin/prlimit", "--core=0", "awk"]));
  expect(await made.state()).toEqual({ name: "none", ok: false, why: "no such kernel" });
});

test("a sandbox that was asked for by name and is not there refuses to run commands", async () => {
  const { home, made } = confine("bubblewrap");
  await expect(made.room(home)).rejects.toThrow(/can't run.*no such kernel/);
  expect(await made.state()).toMatchObject({ name: "bubblewrap", ok: false });
});

test("none is a choice, and it is said", async () => {
  const { home, made } = confine("none");
  expect((await made.room(home)).where).toBe("without a sandbox: the config says so");
});

test.each([
  ["ssh", { host: "one@build.lan" }, { host: "two@build.lan" }],
  ["ssh", { host: "one@build.lan", folder: "/srv/a" }, { host: "one@build.lan", folder: "/srv/b" }],
  ["docker", { image: "debian:12" }, { image: "debian:13" }],
] as const)("%s: an approval holds for this host or image only", async (backend, here, there) => {
  const place = world();
  const planned = async (config: object) => {
    const parsed = sandboxConfig.parse({ backend, ...config });
    const sandbox =
      backend === "ssh"
        ? createSsh({ host: parsed.host!, ...(parsed.folder ? { folder: parsed.folder } : {}) })
        : createContainer({ engine: "docker", image: parsed.image! });
    const room = pretend<Confinement>({
      room: async () => ({
        name: sandbox.name,
        where: sandbox.where(rules),
        rules,
        wrap: () => ({ argv: ["x"], env: {} }),
      }),
    });
    const { binding, targets } = await createExec({ sandbox: room }).plan({ command: "touch a" }, place);
    return JSON.stringify([binding, targets]);
  };
  expect(await planned(here)).toBe(await planned(here));
  const [a, b] = [await planned(here), await planned(there)].map((one) => JSON.parse(one) as [object, string[]]);
  expect(a![0]).not.toEqual(b![0]);
  expect(a![1]).not.toEqual(b![1]);
});
