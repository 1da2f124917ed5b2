/**
 * What a rig hands to the channel contract: a platform to talk to, and one driver for each part that an adapter may declare in its
 * `Capabilities`. What is declared is tried; a rig without the driver fails, and so does one that drives what is not declared.
 */
import type { AccountPolicy, Capabilities, Channel } from "../../../src/core/contracts/index.ts";
import type { Lares } from "../../support/index.ts";

export interface Person {
  /** The platform's stable id, as the adapter reports it. */
  id: string;
  name: string;
}

/** One message of the bot as people see it now: edits applied, deleted ones gone. */
export interface Shown {
  id: string;
  text: string;
  /** Labels of its buttons. */
  buttons?: string[];
}

export interface Sample {
  name: string;
  type: string;
  bytes: Buffer;
}

/** The platform has nothing of this kind, with the reason. */
export interface NotThere {
  none: string;
}

export interface Platform {
  /** The account's fields for lares.yaml, without who may talk. */
  account: Record<string, unknown>;
  owner: Person;
  /** Somebody who is on no list. Only where the platform vouches for its people there is none. */
  stranger?: Person;
  /** People there choose the name they are shown by: a stranger then poses as the owner (CH-01). */
  freeNames?: boolean;
  /** What the platform really does, which decides what is expected of us. */
  has: {
    /** What was not acknowledged is delivered again after a restart. Without it a message in flight is lost with the process. */
    redelivers: boolean;
    /** A repeated send is one message: by the key, or because the platform can be asked. */
    dedupes: boolean;
  };
  /** Before the first start: what must be in the home. */
  prepare?(home: string): void;
  /** After every start: where Lares listens now, for platforms that call us; also where a test waits until it is connected. */
  attach(lares: Lares): Promise<void>;
  /** Somebody writes to the bot: directly, or in the group. Resolves with the message's id when the platform has it, not when Lares has. */
  say(from: Person, text: string, where?: { group?: boolean; addressed?: boolean }): Promise<string>;
  /** The bot's messages in that person's direct chat, or in the group. */
  shown(where: Person | "group"): Promise<Shown[]>;
  /** The next n sends are refused by the platform's rate limit. */
  refuseSends: ((n: number) => void) | NotThere;
  /** The platform sends something of a shape nobody knows, with this text in it. */
  garble: ((text: string) => void) | NotThere;
  close(): Promise<void>;

  // ── one driver for each part ──────────────────────────────────────────────────────────────────────────────────────
  /** `hears: groups`: a group the bot is in, with the owner and the stranger as members. */
  group?: string;
  /** `buttons`. */
  press?(from: Person, message: Shown, label: string): Promise<void>;
  /** `hears: files`: somebody sends a file with these words, directly. */
  sendFile?(from: Person, file: Sample, text: string): Promise<void>;
  /** Why a file that is too large for Lares cannot even be sent there. */
  noLargeFiles?: NotThere;
  /** `files`: the files in that person's chat. */
  filesShown?(where: Person): Promise<{ name: string; bytes: Buffer }[]>;
  /** `files`: the next message that carries a file reaches the platform, which neither takes nor answers it. Says whether it came. */
  holdFile?(): () => boolean;
  /** `hears: threads`. */
  threads?: {
    /** A new thread where the owner may talk; its name on the platform. */
    start(): Promise<string>;
    say(from: Person, thread: string, text: string): Promise<unknown>;
    shown(thread: string): Promise<Shown[]>;
  };
  /** `hears: edits`: somebody changes what they said. */
  edit?(from: Person, message: string, text: string): Promise<unknown>;
  /** `hears: deletions`: somebody deletes what they said. */
  delete?(from: Person, message: string): Promise<unknown>;
  /** `hears: reactions`: somebody reacts to a message of the bot. */
  react?(from: Person, message: Shown, emoji: "👍"): Promise<unknown>;
  /** `does: react`: every reaction the bot ever set on somebody's message, and those that are there now. */
  reactions?(message: string): Promise<{ ever: string[]; now: string[] }>;
  /** `does: typing`: how often the bot showed that it types. */
  typed?(): Promise<number>;
}

export interface ChannelRig {
  /** As in lares.yaml. */
  name: string;
  start(): Promise<Platform>;
}

/** What an adapter says of itself: its capabilities, who may talk, and the channel it builds. */
export interface Declared {
  can: Capabilities;
  policy: Pick<AccountPolicy, "vouched">;
  channel: Channel;
}

type Driver = keyof Platform;
type Method = keyof Channel;

interface Part {
  what: string;
  isDeclared(of: Declared): boolean;
  drivers: readonly Driver[];
  /** Methods of the channel without which the declaration is untrue. */
  methods?: readonly Method[];
}

const hears = (word: Capabilities["hears"][number]) => (of: Declared) => of.can.hears.includes(word);
const does = (word: Capabilities["does"][number]) => (of: Declared) => of.can.does.includes(word);

/** Every part that can be declared, and what it takes to try it. */
const PARTS: readonly Part[] = [
  { what: "people it does not vouch for", isDeclared: (of) => !of.policy.vouched, drivers: ["stranger"] },
  { what: "hears: groups", isDeclared: hears("groups"), drivers: ["group"] },
  { what: "hears: files", isDeclared: hears("files"), drivers: ["sendFile"] },
  { what: "hears: threads", isDeclared: hears("threads"), drivers: ["threads"] },
  { what: "hears: edits", isDeclared: hears("edits"), drivers: ["edit"] },
  { what: "hears: reactions", isDeclared: hears("reactions"), drivers: ["react"] },
  { what: "hears: deletions", isDeclared: hears("deletions"), drivers: ["delete"] },
  { what: "does: react", isDeclared: does("react"), drivers: ["reactions"], methods: ["react", "unreact"] },
  // No driver of its own: what the platform shows is enough to see that a message is gone.
  { what: "does: remove", isDeclared: does("remove"), drivers: [], methods: ["remove"] },
  { what: "does: typing", isDeclared: does("typing"), drivers: ["typed"], methods: ["typing"] },
  { what: "files", isDeclared: (of) => of.can.files > 0, drivers: ["filesShown", "holdFile"] },
  { what: "buttons", isDeclared: (of) => of.can.buttons > 0, drivers: ["press"] },
  { what: "editMs", isDeclared: (of) => of.can.editMs !== undefined, drivers: [], methods: ["edit"] },
];

/** Where declaration, adapter and rig do not fit together, a sentence each. */
export function unfit(name: string, of: Declared, platform: Partial<Platform>): string[] {
  return PARTS.flatMap(({ what, isDeclared, drivers, methods = [] }) => {
    const declared = isDeclared(of);
    const has = (driver: Driver) => platform[driver] !== undefined;
    return [
      ...drivers
        .filter((driver) => declared && !has(driver))
        .map((driver) => `The ${name} adapter declares "${what}", and its rig has no "${driver}" to try it with.`),
      ...drivers
        .filter((driver) => !declared && has(driver))
        .map((driver) => `The rig of ${name} has "${driver}", and the adapter does not declare "${what}".`),
      ...methods
        .filter((method) => declared && of.channel[method] === undefined)
        .map((method) => `The ${name} adapter declares "${what}", and its channel has no method "${method}".`),
    ];
  });
}
