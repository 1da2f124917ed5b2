/**
 * One instance: one life of the engine on a home. When the disk was full a new one is built in the same process, exactly as after a
 * crash. Each builder takes what the earlier ones made; what is needed before it exists is a late part (instance/parts.ts).
 */
import type { AgentId, SessionKey } from "../core/domain/index.ts";
import { previewWaiting } from "../flow/inbox/index.ts";
import { type NextRequest, nextRequest } from "../flow/turns/index.ts";
import { pictureTokens, textTokens } from "../mind/context/index.ts";
import { type BuiltDelivery, buildDelivery } from "./instance/delivery.ts";
import { buildGround, type Ground } from "./instance/ground.ts";
import { type Built, type BuiltIntake, buildIntake } from "./instance/intake.ts";
import { type Life, startLife } from "./instance/life.ts";
import { buildMind, type Mind } from "./instance/mind.ts";
import { type InstanceParts, makeLateParts } from "./instance/parts.ts";
import { buildRuntimes, type Runtimes } from "./instance/runtimes.ts";
import { addTools, buildTurns, type Turns } from "./instance/turns.ts";
import { makeUpkeep, type Upkeep } from "./instance/upkeep.ts";
import { buildWakers, type Wakers } from "./instance/wakers.ts";
import { buildWorkshop, type Workshop } from "./instance/workshop.ts";

export interface Instance
  extends Pick<Ground, "records" | "engine" | "turnEnds" | "grants" | "currentTurn" | "eventHooks">,
    Pick<
      Workshop,
      | "a2a"
      | "agents"
      | "attachments"
      | "hookSources"
      | "mcp"
      | "plugins"
      | "processes"
      | "sandbox"
      | "skills"
      | "teams"
    >,
    Pick<BuiltDelivery, "outbox" | "approvals">,
    Mind,
    BuiltIntake,
    Wakers,
    Life,
    Upkeep {
  runtimes: Runtimes;
  explainCommand: Turns["judging"]["explainCommand"];
  /** What the model would read now. Sends nothing. */
  nextRequest(of: { session: SessionKey; agent: AgentId; text?: string | undefined }): Promise<NextRequest>;
}

export async function openInstance(parts: InstanceParts): Promise<Instance> {
  const late = makeLateParts();
  const ground = await buildGround(parts);
  const workshop = buildWorkshop(parts, ground, late);
  const delivery = buildDelivery(parts, ground, workshop, late);
  const mind = await buildMind(parts, ground, workshop, delivery, late);
  const built = { parts, ground, workshop, delivery, mind, late };
  const intake = buildIntake(built);
  const wakers = buildWakers({ ...built, intake });
  const runtimes = buildRuntimes(built);
  const turns = await buildTurns({ ...built, intake, wakers, runtimes });
  const browser = addTools({ ...built, intake, wakers });
  const life = await startLife({ ...built, intake, wakers, runtimes, ...turns }, browser);
  return {
    ...ground,
    ...workshop,
    ...delivery,
    ...mind,
    ...intake,
    ...wakers,
    ...life,
    ...makeUpkeep({ ...built, intake, wakers }),
    runtimes,
    explainCommand: turns.judging.explainCommand,
    nextRequest: (of) => nextRequest(requestParts(built, intake), of),
  };
}

function requestParts(
  { parts, ground, workshop, mind }: Built,
  { inbox }: BuiltIntake,
): Parameters<typeof nextRequest>[0] {
  const { records, agentModel } = ground;
  return {
    records,
    agentModel,
    models: parts.models,
    clock: parts.clock,
    history: mind.contexts,
    view: (session, agent, model) => mind.contexts.view(session, agent, model),
    envelope: (said, at) => inbox.envelope(said, at),
    waiting: (session) => previewWaiting(records, workshop.attachments, session),
    tokens: { ofText: textTokens, ofPicture: pictureTokens },
  };
}
