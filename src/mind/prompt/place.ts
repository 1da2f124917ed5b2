/**
 * The Place section: generated lines about where the agent is. Frozen for the session. A line is left out when nothing is known,
 * and none contains a date, a path that differs between runs, or an unsanitised name.
 */
import { assertNever } from "../../core/domain/index.ts";
import { quotedName } from "../../core/kit/index.ts";
import type { SituationKind } from "./situation.ts";

/** How a chat shows text, from the channel's own declaration: a hint that is wrong about the renderer is worse than none. */
export interface ChatFormat {
  /** What happens to Markdown here. `typed`: marks are shown as typed. `unknown`: another program shows the text. */
  text: "markdown" | "rich" | "plain" | "typed" | "unknown";
  tables?: "real" | "narrow" | "lists";
  /** If messages are limited: how long one may be, and how large a file. */
  limit?: number;
  unit?: "utf16" | "bytes" | "codepoints";
  /** Most messages of one answer. */
  most?: number;
  files?: number;
  oneLine?: boolean;
}

export interface PromptPlace {
  kind: SituationKind;
  agent: string;
  name?: string;
  /** The channel's own name: Telegram, web page, terminal. */
  channel?: string;
  group?: { title?: string };
  with?: { standing: "owner" | "known" | "guest"; name?: string };
  zone: string;
  format?: ChatFormat;
  machine?: PromptMachine;
  approvals?: "ask" | "record" | "ignore";
  /** Slash commands the person may use here. */
  commands?: readonly string[];
  /** For small windows: each line says only what calls depend on. */
  isShort?: boolean;
  /** Other chats the `message` tool can send to. */
  chats?: readonly KnownChat[];
}

/** What `message` takes as `to`, and the chat's name, which somebody else may have chosen. */
export interface KnownChat {
  channel: string;
  account: string;
  chat: string;
  isGroup: boolean;
  name?: string;
}

export interface PromptMachine {
  os: string;
  shell: string;
  /** Undefined: commands run without a sandbox. */
  sandbox?: string;
  /** Undefined when it can't be known because the sandbox is down. */
  network?: boolean;
  /** The configured sandbox, when commands cannot run because it is not available. */
  down?: string;
  /** Project folders beside the workspace. */
  roots?: readonly string[];
  /** The project folder that the conversation is about, and where the workspace is. */
  start?: { folder: string; workspace: string; servers?: readonly string[] };
}

export function placeText(place: PromptPlace): string {
  if (place.kind === "api") return "";
  const lines = [
    whoLine(place),
    place.format && formatLine(place.format, place.isShort),
    place.machine && machineLine(place.machine, place.isShort),
    place.machine && place.approvals && (place.isShort ? SHORT_APPROVALS : APPROVALS)[place.approvals],
    place.chats && chatsLine(place.chats),
    place.commands?.length ? `The person can type ${place.commands.join(", ")}.` : undefined,
  ];
  return `# Place\n\n${lines.filter(Boolean).join("\n")}`;
}

function whoLine({ agent, name, kind, channel, group, with: person, zone }: PromptPlace): string {
  const called = name ? `, called ${quotedName(name)}` : "";
  const whom = person ? `, with ${whomWords(person)}` : "";
  return `You are the agent ${agent}${called}. ${whereWords(kind, channel, group)}${whom}. Time zone: ${zone}.`;
}

const ROLES = { owner: "the owner", known: "a person the owner knows", guest: "a guest" } as const;

function whomWords({ standing, name }: NonNullable<PromptPlace["with"]>): string {
  const role = ROLES[standing];
  return name ? `${role}, ${quotedName(name)}` : role;
}

function whereWords(kind: SituationKind, channel: string | undefined, group: PromptPlace["group"]): string {
  switch (kind) {
    case "job":
      return "This is a run of a scheduled job";
    case "heartbeat":
      return "This is a heartbeat";
    case "child":
      return "You run as a sub-agent";
    case "group":
      return chatWords(channel, group?.title ? `group ${quotedName(group.title)}` : "group");
    case "owner":
    case "known":
    case "stranger":
    case "api":
      return chatWords(channel, "direct");
    default:
      return assertNever(kind);
  }
}

function chatWords(channel: string | undefined, kind: string): string {
  return `Chat: ${[channel, kind].filter(Boolean).join(", ")}`;
}

/** The form of a platform's ids. Anything else could imitate our own text and is left out. */
const PLAIN_ID = /^[\w@.:;+#!=$%&~*/,-]{1,128}$/;

function chatsLine(chats: readonly KnownChat[]): string | undefined {
  const listed = chats
    .filter(({ channel, account, chat }) => [channel, account, chat].every((id) => PLAIN_ID.test(id)))
    .map(({ channel, account, chat, isGroup, name }) => {
      const kind = isGroup ? "group" : "direct chat";
      return `${kind}${name ? ` ${quotedName(name)}` : ""}: ${JSON.stringify({ channel, account, chat })}`;
    });
  return listed.length ? `Other chats, as \`message\` takes them in its field "to": ${listed.join("; ")}.` : undefined;
}

const UNITS = { utf16: "characters", codepoints: "characters", bytes: "bytes" } as const;

const GRIDS = {
  real: "tables work",
  narrow: "narrow tables become aligned text, wide ones lists",
  lists: "tables become lists",
} as const;

function formatLine({ text, tables, limit, unit, most, files, oneLine }: ChatFormat, isShort = false): string {
  const marks = {
    markdown: "Markdown is rendered",
    rich: "Markdown is turned into what this chat can show",
    plain: "this chat shows plain text, so use no Markdown",
    typed: "Markdown marks are shown as typed, so write plain text",
    unknown: "another program shows your answer, so plain text is safest",
  }[text];
  const grid = tables && GRIDS[tables];
  const size = limit
    ? `one message holds ${limit.toLocaleString("en-US")} ${UNITS[unit ?? "utf16"]}${most ? `, an answer at most ${most} messages` : ""}`
    : "";
  const attached = describeFiles(files);
  const line = oneLine ? "a message is one line" : "";
  return `Format: ${(isShort ? [marks, line, size] : [marks, line, grid, size, attached]).filter(Boolean).join("; ")}.`;
}

function machineLine({ os, shell, sandbox, network, down, roots, start }: PromptMachine, isShort = false): string {
  const also = roots?.length ? ` and the project folders ${roots.join(", ")}` : "";
  const bounds = `; nothing outside ${start ? "your workspace" : "it"}${also} can be changed, and reading elsewhere asks first`;
  const from = start
    ? `this conversation is about the project in ${start.folder}: relative paths and commands start there, and files of your workspace need their whole path (${start.workspace}/…)`
    : "paths are relative to your workspace";
  const brought = start?.servers?.length
    ? ` This editor brings tools of ${start.servers.join(", ")}: find them with tool_search.`
    : "";
  const files = `Files: ${from}${isShort && !also ? "" : bounds}.${brought}`;
  if (down) {
    return `${files} Commands may not run: their sandbox (${down}) was not available when this conversation began.`;
  }
  const box = sandbox ? `Commands run in ${sandbox}` : "Commands run without a sandbox";
  return `${files} ${box} on ${os} with ${shell}, ${network ? "with network" : "without network"}.`;
}

type Approvals = NonNullable<PromptPlace["approvals"]>;

const APPROVALS: Readonly<Record<Approvals, string>> = {
  ask: "Approvals: reading here needs none; before commands, changes and new web addresses Lares may ask a person. Just make the call.",
  record:
    "Approvals: calls, even dangerous ones, run at once and are recorded, so take care. After text from outside, some still need one.",
  ignore: "Approvals: calls run without asking. Only what can never be allowed is refused.",
};
const SHORT_APPROVALS: Readonly<Record<Approvals, string>> = {
  ask: "Approvals: Lares may ask a person first. Make the call.",
  record: "Approvals: most calls run at once.",
  ignore: "Approvals: calls run without asking.",
};

/** `most`: bytes of the largest file that can be sent. */
function describeFiles(most: number | undefined): string {
  if (most === undefined) return "";
  return most > 0 ? `files up to ${Math.floor(most / 1_000_000)} MB` : "no files can be sent";
}
