/** The ground: the records, the engine on them, who waits for turns, and the few words about settings that everybody needs. */
import { join } from "node:path";
import { CANCEL, type FindModel, makeModelFinder, type Tx } from "../../core/contracts/index.ts";
import { type AppError, type Json, resumeIds, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { asCalled } from "../../core/protocol/client.ts";
import { EventHooks } from "../../flow/event-hooks/index.ts";
import { listTurns, TurnEnds } from "../../flow/turns/index.ts";
import { makeOwnerZone } from "../../ground/config/index.ts";
import { EmbeddedEngine } from "../../ground/engine/index.ts";
import { openRecords, type SqliteRecords } from "../../ground/records/index.ts";
import { makeGrants, scrub } from "../../ground/vault/index.ts";
import { makeZoneFinder } from "../../mind/schedule/index.ts";
import type { InstanceParts } from "./parts.ts";

export interface Ground {
  records: SqliteRecords;
  engine: EmbeddedEngine;
  eventHooks: EventHooks;
  turnEnds: TurnEnds;
  /** Which secrets an agent's commands get. */
  grants: ReturnType<typeof makeGrants>;
  /** The value without secrets. */
  clean(value: Json): Json;
  /** Commands in our own words as they work here. */
  called(text: string): string;
  /** The owner's time zone. */
  zone(): string;
  /** The zone a person reads clocks in: their own, else the owner's. */
  findZone(person?: string): Promise<string>;
  agentModel(agent: string): string | undefined;
  findModel: FindModel;
  /** What runs in the session, else the newest turn there that is open. */
  currentTurn(session: SessionKey): Promise<TurnId | undefined>;
  stopTurn(turn: TurnId, why: string, record?: (tx: Tx) => void): Promise<void>;
  /** What else ends with a turn that is stopped, or was over by then. */
  whenStopped: ((turn: TurnId) => Promise<void>)[];
  /** Work nobody waits for. It fails when the disk is full or the instance closes; the next start finds what is left to do. */
  aside(work: Promise<unknown>): void;
}

export async function buildGround(parts: InstanceParts): Promise<Ground> {
  const { config, models, clock, ids, crash, guard, log } = parts;
  const whenLost: ((error: AppError) => void)[] = [];
  const records = await openRecords(
    join(parts.home, "lares.db"),
    (error) => {
      for (const tell of whenLost) tell(error);
    },
    parts.storing,
  );
  const engine = new EmbeddedEngine({
    records,
    clock,
    ids,
    crash,
    guard,
    log: log.child("engine"),
    places: config.lanes,
  });
  const turnEnds = new TurnEnds(records);
  whenLost.push(
    (error) => engine.lose(error),
    (error) => turnEnds.lose(error),
    parts.onFatal,
  );
  const zone = makeOwnerZone(config);
  const whenStopped: Ground["whenStopped"] = [];
  return {
    records,
    engine,
    turnEnds,
    eventHooks: new EventHooks({ records, clock, crash, log: log.child("hooks") }),
    whenStopped,
    grants: makeGrants(parts.vault, (agent) => config.agents[agent]?.secrets ?? []),
    clean: (value) => scrub(value, parts.redact),
    called: (text) => asCalled(text, parts.program),
    zone,
    findZone: makeZoneFinder(records, zone),
    agentModel: (agent) => config.agents[agent]?.model,
    findModel: makeModelFinder(models),
    async currentTurn(session) {
      return engine.running(session) ?? (await listTurns(records, { session, open: true, limit: 1 }))[0]?.id;
    },
    async stopTurn(turn, why, record) {
      await engine.resume(turn, { id: resumeIds.stop(turn), name: CANCEL, value: { why } }, record);
      for (const also of whenStopped) await also(turn);
    },
    aside(work) {
      work.catch((error: unknown) => log.debug("left for the next start", { error: String(error) }));
    },
  };
}
