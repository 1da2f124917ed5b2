/** An adapter by itself: a door that keeps what it hears, and the platform's fake behind it. */
import { rmSync } from "node:fs";
import type {
  Channel,
  ChannelHost,
  Heard,
  Outgoing,
  PlatformEvent,
  RemoteFile,
} from "../../src/core/contracts/index.ts";
import type { Json } from "../../src/core/domain/index.ts";
import { silentLog, systemClock } from "../../src/core/kit/index.ts";
import type { AdapterEntry } from "../../src/edges/channels/account.ts";
import { scratch } from "../support/scratch.ts";

export interface TestDoor extends ChannelHost {
  events: PlatformEvent[];
  /** What was heard as the texts of messages. */
  texts(): string[];
  position: Json | undefined;
  beats: number;
  name: string;
  /** Called before an event counts as heard; may wait or throw. */
  before: (event: PlatformEvent) => Promise<void> | void;
  say: string | undefined;
  /** What the adapter could not read. */
  strange: { kind: string; id: string }[];
}

export function testDoor(position?: Json): TestDoor {
  const known = new Set<string>();
  const keys = new Map<string, Json | undefined>();
  const door: TestDoor = {
    events: [],
    texts: () => door.events.flatMap((e) => (e.kind === "message" ? [e.text] : [])),
    position,
    beats: 0,
    name: "",
    before: () => {},
    say: undefined,
    async hear(events, cursor) {
      const heard: Heard[] = [];
      for (const event of events) {
        await door.before(event);
        const key = `${event.chat.id}:${event.id}`;
        const isKnown = known.has(key);
        if (!isKnown) door.events.push(event);
        known.add(key);
        heard.push({ outcome: isKnown ? "known" : "admitted", ...(door.say ? { say: door.say } : {}) });
      }
      if (cursor !== undefined) door.position = structuredClone(cursor);
      return heard;
    },
    cursor: async () => door.position,
    keep: async (name, value) => void keys.set(name, value),
    kept: async (name) => keys.get(name),
    alive: () => void door.beats++,
    known: (as) => {
      door.name = as;
    },
    undelivered: async () => {},
    strange: [],
    read: (_, read) => read(),
    unreadable: (kind, id) => void door.strange.push({ kind, id }),
  };
  return door;
}

export interface Line {
  channel: Channel;
  door: TestDoor;
  /** How `run` ended, once it has. */
  ended: { error?: unknown } | undefined;
  stop(): Promise<void>;
}

/** The adapter as the table builds it, running against this door. */
// biome-ignore lint/suspicious/noExplicitAny: the entry knows its own account
export async function open(entry: AdapterEntry<any>, account: object, door = testDoor()): Promise<Line> {
  const channel = await build(entry, account);
  const life = new AbortController();
  const line: Line = {
    channel,
    door,
    ended: undefined,
    stop: async () => {
      life.abort();
      await running;
    },
  };
  const running = channel.run!(door, life.signal).then(
    () => {
      line.ended = {};
    },
    (error: unknown) => {
      line.ended = { error };
    },
  );
  return line;
}

// biome-ignore lint/suspicious/noExplicitAny: the entry knows its own account
export async function build(entry: AdapterEntry<any>, account: object, library = noLibrary): Promise<Channel> {
  const config = entry.config.parse(account);
  const can = entry.can(config);
  const own = folder();
  const parts = { account: "main", config, can, clock: systemClock, log: silentLog, folder: own, library };
  const channel = (await entry.load()).create(parts);
  folders.set(channel, own);
  return channel;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the library is
async function noLibrary(wanted: string): Promise<any> {
  throw new Error(`no library is needed, not even ${wanted}`);
}

const folders = new WeakMap<Channel, () => string>();
/** The folder an adapter was given. */
export const folderOf = (channel: Channel): string => folders.get(channel)!();

const made: string[] = [];
// Scripts use this file, too, and outside of a test run there is no "after".
if (process.env.VITEST) {
  const { afterAll } = await import("vitest");
  afterAll(() => {
    for (const one of made.splice(0)) rmSync(one, { recursive: true, force: true });
  });
}

/** A folder that is made when an adapter asks for it and goes with the tests. */
function folder(): () => string {
  let own: string | undefined;
  return () => {
    if (own === undefined) {
      own = scratch("channel");
      made.push(own);
    }
    return own;
  };
}

export const soon = () => AbortSignal.timeout(10_000);

export function outgoing(channel: string, chat: string, text: string, more: Partial<Outgoing> = {}): Outgoing {
  return { route: { channel, account: "main", chat }, key: `answer:${text}/000`, text, ...more };
}

export function fileOf(name: string, mediaType: string, data: string) {
  const bytes = Buffer.from(data);
  return { name, mediaType, bytes: bytes.length, read: async () => new Uint8Array(bytes) };
}

/** What a promise failed with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error,
  );
}

export function filesOf(event: PlatformEvent | undefined): RemoteFile[] {
  return event?.kind === "message" ? (event.files ?? []) : [];
}

export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
