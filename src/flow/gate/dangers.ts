/**
 * What is worst about an action that is asked about, for the person who answers. It explains and decides nothing: the gate has judged
 * before, and a danger that is not seen here changes no verdict. Works on what is written, so an unread script may do more.
 */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import type { Danger } from "../../core/domain/index.ts";
import { isSecretFile } from "../../core/kit/index.ts";
import { findDestinations } from "./destinations.ts";
import { absolute, isInside, isInWorkspace } from "./paths.ts";
import { writtenFiles } from "./programs.ts";
import type { GatePlace } from "./rules.ts";

/** The worst first. */
const ORDER: readonly Danger["kind"][] = [
  "deletes",
  "sends",
  "secrets",
  "settings",
  "outside",
  "unreadable",
  "runs",
  "spends",
];
/** Programs that remove or empty what they are given. */
const REMOVES = /^(rm|rmdir|unlink|shred|truncate|wipe|srm|trash|mkfs(\.\w+)?|dd|wipefs|blkdiscard)$/;
/** Programs and the first words with which they throw something away. */
const THROWS: readonly [RegExp, RegExp][] = [
  [/^git$/, /^(clean|reset --hard|checkout (--|\.)|restore|branch (-D|-d|--delete)|push .*(--force|-f\b|--delete))/],
  [/^(docker|podman)$/, /\b(rm|rmi|prune|down -v)\b/],
  [/^kubectl$/, /^delete\b/],
  [/^(npm|pnpm|yarn)$/, /^(uninstall|remove|rm)\b/],
  [/^(apt|apt-get|dnf|brew|pip3?)$/, /^(remove|purge|uninstall|autoremove)\b/],
  [/^find$/, /(^| )-delete\b/],
  [/^(psql|mysql|sqlite3)$/, /\b(drop|delete|truncate)\b/i],
];
/** Upload options of programs that otherwise fetch. */
const UPLOADS = /^(-d|-F|-T|--data.*|--form.*|--json|--upload-file|--post-.*|--body-.*)(=|$)|^-[dFT]./;
/** Sending is all these do. */
const SENDERS = /^(ssh|scp|sftp|rsync|rclone|nc|ncat|netcat|socat|ftp|mail|mailx|sendmail|mutt)$/;
/** More of them nobody reads. */
const MOST_NAMED = 3;

export function listDangers(plan: ActionPlan, place: GatePlace): Danger[] {
  const found = plan.shell ? inShell(plan.shell, place) : inTool(plan, place);
  const merged = new Map<Danger["kind"], Set<string>>();
  for (const { kind, of } of found) {
    const names = merged.get(kind) ?? new Set();
    if (of) names.add(of);
    merged.set(kind, names);
  }
  return ORDER.filter((kind) => merged.has(kind)).map((kind) => {
    const names = [...merged.get(kind)!].slice(0, MOST_NAMED).join(", ");
    return names ? { kind, of: names } : { kind };
  });
}

function inTool({ tool, risk, targets, changes, destroys, beyond }: ActionPlan, place: GatePlace): Danger[] {
  const found: Danger[] = [];
  if (destroys) found.push({ kind: "deletes" });
  if (changes === "policy" || changes === "rights" || changes === "destination") found.push({ kind: "settings" });
  if (risk === "network" || risk === "service" || tool === "message") {
    for (const of of targets.slice(0, MOST_NAMED)) found.push({ kind: "sends", of });
  }
  if (risk === "read" || risk === "write") {
    for (const path of targets) found.push(...inPath(path, risk === "write" || beyond === true, place));
  }
  if (/^(sessions_spawn|peer_ask)$/.test(tool)) found.push({ kind: "spends" });
  return found;
}

function inPath(path: string, isTouched: boolean, place: GatePlace): Danger[] {
  if (isInside(path, `${place.home}/lares.yaml`)) return [{ kind: "settings", of: path }];
  if (isSecretFile(path)) return [{ kind: "secrets", of: path }];
  return isTouched && !isInWorkspace(path, place) ? [{ kind: "outside", of: path }] : [];
}

function inShell(shell: ShellPlan, place: GatePlace): Danger[] {
  const found = shell.commands.flatMap((command) => inCommand(command, shell, place));
  const { hosts } = findDestinations(shell);
  const isSent = shell.commands.some(sends);
  if (isSent) for (const of of hosts.length ? hosts : [""]) found.push(of ? { kind: "sends", of } : { kind: "sends" });
  // Its words are computed while it runs: nobody can say beforehand what it does.
  if (shell.form === "shell") found.push({ kind: "unreadable" });
  return found;
}

function inCommand(command: ShellCommand, shell: ShellPlan, place: GatePlace): Danger[] {
  const words = command.words.map((word) => word.literal ?? word.guess);
  const [program = "", ...args] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const found: Danger[] = [];
  const full = (path: string) => absolute(path, shell.cwd, place.userHome);
  const isRemoval = REMOVES.test(name);
  if (isRemoval) {
    const files = args.filter((arg) => !arg.startsWith("-"));
    for (const of of files.length ? files : [""]) found.push(of ? { kind: "deletes", of } : { kind: "deletes" });
  } else if (THROWS.some(([who, what]) => who.test(name) && what.test(args.join(" ")))) {
    found.push({ kind: "deletes", of: [name, ...args].join(" ").slice(0, 60) });
  }
  const named = args.flatMap((arg) => arg.split(/[=@,;]/, 8));
  for (const arg of named) if (!isRemoval && isSecretFile(full(arg))) found.push({ kind: "secrets", of: arg });
  const targets = command.redirects
    .filter(({ operator, isDescriptor }) => operator.includes(">") && !isDescriptor)
    .map(({ target }) => target.literal ?? target.guess);
  const touched = [
    ...writtenFiles(words),
    ...targets,
    ...(isRemoval ? args.filter((arg) => !arg.startsWith("-")) : []),
  ];
  for (const path of touched) {
    const at = full(path);
    if (at !== "/dev/null") found.push(...inPath(at, true, place).filter(({ kind }) => kind !== "secrets"));
  }
  if (/^(sudo|doas|su)$/.test(name)) found.push({ kind: "settings", of: name });
  if (command.program && !command.program.trusted) found.push({ kind: "runs", of: program });
  return found;
}

function sends({ words }: ShellCommand): boolean {
  const [program = "", ...args] = words.map((word) => word.literal ?? word.guess);
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (SENDERS.test(name)) return true;
  if (name === "git") return /^push\b/.test(args.join(" "));
  return /^(curl|wget2?|http|https|xh)$/.test(name) && args.some((arg) => UPLOADS.test(arg));
}
