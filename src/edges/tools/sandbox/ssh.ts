/**
 * Another machine over SSH: that machine is the border. What it lets its user do, a command may do; hidden paths of this
 * machine are not there, and secrets of the vault stay here (a remote command line is no place for them).
 */
import { relative } from "node:path";
import type { Confined, Rules, Sandbox, Wrapped } from "./port.ts";
import { covers } from "./rules.ts";
import { remembered, tryRun } from "./trial.ts";

export interface SshOptions {
  /** `user@host` or a name of the SSH configuration. */
  host: string;
  /** The folder there that stands for the workspace; the same path when not given. */
  folder?: string;
  program?: string;
}

const OPTIONS = ["BatchMode=yes", "ConnectTimeout=10", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ForwardX11=no"];
/** Of the variables these mean the same there; the rest is this machine's. */
const CARRIED = ["LANG", "LC_ALL", "TERM", "TZ"];
const PATH = "/usr/local/bin:/usr/bin:/bin";

export function createSsh(options: SshOptions): Sandbox {
  const { host } = options;
  const program = options.program ?? "ssh";
  const client = (remote: string, terminal = false): [string, ...string[]] => [
    program,
    ...OPTIONS.flatMap((option) => ["-o", option]),
    "-o",
    "ClearAllForwardings=yes",
    terminal ? "-tt" : "-T",
    "--",
    host,
    remote,
  ];
  const trial = remembered(() => tryRun(client("true"), { PATH }));
  return {
    name: "ssh",
    async available() {
      if (!isHost(host)) return { ok: false, why: `"${host}" is not a host's name` };
      const found = await trial();
      return found.ok ? found : { ok: false, why: `${host} does not answer: ${found.why}` };
    },
    wrap(command: Confined, rules: Rules): Wrapped {
      const env = CARRIED.flatMap((name) => (command.env[name] === undefined ? [] : [`${name}=${command.env[name]}`]));
      const argv = [command.argv0 ?? command.argv[0], ...command.argv.slice(1)];
      const words = ["env", "-i", `PATH=${PATH}`, `LARES_RUN=${command.key}`, ...env, ...argv];
      const remote = `cd ${quoted(there(command.cwd, rules))} && exec ${words.map(quoted).join(" ")}`;
      return {
        argv: client(remote, command.terminal),
        env: { PATH },
        // Everything that carries the run's tag, as on this machine.
        end: client(
          `for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ 2>/dev/null | grep -qxF ${quoted(`LARES_RUN=${command.key}`)} && kill -9 "\${p#/proc/}"; done; true`,
        ),
      };
    },
    where: () => `on ${host} over SSH${options.folder ? ` in ${options.folder}` : ""}, with that machine's network`,
  };

  function there(cwd: string, rules: Rules): string {
    const workspace = rules.writable.find((path) => covers(path, cwd));
    if (options.folder === undefined || workspace === undefined) return cwd;
    const below = relative(workspace, cwd);
    return below ? `${options.folder}/${below}` : options.folder;
  }
}

/** Never an option: `-oProxyCommand=…` would run a program here. */
function isHost(host: string): boolean {
  return /^[A-Za-z0-9_][\w.-]*(@[A-Za-z0-9_[][\w.:[\]-]*)?$/.test(host);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
