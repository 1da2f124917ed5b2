/**
 * The OS keyring by the system's own program: `secret-tool` (libsecret) on Linux, `security` on macOS. It is used when somebody asks
 * for it, and never otherwise: a keyring that is locked after a restart would keep Lares from starting. The value goes over
 * stdin, since arguments can be read by every process.
 */
import { execFile } from "node:child_process";
import { AppError } from "../../core/domain/index.ts";

/** The OS keyring, as far as the vault needs it. Both reject when the keyring is locked or not there. */
export interface Keyring {
  get(account: string): Promise<string | undefined>;
  set(account: string, value: string): Promise<void>;
}

const SERVICE = "lares";
/** Somebody may have to type a password into a dialog. */
const PATIENCE_MS = 60_000;

export function systemKeyring(platform: NodeJS.Platform = process.platform): Keyring {
  return platform === "darwin" ? macKeyring() : libsecret();
}

function libsecret(): Keyring {
  return {
    async get(account) {
      // It exits with 1 and says nothing when there is no such entry. The second name is the one older versions used.
      for (const name of ["account", "username"]) {
        const { code, out, said } = await run("secret-tool", ["lookup", "service", SERVICE, name, account]);
        if (code !== 0 && said) throw unusable(said);
        if (out) return out;
      }
      // Nor does it say anything when the entry is there and the keyring stays locked. A search finds such entries, too.
      const found = await run("secret-tool", ["search", "--all", "service", SERVICE, "account", account]);
      if (/^\[/m.test(found.out)) throw unusable("it is locked");
      return undefined;
    },
    async set(account, value) {
      const { code, said } = await run(
        "secret-tool",
        ["store", "--label=Lares vault", "service", SERVICE, "account", account],
        value,
      );
      if (code !== 0) throw unusable(said);
    },
  };
}

function macKeyring(): Keyring {
  const NOT_FOUND = 44;
  return {
    async get(account) {
      const args = ["find-generic-password", "-s", SERVICE, "-a", account, "-w"];
      const { code, out, said } = await run("security", args);
      if (code === NOT_FOUND) return undefined;
      if (code !== 0) throw unusable(said);
      return out.trim() || undefined;
    },
    async set(account, value) {
      const quoted = [SERVICE, account, value].map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`);
      const command = `add-generic-password -U -s ${quoted[0]} -a ${quoted[1]} -w ${quoted[2]}\n`;
      const { code, said } = await run("security", ["-i"], command);
      if (code !== 0) throw unusable(said);
    },
  };
}

function run(program: string, args: string[], input = ""): Promise<{ code: number; out: string; said: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: PATIENCE_MS }, (error, out, said) => {
      if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") return reject(absent(program));
      const { code } = (error ?? { code: 0 }) as { code?: unknown };
      resolve({ code: typeof code === "number" ? code : 1, out, said: said.trim() });
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

function absent(program: string): AppError {
  return new AppError("NOT_READY", {
    message: `There is no OS keyring to use here: the program ${program} is not installed.`,
    hint: "On Debian and Ubuntu: apt-get install -y libsecret-tools, and a keyring such as gnome-keyring in your session.",
    retry: "after-change",
  });
}

function unusable(said: string): AppError {
  return new AppError("NOT_READY", {
    message: `The OS keyring cannot be used: ${said.split("\n")[0]?.slice(0, 200) || "it gave no reason"}.`,
    hint: "Unlock it, and start Lares in a session that has one. Nothing was changed.",
    retry: "after-change",
  });
}
