/** A door that keeps what it is given over several lives of an adapter, judges as a test says, and can have trouble of its own. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { Channel, ChannelHost, Heard, Outgoing, PlatformEvent } from "../../src/core/contracts/index.ts";
import type { Json, ReplyRoute } from "../../src/core/domain/index.ts";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { pretend } from "../support/pretend.ts";
import { until } from "../support/until.ts";
import { build, bytesOf, fileOf, folderOf, soon } from "./door.ts";

export class MemoryDoor implements ChannelHost {
  readonly events: PlatformEvent[] = [];
  readonly things = new Map<string, Json>();
  readonly failed: { key: string; why: string }[] = [];
  readonly strange: { kind: string; id: string }[] = [];
  position: Json | undefined;
  signs = 0;
  as = "";
  /** Trouble of ours: the next n calls of `hear` fail and nothing of them is kept. */
  trouble = 0;
  /** An event waits for this before it is taken, as for a slow file. */
  before: (event: PlatformEvent) => Promise<void> | void = () => {};
  judge: (event: PlatformEvent) => Heard["outcome"] = () => "admitted";
  private readonly ids = new Set<string>();

  async hear(events: readonly PlatformEvent[], cursor?: Json): Promise<Heard[]> {
    if (this.trouble > 0) {
      this.trouble--;
      throw new Error("the disk is full");
    }
    for (const event of events) await this.before(event);
    const heard = events.map((event): Heard => {
      const outcome = this.judge(event);
      if (outcome !== "admitted") return { outcome };
      const id = `${event.chat.id} ${event.id}`;
      if (this.ids.has(id)) return { outcome: "known" };
      this.ids.add(id);
      this.events.push(event);
      return { outcome };
    });
    if (cursor !== undefined) this.position = cursor;
    return heard;
  }

  cursor = async () => this.position;
  kept = async (name: string) => this.things.get(name);
  async keep(name: string, value: Json | undefined): Promise<void> {
    if (value === undefined) this.things.delete(name);
    else this.things.set(name, JSON.parse(JSON.stringify(value)) as Json);
  }
  alive(): void {
    this.signs++;
  }
  known(as: string): void {
    this.as = as;
  }
  async undelivered(key: string, why: string): Promise<void> {
    this.failed.push({ key, why });
  }

  /** Waits until so many events were heard. */
  heard(n: number): Promise<boolean> {
    return until(`${n} events`, () => this.events.length >= n, { instead: () => this.texts });
  }

  /** The first of this kind. */
  one<K extends PlatformEvent["kind"]>(kind: K): Extract<PlatformEvent, { kind: K }> {
    return this.events.find((e): e is Extract<PlatformEvent, { kind: K }> => e.kind === kind)!;
  }

  read<T>(_: unknown, read: () => T): T {
    return read();
  }

  unreadable(kind: string, id: string): void {
    this.strange.push({ kind, id });
  }

  /** What was said, in order. */
  get texts(): string[] {
    return this.events.flatMap((event) => ("text" in event ? [event.text] : []));
  }
}

/** The adapter as the program builds it, with its fields checked and filled in. */
export const open = (name: string, fields: Record<string, unknown>): Promise<Channel> => build(ADAPTERS[name]!, fields);

export interface Running {
  /** Resolves with why it ended. */
  ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

export function run(channel: Channel, door: ChannelHost): Running {
  const life = new AbortController();
  const ended = channel.run!(door, life.signal).then(
    () => "ended",
    (error: unknown) => error,
  );
  return {
    ended,
    stop: () => {
      life.abort(new Error("stopped"));
      return ended;
    },
  };
}

export { bytesOf as bytes, fileOf as file, folderOf, soon as now };

export function message(
  route: Partial<ReplyRoute> & { chat: string },
  text: string,
  more: Partial<Outgoing> = {},
): Outgoing {
  return { route: { channel: "x", account: "main", ...route }, key: "turn:1:answer/000", text, ...more };
}

/** A file that is slow to come holds up its own chat and no other. */
export async function slowFile(
  door: MemoryDoor,
  say: { file(): void; behind(text: string): void; elsewhere(text: string): void },
) {
  let release = () => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  door.before = (event) => (event.kind === "message" && event.files ? slow : undefined);
  say.file();
  say.behind("behind the file");
  say.elsewhere("in another chat");
  await door.heard(1);
  expect(door.texts).toEqual(["in another chat"]);
  release();
  await door.heard(3);
  expect(door.texts).toEqual(["in another chat", "", "behind the file"]);
}

/** What a call threw, or undefined. */
export async function thrown(
  call: Promise<unknown>,
): Promise<{ name?: string; code?: string; retry?: string; afterMs?: number; message?: string } | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return pretend(error);
  }
}

/** An address where nobody listens. */
export async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
