/**
 * The sandbox around a runtime's program. It sees its home, its temporary folder and the agent's workspace, may read the programs it is
 * made of, and reaches nothing but the door to models, through a socket.
 *
 * RUNROOM-1: a runtime in a sandbox has no network: the one port it reaches is ours.
 */

import { existsSync, realpathSync } from "node:fs";
import { connect, createServer } from "node:net";
import { arch, hostname, platform } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { RunCommand } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { cleanEnvironment, RUN_TAG } from "../exec/environment.ts";
import { endRun } from "../exec/processes.ts";
import { findProject, isScript, programFolders, searchPath } from "../mcp/connect/launch.ts";
import type { Confinement } from "../sandbox/index.ts";

export interface RunRoomParts {
  userHome: string;
  /** Of Lares. */
  home: string;
  sandbox: Pick<Confinement, "service" | "state">;
}

interface RoomNeeds {
  key: string;
  writable: readonly string[];
  /** Besides the programs; checked already. */
  readable: readonly string[];
  way: { folder: string; port: number; inside: number } | null;
}

export interface RunMachine {
  tag: string;
  /** Names this machine. */
  machine: string;
  searchPath(): readonly string[];
  endRun(run: { key: string; leader?: number }): Promise<number>;
  environment(home: string): Record<string, string>;
  hasSandbox(): Promise<boolean>;
  confine(room: RoomNeeds, command: RunCommand): Promise<{ command: RunCommand; close(): void }>;
}

/** What this machine does for runs of other runtimes. */
export function openRunMachine(parts: RunRoomParts): RunMachine {
  const paths = () => searchPath(parts.userHome);
  return {
    tag: RUN_TAG,
    machine: [hostname(), platform(), arch()].join(" "),
    searchPath: paths,
    endRun: (run) => endRun(run),
    environment: (home) => ({ ...cleanEnvironment(home), PATH: paths().join(delimiter) }),
    hasSandbox: async () => {
      const { ok, name } = await parts.sandbox.state();
      // Others run elsewhere, where the runtime isn't.
      return ok && name === "bubblewrap";
    },
    confine: (room, command) => confine(parts, room, command),
  };
}

async function confine({ sandbox, userHome, home }: RunRoomParts, room: RoomNeeds, { argv, cwd, env }: RunCommand) {
  const [program, ...args] = argv;
  // A link to it, e.g. in ~/.local/bin, may stand where the sandbox shows nothing.
  const real: [string, ...string[]] = [isOfSystem(program) ? program : realpathSync(program), ...args];
  const programs = real.filter(isScript).flatMap((path) => findParts(realpathSync(path)));
  // Below Lares' home only what was installed on request is shown.
  const tools = `${realpathSync(home)}/tools/`;
  const isInstalled = (path: string) => path.startsWith(tools);
  const bridge = room.way && (await openBridge(room.way));
  const place = await sandbox.service({
    writable: room.writable,
    readable: [...programFolders(userHome), ...programs.filter((path) => !isOfSystem(path) && !isInstalled(path))],
    network: false,
    ours: [...programs.filter(isInstalled), ...room.readable, ...(room.way ? [room.way.folder] : [])],
  });
  const inside = bridge ? bridge.wrap(real) : real;
  const wrapped = await place.wrap({ argv: inside, cwd, env, key: room.key });
  return { command: { argv: wrapped.argv, cwd, env: wrapped.env }, close: () => bridge?.close() };
}

function isOfSystem(path: string): boolean {
  return path.startsWith("/usr/");
}

const INSTALLED = "/node_modules";

/** What a program loads: the packages beside it, without the folder they were installed in, which may be a whole home. */
export function findParts(file: string): string[] {
  const at = file.indexOf(`${INSTALLED}/`);
  if (at >= 0) return [file.slice(0, at + INSTALLED.length)];
  const folder = dirname(dirname(file));
  return existsSync(join(folder, "pyvenv.cfg")) ? [folder, ...findPython(folder)] : [findProject(file)];
}

/** The Python that a virtual environment was made from is elsewhere, often below a home: only its programs and libraries are shown. */
function findPython(environment: string): string[] {
  const python = join(environment, "bin", "python");
  if (!existsSync(python)) return [];
  const folder = dirname(dirname(realpathSync(python)));
  return ["bin", "lib"].map((name) => join(folder, name)).filter((path) => existsSync(path));
}

/** What the kernel takes as the path of a socket. */
const LONGEST_PATH = 107;
const MOST_CONNECTIONS = 64;

interface WayOut {
  wrap(argv: readonly [string, ...string[]]): [string, ...string[]];
  close(): void;
}

/** From a port inside the sandbox, through a socket, to the port here. */
async function openBridge({ folder, port, inside }: NonNullable<RoomNeeds["way"]>): Promise<WayOut> {
  const path = join(folder, "m");
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new AppError("CONFIG_INVALID", {
      message: `A runtime can't reach its models from here: the path ${folder} is too long for a socket.`,
      hint: "Move the home to a shorter path.",
    });
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  server.unref();
  return {
    wrap: (argv) => [process.execPath, "-e", INSIDE, path, String(inside), ...argv],
    close: () => void server.close(),
  };
}

/** Runs inside the sandbox, in front of the runtime's own program. As source, so that it needs no file there. */
const INSIDE = String.raw`
const { createServer, connect } = require("node:net");
const [socket, port, program, ...args] = process.argv.slice(1);
const server = createServer((near) => {
  const far = connect(socket);
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.pipe(far).pipe(near);
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = require("node:child_process").spawn(program, args, { stdio: "inherit" });
  child.once("error", (error) => { console.error(error.message); process.exit(127); });
  child.once("exit", (code) => process.exit(code ?? 1));
});
`;
