/** What is open in this installation, in sentences. It reads and changes nothing. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { PolicyMode } from "../../core/domain/index.ts";
import { openToOthers, PRIVATE_FILES } from "../../core/files/index.ts";
import { isLoopbackBind } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";

type Finding = Result<"security.audit">["findings"][number];

/** The settings that an audit looks at. */
export interface AuditedConfig {
  gateway: { hosts: readonly string[] };
  policy: { mode: PolicyMode };
  agents: Readonly<
    Record<
      string,
      {
        policy?: { mode?: PolicyMode | undefined } | undefined;
        sandbox?: { network?: false | undefined } | undefined;
      }
    >
  >;
  sandbox: { limits: { memoryMb: number; processes: number; tmpMb: number; fileMb: number } };
  channels: Readonly<Record<string, unknown>>;
}

export interface AuditParts {
  home: string;
  config: AuditedConfig;
  /** Whether prlimit is installed, which holds the limits of single processes. */
  hasPrlimit: () => boolean;
  /** Whether the sandbox lets commands use the network. */
  hasNetwork: boolean;
  /** The address it really listens on. */
  bind: string;
  token: { text: string; fromEnvironment: boolean };
  tokens: readonly { name: string; scopes: readonly string[] }[];
  /** Settings that don't work as things are, in the words of `config check`. */
  advice: readonly { path: string; message: string }[];
  /** What holds commands, as it was tried. */
  sandbox: { name: string; ok: boolean; why?: string; missing?: true; byHand?: true };
}

/** Of random letters and digits this many cannot be guessed. */
const STRONG_TOKEN = 20;

export function audit(parts: AuditParts): Result<"security.audit"> {
  const findings = [
    address(parts),
    hosts(parts),
    ownerToken(parts),
    ...modes(parts),
    ...policies(parts),
    ...channels(parts),
    tokens(parts),
    sandboxHolds(parts),
    ...commandNetwork(parts),
    ...commandLimits(parts),
    ...parts.advice.map(setting),
  ];
  const rank = { ok: 0, warn: 1, bad: 2 };
  const worst = findings.reduce<Finding["level"]>((w, f) => (rank[f.level] > rank[w] ? f.level : w), "ok");
  return { worst, findings: findings.sort((a, b) => rank[b.level] - rank[a.level]) };
}

/** A rule that can't match and a sandbox that isn't there protect nobody. */
function setting({ path, message }: AuditParts["advice"][number]): Finding {
  return { id: `config:${path}`, level: "warn", text: `${path}: ${message}`, hint: "See: lares config check" };
}

function address({ bind }: AuditParts): Finding {
  if (isLoopbackBind(bind)) return { id: "bind", level: "ok", text: `Only this machine can reach Lares (${bind}).` };
  return {
    id: "bind",
    level: "warn",
    text: `Other machines can reach Lares (${bind}), without encryption.`,
    hint: "Put a proxy with TLS in front, or bind 127.0.0.1 and use a tunnel.",
  };
}

function hosts({ config }: AuditParts): Finding {
  const { hosts } = config.gateway;
  if (!hosts.length) return { id: "hosts", level: "ok", text: "No extra host names are served." };
  return {
    id: "hosts",
    level: "warn",
    text: `These names are served too: ${hosts.join(", ")}.`,
    hint: "Remove what is not used from gateway.hosts.",
  };
}

function ownerToken({ token, bind }: AuditParts): Finding {
  if (token.text.length >= STRONG_TOKEN) return { id: "token", level: "ok", text: "The owner's token is long enough." };
  return {
    id: "token",
    level: isLoopbackBind(bind) ? "warn" : "bad",
    text: `The owner's token has only ${token.text.length} characters and can be guessed.`,
    hint: token.fromEnvironment
      ? "Set LARES_TOKEN to at least 20 random characters, or unset it."
      : "Delete the file token in the home and restart.",
  };
}

/** Others on this machine must not read what is said here, nor the token. */
function modes({ home }: AuditParts): Finding[] {
  return [
    ...judgeFolder(home, "home", "bad"),
    ...PRIVATE_FILES.flatMap((name) => judgeFile(home, name, "bad")),
    ...judgeFile(home, "lares.yaml", "warn"),
    ...judgeFolder(join(home, "agents"), "agents", "warn"),
  ];
}

/** Others who may only look see names; each file in it is closed by itself. Anyone who may change it can put files there. */
function judgeFolder(dir: string, name: string, level: Finding["level"]): Finding[] {
  const mode = readMode(dir);
  if (mode === undefined) return [];
  const id = `mode:${name}`;
  const shown = octal(mode);
  const others = openToOthers(mode);
  if (others === "change")
    return [{ id, level, text: `Others can change what is in ${dir} (${shown}).`, hint: `chmod 700 ${dir}` }];
  if (others === "look" && name === "home")
    return [{ id, level: "warn", text: `Others can look into ${dir} (${shown}).`, hint: `chmod 700 ${dir}` }];
  return [{ id, level: "ok", text: `Only its owner can change ${dir} (${shown}).` }];
}

function judgeFile(home: string, name: string, level: Finding["level"]): Finding[] {
  const file = join(home, name);
  const mode = readMode(file);
  if (mode === undefined) return [];
  const id = `mode:${name}`;
  const shown = octal(mode);
  if (!openToOthers(mode)) return [{ id, level: "ok", text: `${file} is closed to others (${shown}).` }];
  const fix = octal(mode & ~0o077);
  return [{ id, level, text: `${file} is open to others (${shown}).`, hint: `chmod ${fix} ${file}` }];
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}

function readMode(file: string): number | undefined {
  try {
    return statSync(file).mode & 0o777;
  } catch {
    return undefined;
  }
}

function policies({ config }: AuditParts): Finding[] {
  const own = Object.entries(config.agents).flatMap(([name, a]) =>
    a.policy ? [[`agent ${name}`, a.policy.mode] as const] : [],
  );
  return [["every agent", config.policy.mode] as const, ...own].map(([who, mode]): Finding => {
    const id = `policy:${who}`;
    if (mode === "ask") return { id, level: "ok", text: `Policy for ${who}: what no rule allows asks a person.` };
    return {
      id,
      level: mode === "ignore" ? "bad" : "warn",
      text: `Policy for ${who} is "${mode}": tools run without asking.`,
      hint: "Set policy.mode: ask",
    };
  });
}

const OTHERS = "or set sandbox.backend to docker, podman or ssh.";
const INSTALL = `Install bubblewrap (Debian: apt install bubblewrap), ${OTHERS}`;
/** It is there and can't do its work: installing it again would change nothing. */
const REPAIR = `Let this user make user namespaces, which bubblewrap needs (lares doctor says how), ${OTHERS}`;

function sandboxHolds({ sandbox: { name, ok, why, missing, byHand }, config }: AuditParts): Finding {
  const id = "sandbox";
  if (ok) return { id, level: "ok", text: `Commands run in a sandbox (${name}), which was tried.` };
  const because = why ? ` (${why})` : "";
  const toSandbox = missing ? INSTALL : REPAIR;
  if (name !== "none")
    return {
      id,
      level: "warn",
      text: `The sandbox you chose (${name}) doesn't work, so commands won't run${because}.`,
      hint: "Repair it, or choose another: lares config set sandbox.backend auto",
    };
  return {
    id,
    // What asks first is at least seen by a person; what doesn't can do whatever you can.
    level: config.policy.mode === "ask" ? "warn" : "bad",
    text: `No sandbox: commands run with your rights and can read your files${because}.`,
    hint: byHand ? "Turn it on: lares config set sandbox.backend auto" : toSandbox,
  };
}

/** Without a sandbox, and on another machine, no setting of ours holds commands back. */
function commandNetwork({ sandbox: { name, ok }, hasNetwork, config }: AuditParts): Finding[] {
  if (!ok || name === "ssh") return [];
  const id = "network";
  if (!hasNetwork) return [{ id, level: "ok", text: "Commands in the sandbox can't reach the network." }];
  const cut = Object.keys(config.agents).filter((agent) => config.agents[agent]?.sandbox?.network === false);
  const except = cut.length ? `, except those of ${cut.join(", ")}` : "";
  return [
    {
      id,
      level: "warn",
      text: `Commands in the sandbox can use the network${except}: they can send out whatever they can read.`,
      hint: "Turn it off: lares config set sandbox.network false",
    },
  ];
}

/** What a command may use up, and what of it the kernel does not hold here. */
function commandLimits({ config, hasPrlimit, sandbox: { name } }: AuditParts): Finding[] {
  const { memoryMb, processes, tmpMb, fileMb } = config.sandbox.limits;
  const id = "limits";
  if (name === "ssh")
    return [
      {
        id,
        level: "warn",
        text: "Commands run on another machine (ssh), where Lares limits only their time and their output.",
        hint: "Set limits for that user there: /etc/security/limits.conf, or a systemd slice.",
      },
    ];
  if (name === "docker" || name === "podman")
    return [
      {
        id,
        level: "ok",
        text: `${name} limits each command to ${memoryMb} MB of memory, ${processes} processes, ${tmpMb} MB in /tmp and files of ${fileMb} MB. It doesn't limit what the workspace holds in all.`,
      },
    ];
  const inTmp = name === "bubblewrap" ? `${tmpMb} MB in /tmp, ` : "";
  const text = `A command may use ${memoryMb} MB of memory, ${processes} processes, ${inTmp}and write files of ${fileMb} MB.`;
  if (!hasPrlimit()) {
    return [
      {
        id,
        level: "warn",
        text: `${text} The limits of single processes do not hold here: prlimit is not installed.`,
        hint: "Install util-linux.",
      },
    ];
  }
  const isRoot = process.getuid?.() === 0;
  const watched =
    " Lares runs as root, whose processes the kernel does not count: they are counted four times a second.";
  return [{ id, level: "ok", text: isRoot ? text + watched : text }];
}

function channels({ config }: AuditParts): Finding[] {
  const webhooks = (config.channels.webhook ?? {}) as Record<string, { senders: string[] }>;
  return [
    ...Object.entries(config.channels).flatMap(([channel, accounts]) =>
      Object.entries(accounts as Record<string, { dm?: string }>).flatMap(([name, { dm }]) => open(channel, name, dm)),
    ),
    ...webhookFindings(webhooks),
  ];
}

/** An account that takes everybody must have been meant so. */
function open(channel: string, name: string, dm: string | undefined): Finding[] {
  if (dm === undefined) return [];
  const id = `channel:${channel}/${name}`;
  if (dm !== "open")
    return [{ id, level: "ok", text: `${channel}/${name} takes direct messages of known people only.` }];
  const hint = `Set channels.${channel}.${name}.dm: pairing`;
  return [{ id, level: "warn", text: `${channel}/${name} takes direct messages of everybody.`, hint }];
}

function webhookFindings(webhooks: Record<string, { senders: string[] }>): Finding[] {
  return Object.entries(webhooks).map(([name, account]): Finding => {
    const id = `channel:webhook/${name}`;
    if (!account.senders.includes("*"))
      return { id, level: "ok", text: `Webhook "${name}" takes listed senders only.` };
    return {
      id,
      level: "warn",
      text: `Webhook "${name}" takes every sender its signed caller names.`,
      hint: `List the ids: channels.webhook.${name}.senders`,
    };
  });
}

function tokens({ tokens }: AuditParts): Finding {
  const strong = tokens.filter((t) => t.scopes.includes("admin")).map((t) => t.name);
  if (!strong.length)
    return {
      id: "tokens",
      level: "ok",
      text: `${tokens.length} tokens besides the owner's, none with the right admin.`,
    };
  return {
    id: "tokens",
    level: "warn",
    text: `Tokens with the right admin: ${strong.join(", ")}.`,
    hint: "Revoke what is not needed: lares tokens revoke",
  };
}
