/**
 * Docker or Podman, by their command line: each command is a separate container, with the workspace mounted at the same
 * path. Killing the client does not end the container, so the run is ended by its name too.
 *
 * A name like `debian:stable` is whatever was pulled last. So the image's own id is asked for, shown, part of what an approval is
 * bound to, and what runs.
 */
import { existsSync, statSync } from "node:fs";
import { AppError } from "../../../core/domain/index.ts";
import type { Confined, Rules, Sandbox, Wrapped } from "./port.ts";
import { covers } from "./rules.ts";
import { remembered, tryRun } from "./trial.ts";

export interface ContainerOptions {
  engine: "docker" | "podman";
  /** Has a shell and the programs the agent needs. */
  image: string;
  /** A separate network instead of the engine's default. */
  network?: string;
  program?: string;
  /** Whose the files in the workspace are. */
  owner?: { uid: number; gid: number };
}

/** `sha256:` and 16 digits, more than the engines themselves show. */
const SHOWN_ID = 23;
/** A fork bomb stops here. */
const MOST_PROCESSES = 512;

export function createContainer(options: ContainerOptions): Sandbox {
  const { engine, image } = options;
  const program = options.program ?? engine;
  const ask = (...args: string[]) => tryRun([program, ...args], { PATH: "/usr/local/bin:/usr/bin:/bin" });
  const trial = remembered(() => ask("version", "--format", "{{.Server.Version}}"));
  /** As of the last look; unknown before the image is pulled. */
  let id: string | undefined;
  return {
    name: engine,
    async available() {
      if (!/^[a-z0-9][\w./:@-]*$/.test(image)) return { ok: false, why: `"${image}" is not an image's name` };
      const found = await trial();
      if (!found.ok) return { ok: false, why: `${engine} does not answer: ${found.why}` };
      const { said = "" } = await ask("image", "inspect", "--format", "{{.Id}}", image);
      // Podman leaves out the name of the algorithm.
      id = /^(sha256:)?[0-9a-f]{64}$/.test(said) ? said.replace(/^(?!sha256:)/, "sha256:") : undefined;
      return { ok: true };
    },
    wrap(command: Confined, rules: Rules): Wrapped {
      const { limits } = rules;
      const name = `lares-${command.key.replace(/[^\w.-]/g, "_")}`;
      const owner = options.owner ?? { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 };
      const args = ["run", "--rm", "--init", "--name", name, "--label", `lares.run=${command.key}`];
      args.push("--pull", "missing", "--log-driver", "none");
      args.push("--network", rules.network ? (options.network ?? "bridge") : "none");
      args.push(
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--pids-limit",
        String(limits?.processes ?? MOST_PROCESSES),
      );
      if (limits)
        args.push(
          "--memory",
          `${limits.memoryMb}m`,
          // Unless said, the engine gives as much again in swap.
          "--memory-swap",
          `${limits.memoryMb}m`,
          "--ulimit",
          "core=0",
          "--ulimit",
          `fsize=${limits.fileMb * 1024 * 1024}`,
        );
      args.push("--user", `${owner.uid}:${owner.gid}`, ...(engine === "podman" ? ["--userns", "keep-id"] : []));
      const size = limits ? `,size=${limits.tmpMb}m` : "";
      args.push("--read-only", "--tmpfs", `/tmp:rw,nosuid,nodev,mode=1777${size}`);
      if (limits) args.push("--shm-size", `${limits.tmpMb}m`);
      const open = [...rules.writable, ...rules.readable];
      for (const path of rules.writable) args.push("--mount", `type=bind,src=${plain(path)},dst=${path}`);
      for (const path of rules.readable) args.push("--mount", `type=bind,src=${plain(path)},dst=${path},readonly`);
      for (const path of rules.hidden.filter((one) => open.some((outer) => covers(outer, one) && existsSync(one)))) {
        const mask = statSync(path).isDirectory() ? `type=tmpfs,dst=${plain(path)},tmpfs-size=0` : undefined;
        args.push("--mount", mask ?? `type=bind,src=/dev/null,dst=${plain(path)},readonly`);
      }
      if (command.terminal) args.push("--tty");
      // By name only: the values come from the client's own environment (SANDBOX-1).
      for (const variable of Object.keys(command.env)) args.push("--env", variable);
      args.push("--workdir", command.cwd, "--entrypoint", command.argv0 ?? command.argv[0], id ?? image);
      return {
        argv: [program, ...args, ...command.argv.slice(1)],
        env: { ...command.env },
        end: [program, "kill", name],
      };
    },
    where: (rules) =>
      `in a container (${engine}, ${image}, ${id?.slice(0, SHOWN_ID) ?? "whichever image has that name"}) ${rules.network ? "with" : "without"} network, /tmp is its own`,
  };
}

/** A mount is written as a list with commas. */
function plain(path: string): string {
  if (!/[,\n"]/.test(path)) return path;
  throw new AppError("CONFIG_INVALID", {
    message: `A container cannot mount ${JSON.stringify(path)}: its name has a comma, a quote or a line break.`,
    retry: "after-change",
  });
}
