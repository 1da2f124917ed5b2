/** One home, one scripted world, and as many lives of the engine as a test wants. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CANCEL, type Engine, type JournalEntry } from "../../../src/core/contracts/index.ts";
import type { Json, LaneClass, TurnId } from "../../../src/core/domain/index.ts";
import { pretend } from "../../support/pretend.ts";
import {
  type EngineFactory,
  type Life,
  type Op,
  type Opened,
  type OpenParts,
  type Script,
  scriptedApp,
  session,
  until,
  World,
} from "./world.ts";

export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "lares-engine-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

export interface EndNote {
  end: string;
  how: string;
  seen: Json[];
}

export class TestInstance {
  readonly world: World;
  readonly home: string;
  opened!: Opened;
  private readonly factory: EngineFactory;
  private readonly parts: OpenParts;
  private life: Life = { dead: false };
  private sentinels = 0;

  constructor(factory: EngineFactory, parts: OpenParts = {}, world = new World(), home = newHome()) {
    this.factory = factory;
    this.parts = parts;
    this.world = world;
    this.home = home;
  }

  static async open(factory: EngineFactory, parts: OpenParts = {}): Promise<TestInstance> {
    const instance = new TestInstance(factory, parts);
    onTestFinished(() => instance.kill());
    await instance.begin();
    return instance;
  }

  get engine(): Engine {
    return this.opened.engine;
  }

  /** Opens without starting: what a restart finds. */
  async look(): Promise<void> {
    this.opened = await this.factory.open(this.home, this.parts);
    this.life = { dead: false };
  }

  async begin(): Promise<void> {
    await this.look();
    await this.start();
  }

  async start(): Promise<void> {
    await this.opened.engine.start(scriptedApp(this.world, this.opened, this.life));
  }

  /** In this process, what `kill -9` would do. Twice is once. */
  kill(): void {
    if (this.life.dead) return;
    this.life.dead = true;
    this.world.gen++;
    this.opened?.abandon();
  }

  async crash(): Promise<void> {
    this.kill();
    await this.begin();
  }

  async restart(drainMs = 0): Promise<void> {
    const life = this.life;
    await this.opened.close(drainMs);
    life.dead = true;
    this.world.gen++;
    await this.begin();
  }

  accept(name: string, ops: Op[], more: { session?: string; lane?: LaneClass; id?: string } & Partial<Script> = {}) {
    const { session: s = "s", lane = "interactive", id = name, ...script } = more;
    const body = pretend<Json>({ name, ops, ...script });
    return this.engine.accept({ id, session: session(s), lane, body });
  }

  async ends(): Promise<EndNote[]> {
    const notes = (await this.opened.notes()).map((n) => JSON.parse(n) as EndNote);
    return notes.filter((n) => n.end !== undefined);
  }

  async endOf(name: string): Promise<EndNote | undefined> {
    return (await this.ends()).find((e) => e.end === name);
  }

  /** Waits for the end of these turns and returns the first one's note. */
  async ended(...names: string[]): Promise<EndNote> {
    await until(`the end of ${names.join(", ")}`, async () => {
      const ends = await this.ends();
      return names.every((name) => ends.some((e) => e.end === name));
    });
    return (await this.endOf(names[0]!))!;
  }

  parked(name: string, segments = 1): Promise<void> {
    return until(`${name} parks`, () => this.world.of(name, "parked").length >= segments);
  }

  began(name: string): Promise<void> {
    return until(`${name} begins`, () => this.world.of(name, "begin").length > 0);
  }

  /** Gives the engine every chance to do what it must not do: a turn elsewhere runs through from accept to end. */
  async meanwhile(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      const name = `meanwhile-${this.sentinels++}`;
      await this.accept(name, [{ step: "x" }, { effect: "y" }], { session: name });
      await this.ended(name);
    }
  }

  async history(query: Parameters<Engine["history"]>[0]): Promise<JournalEntry[]> {
    const entries: JournalEntry[] = [];
    for await (const entry of this.engine.history(query)) entries.push(entry);
    return entries;
  }

  cancel(turn: TurnId, id = `stop-${turn}`) {
    return this.engine.resume(turn, { id, name: CANCEL, value: null });
  }

  send(turn: TurnId, name: string, id: string, value: Json = null) {
    return this.engine.resume(turn, { id, name, value });
  }
}
