/** What the sections of the channel contract share: the running program, the platform, and how they are looked at. */
import { rmSync } from "node:fs";
import { expect } from "vitest";
import type { Capabilities } from "../../../src/core/contracts/index.ts";
import { silentLog, systemClock } from "../../../src/core/kit/index.ts";
import { ADAPTERS, configured, Libraries } from "../../../src/edges/channels/index.ts";
import { type Lares, scratch, startLares, startModel, until } from "../../support/index.ts";
import type { ChannelRig, Declared, Person, Platform } from "./platform.ts";

/** For a whole start on a machine that does much else. */
const PATIENCE_MS = 60_000;
export const NOTE = /couldn't confirm/;
export const ACKNOWLEDGED = "👀";
export const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined));

const MOST_ROUNDS = 8;
const READING_MS = 2100;

type Where = Person | "group";

export class Stage {
  readonly name: string;
  platform!: Platform;
  model!: Awaited<ReturnType<typeof startModel>>;
  lares!: Lares;
  declared!: Declared;
  private readonly rig: ChannelRig;

  constructor(rig: ChannelRig) {
    this.rig = rig;
    this.name = rig.name;
  }

  get can(): Capabilities {
    return this.declared.can;
  }

  get owner(): Person {
    return this.platform.owner;
  }

  async open(): Promise<void> {
    const [platform, model] = await Promise.all([this.rig.start(), startModel()]);
    this.platform = unhurried(platform);
    this.model = model;
    this.declared = await declaredBy(this.name, this.platform.account);
    const home = scratch("contract");
    this.platform.prepare?.(home);
    this.lares = await startLares({ home, env: this.model.env, config: this.config() });
    await this.platform.attach(this.lares);
  }

  async close(): Promise<void> {
    await this.lares?.dispose();
    await Promise.all([this.platform?.close(), this.model?.close()]);
    if (this.lares) rmSync(this.lares.home, { recursive: true, force: true });
  }

  private config(): object {
    const { account, stranger, owner, group } = this.platform;
    const acknowledge = this.can.does.includes("react") ? { acknowledge: ACKNOWLEDGED } : {};
    return {
      outbox: { firstRetryMs: 20, mostRetryMs: 200 },
      channels: {
        [this.name]: {
          main: {
            ...account,
            ...acknowledge,
            ...(stranger ? { dm: "pairing", owners: [owner.id] } : {}),
            ...(group ? { groups: { [group]: { allow: [owner.id] } } } : {}),
          },
        },
      },
    };
  }

  async texts(where: Where = this.owner): Promise<string[]> {
    return (await this.platform.shown(where)).map((m) => m.text);
  }

  shows(what: string | RegExp, where: Where = this.owner): Promise<unknown> {
    return until(`"${what}" to be shown`, async () => (await this.texts(where)).some((t) => t.match(what)), {
      withinMs: 30_000,
      instead: async () => (await this.texts(where)).map((t) => t.slice(0, 80)),
    });
  }

  async count(what: string | RegExp, where: Where = this.owner): Promise<number> {
    return (await this.texts(where)).filter((t) => t.match(what)).length;
  }

  /** The owner says it, and the answer is there. */
  async exchange(word: string): Promise<void> {
    await this.platform.say(this.owner, `say:${word}`);
    await this.shows(word);
  }

  async heardAt(): Promise<number> {
    return (await this.lares.rpc("channels.list", {})).channels[0]!.heardAt ?? 0;
  }

  /** Does something that Lares hears, and waits until it has. */
  async heard(act: () => Promise<unknown>): Promise<void> {
    const before = await this.heardAt();
    // The time is in milliseconds: two things in the same one would look like one.
    await until("a later millisecond", () => Date.now() > before);
    await act();
    await until("it to be heard", async () => (await this.heardAt()) > before);
  }

  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.lares.start(env);
    await this.platform.attach(this.lares);
  }

  /** Everything before it is settled, so that a kill hits what it is meant for. */
  async quiet(): Promise<void> {
    await until("quiet", async () => (await this.lares.rpc("status", {})).deliveries.waiting === 0);
  }

  /** A life that ends at this point. Each finds what the last one left, so it may be over before it is ready. */
  async die(point: string, act: () => Promise<unknown> = async () => {}): Promise<void> {
    const { lares } = this;
    lares.spawn({ LARES_CRASH_AT: point });
    let isGone = false;
    void lares.gone.then(() => {
      isGone = true;
    });
    const served = lares.ready(PATIENCE_MS).then(() => this.platform.attach(lares));
    // One that lives and does not connect fails here, instead of being waited for.
    const failed = (error: unknown) => {
      if (!isGone) throw error;
    };
    await Promise.race([lares.gone, served.then(act, failed)]);
    await until(`the end at ${point}`, () => Promise.race([lares.gone, pause(1000)]), { withinMs: PATIENCE_MS });
  }

  /** The channel still works, and nothing of before is on its way. */
  async settled(word: string): Promise<void> {
    await this.exchange(word);
    await this.quiet();
    const { channels } = await this.lares.rpc("channels.list", {});
    expect(channels[0]).toMatchObject({ name: `${this.name}/main`, state: "ok" });
  }
}

/**
 * Strictly in turns and at once is how two bots talk to each other, and Lares stops after ten such rounds: now and then somebody
 * reads for a while.
 */
function unhurried(platform: Platform): Platform {
  let rounds = 0;
  const first =
    <A extends unknown[], R>(act: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      if (++rounds % MOST_ROUNDS === 0) await pause(READING_MS);
      return act(...given);
    };
  const { say, sendFile, edit, threads } = platform;
  return {
    ...platform,
    say: first(say.bind(platform)),
    ...(sendFile ? { sendFile: first(sendFile.bind(platform)) } : {}),
    ...(edit ? { edit: first(edit.bind(platform)) } : {}),
    ...(threads ? { threads: { ...threads, say: first(threads.say.bind(threads)) } } : {}),
  };
}

/** What the adapter says of an account with these fields. Its channel is built and not run. */
export async function declaredBy(name: string, account: Record<string, unknown>): Promise<Declared> {
  const entry = ADAPTERS[name]!;
  const config = entry.config.parse(account);
  const home = scratch("declared");
  const parts = { home, clock: systemClock, log: silentLog, libraries: new Libraries(home) };
  const one = configured(entry, "main", config, parts);
  return { can: one.can, policy: one.policy, channel: await one.open() };
}
