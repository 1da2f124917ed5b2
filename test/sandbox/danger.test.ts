import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createConfinement,
  makeRules,
  type SandboxConfig,
  safeBind,
  safeNetwork,
  safeWorkspace,
  sandboxConfig,
} from "../../src/edges/tools/sandbox/index.ts";
import { scratch } from "../support/index.ts";

const made = () => {
  const dir = scratch("danger");
  const homes = { home: join(dir, "user/.lares"), userHome: join(dir, "user") };
  mkdirSync(join(homes.home, "agents/main/workspace"), { recursive: true });
  mkdirSync(join(homes.userHome, ".ssh"));
  mkdirSync(join(dir, "data"));
  return { dir, ...homes, workspace: join(homes.home, "agents/main/workspace") };
};
const config = (given: object): SandboxConfig => sandboxConfig.parse(given);

test("SB-01: sockets of container engines, system folders, homes and keys are not let in", () => {
  const at = made();
  const refused = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/user/1000/podman/podman.sock",
    "/etc",
    "/etc/",
    "/etc/ssl/../shadow",
    "/",
    "//",
    "/var",
    "/proc",
    "/proc/1/root",
    "/sys",
    "/dev",
    "/run",
    "relative/path",
    at.userHome,
    at.home,
    join(at.home, "lares.db"),
    join(at.userHome, ".ssh/id_ed25519"),
    at.dir,
  ];
  for (const path of refused) {
    expect(() => safeBind(path, "read", at), path).toThrow(/can't include "/);
    expect(() => makeRules(config({ readable: [path] }), at.workspace, at), path).toThrow();
  }
  expect(safeBind(join(at.dir, "data"), "read", at)).toBe(join(at.dir, "data"));
  expect(safeBind("/usr/share", "read", at)).toBe("/usr/share");
  expect(() => safeBind("/usr/share", "write", at)).toThrow();
});

test("SB-01: a link above a path does not make it harmless", () => {
  const at = made();
  symlinkSync("/", join(at.dir, "data/root"));
  symlinkSync("/etc", join(at.dir, "data/config"));
  symlinkSync(at.userHome, join(at.dir, "data/me"));
  for (const path of ["root/etc", "root", "config", "config/ssl", "me/.ssh", "root/var/run", "me/.ssh/new"]) {
    expect(() => safeBind(join(at.dir, "data", path), "read", at), path).toThrow(/is really/);
  }
});

test("SB-01: a socket under any name is refused", async () => {
  const at = made();
  const file = join(at.dir, "data/harmless");
  const server = createServer().listen(file);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  expect(() => safeBind(file, "read", at)).toThrow(/is a socket/);
});

test("SB-01: the machine's network and another container's are refused without the named flag", async () => {
  for (const name of ["host", "HOST", "container:abc", "ns:/proc/1/ns/net", "--privileged", "a b"]) {
    expect(() => safeNetwork(name), name).toThrow(/can't use the network/);
    const parts = { ...made(), config: () => config({ backend: "docker", image: "debian", network: name }) };
    await expect(createConfinement(parts).room(parts.workspace), name).rejects.toThrow(/can't use the network/);
  }
  expect(safeNetwork("agents")).toBe("agents");
});

test("SB-01: what isn't understood as a network is refused, and would give none", () => {
  const at = made();
  for (const network of ["maybe", "on", "bridge", "host", "agents"]) {
    expect(() => config({ network }), network).toThrow(/must be true or false/);
    expect(() => config({ network, dangerouslyAllow: ["network"] }), network).toThrow(/must be true or false/);
    expect(makeRules({ ...config({}), network }, at.workspace, at).network, network).toBe(false);
  }
  for (const network of ["off", "No", "false", "none", "disabled"]) {
    expect(makeRules(config({ network }), at.workspace, at).network, network).toBe(false);
    const box = config({ backend: "docker", image: "debian", network });
    expect(makeRules(box, at.workspace, at).network, network).toBe(false);
  }
  const named = config({ backend: "docker", image: "debian", network: "agents" });
  expect(makeRules(named, at.workspace, at).network).toBe(true);
});

test("a dangerous flag is a word in the config, and it is needed", () => {
  const at = made();
  const brave = config({ readable: ["/etc"], dangerouslyAllow: ["binds"] });
  expect(makeRules(brave, at.workspace, at).readable).toEqual(["/etc"]);
  expect(() => config({ dangerouslyAllow: ["everything"] })).toThrow();
});

test("a workspace may lie in the home of Lares and in a person's, but the system's folders are none", () => {
  const at = made();
  expect(safeWorkspace(at.workspace)).toBe(at.workspace);
  expect(safeWorkspace(at.userHome)).toBe(at.userHome);
  for (const path of ["/", "/etc", "/usr/lib", "/var/run"]) expect(() => safeWorkspace(path), path).toThrow();
});

test("containers need an image, SSH a host", () => {
  expect(() => config({ backend: "docker" })).toThrow(/needs it/);
  expect(() => config({ backend: "ssh" })).toThrow(/needs it/);
  expect(config({})).toMatchObject({ backend: "auto", network: false, readable: [], dangerouslyAllow: [] });
});
