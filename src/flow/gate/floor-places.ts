/** Places the hard floor guards: credentials, the system's directories, homes, and what Lares itself keeps. */
import { isInside, normalise, relation } from "./paths.ts";
import type { GatePlace } from "./rules.ts";
import { offLimits } from "./words.ts";

/** Places of credentials in anybody's home. */
const SECRET_HOME = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".azure",
  ".kube",
  ".docker/config.json",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/op",
  ".config/hub",
  ".config/rclone",
  ".config/doctl",
  ".config/google-chrome*",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge*",
  ".config/vivaldi",
  ".config/opera",
  ".config/Bitwarden*",
  ".config/1Password",
  ".config/KeePass*",
  ".config/sops",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".cargo/credentials*",
  ".gem/credentials",
  ".m2/settings*.xml",
  ".gradle/gradle.properties",
  ".password-store",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".mozilla",
  ".thunderbird",
  ".vault-token",
  ".terraform.d",
  ".bitcoin",
  ".ethereum",
  ".electrum",
  ".claude/.credentials.json",
  ".claude.json",
  ".codex/auth.json",
  ".openclaw",
  ".hermes/.env",
  ".lares",
  "Library/Keychains",
  "Library/Cookies",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
  "snap/firefox",
  "snap/chromium",
];
const SECRET_SYSTEM = [
  "/etc/shadow*",
  "/etc/gshadow*",
  "/etc/master.passwd",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
  "/etc/ssh/ssh_host_*_key",
  "/etc/krb5.keytab",
  "/etc/security/opasswd",
  "/var/lib/docker",
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman",
  "/run/secrets",
  "/var/run/secrets",
  "/run/credentials",
  "/proc/*/environ",
  "/proc/*/mem",
  "/proc/*/root",
  "/proc/*/fd",
  "/proc/*/cwd",
  "/proc/*/task",
  "/proc/kcore",
  "/dev/mem",
  "/dev/kmem",
  "/dev/port",
];
/** Directories whose loss is the machine's loss. */
const SYSTEM: ReadonlySet<string> = new Set(
  "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log /System /Library /Applications /Users /private /Volumes /mnt /media".split(
    " ",
  ),
);
/** System directories, homes, and whatever holds Lares; also everything directly in them (`/*`). */
export function isPrecious(path: string, place: GatePlace): boolean {
  const names = path.split("/");
  while (names.length > 1 && /^(?:\.?\*+|\.\[\*|\.\?\*)$/.test(names.at(-1)!)) names.pop();
  const bare = names.join("/") || "/";
  if (SYSTEM.has(bare)) return true;
  if (/[*?]/.test(bare)) {
    const depth = bare.split("/").length;
    for (const one of SYSTEM) if (one.split("/").length === depth && relation(bare, one) === "inside") return true;
  }
  if (/^\/(home|Users)\/[^/]+$/.test(bare)) return true;
  const homes = [place.userHome, place.home];
  return homes.some((home) => bare === home || isInside(home, bare)) || isInside(place.agentDir, bare);
}

export function holdsSecrets(path: string, place: GatePlace): boolean {
  const bare = path === "" ? "/" : path;
  return (
    bare === "/" ||
    /^\/(home|Users|root)(\/[^/]+)?$/.test(bare) ||
    isInside(place.userHome, bare) ||
    isInside(place.home, bare)
  );
}

/** Why this path must stay closed. Patterns count as all they may name. */
export function secret(path: string, place: GatePlace): string | undefined {
  const clean = normalise(path);
  const isPattern = /[*?]/.test(clean);
  const system = isPattern ? SECRET_SYSTEM.some((one) => relation(clean, one) === "inside") : IN_SYSTEM.test(clean);
  if (system) return offLimits("system", path);
  if (inSecretHome(clean, isPattern, place)) return offLimits("credentials", path);
  if (isInside(clean, place.home) && !isInside(clean, place.agentDir)) return offLimits("lares", path);
  return undefined;
}

function inSecretHome(clean: string, isPattern: boolean, place: GatePlace): boolean {
  // An agent's folder lies in ~/.lares, and is its own.
  if (isInside(clean, place.workspace)) return WORKSPACE_SECRET.test(clean.slice(place.workspace.length));
  if (isInside(clean, place.agentDir)) return false;
  if (!isPattern) {
    const rest = isInside(clean, place.userHome) ? clean.slice(place.userHome.length) : SOME_HOME.exec(clean)?.[1];
    return rest !== undefined && IN_HOME.test(rest);
  }
  return [place.userHome, "/root", "/home/*", "/Users/*"].some((home) =>
    SECRET_HOME.some((one) => relation(clean, `${home}/${one}`) === "inside"),
  );
}

/** The workspace is the commands' own home: its .npmrc and the like are work, keys are not. */
const WORKSPACE_SECRET = /^\/\.(ssh|aws|gnupg)(\/|$)/;
const SOME_HOME = /^(?:\/root|\/(?:home|Users)\/[^/]+)(\/.*)?$/;
const IN_HOME = matchAny(SECRET_HOME.map((one) => `/${one}`));
const IN_SYSTEM = matchAny(SECRET_SYSTEM);

/** One expression for many places: much quicker than asking one by one. */
function matchAny(places: readonly string[]): RegExp {
  const sources = places.map((one) => one.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*"));
  return new RegExp(`^(?:${sources.join("|")})(?:/|$)`);
}

/** Everything in a word that may be a path, as it is written: `of=/dev/sda`, `@~/.netrc`, `-I/etc`, `file:///etc/shadow`. */
export function piecesIn(word: string): string[] {
  // A bare name lies in the working directory, and that is the agent's.
  if (!/[/~.*?]/.test(word)) return [];
  const out = new Set<string>([word]);
  for (const piece of word.split(/[=@:,;\s'"()[\]{}<>|&]+/)) if (/[/~.*?]/.test(piece)) out.add(piece);
  for (const found of word.matchAll(/(?:~|\/)[^=@:,;\s'"()[\]{}<>|&]*/g)) {
    const before = found.index === 0 ? "" : word[found.index - 1]!;
    if (/[A-Za-z0-9_.~-]/.test(before) && !(found.index === 2 && /^-[A-Za-z]/.test(word))) continue;
    out.add(found[0].replace(/^\/\/+/, "/"));
  }
  // A path whose beginning is computed: what follows may lie in any home.
  const tail = /^\*\/(.+)$/.exec(word)?.[1];
  if (tail) out.add(`~/${tail.replace(/^\/+/, "")}`);
  return [...out];
}
