/** Handlers of `heartbeat.*`. */
import { type AgentId, asId, heartbeatName } from "../../core/domain/index.ts";
import { sumRunUsage } from "../../flow/turns/index.ts";
import { beatViews, findBeat, PAUSED_BY_PERSON } from "../../mind/heartbeat/index.ts";
import { beatsSince } from "../../mind/schedule/index.ts";
import type { Instance } from "../instance.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

type BeatRooms = "heartbeat" | "schedules" | "agents" | "records";

export function makeHeartbeatMethods(parts: Asks<BeatRooms> & Pick<MethodParts, "clock">): Methods<"heartbeat"> {
  const schedules = () => parts.instance().schedules;
  const beats = () => beatsIn(parts.instance(), parts.clock.now());
  const readBeat = async (agent: string) => findBeat(await beats(), agent);
  return {
    "heartbeat.list": async () => ({ beats: await beats() }),
    // Each handler reads the beat first, so that an agent without a heartbeat gets one error in one wording.
    async "heartbeat.run"({ agent }) {
      await readBeat(agent);
      return schedules().run(heartbeatName(agent));
    },
    async "heartbeat.pause"({ agent }) {
      await readBeat(agent);
      await parts.instance().heartbeat.pause(asId<AgentId>(agent), PAUSED_BY_PERSON);
      return readBeat(agent);
    },
    async "heartbeat.resume"({ agent }) {
      await readBeat(agent);
      await parts.instance().heartbeat.pause(asId<AgentId>(agent), null);
      // A heartbeat can be stopped in two places: by its own pause, and as a job that failed too often.
      await schedules().update(heartbeatName(agent), { enabled: true });
      return readBeat(agent);
    },
  };
}

/** How each agent's heartbeat is. */
export function beatsIn(instance: Pick<Instance, BeatRooms>, now: number) {
  const { heartbeat, schedules, agents, records } = instance;
  return beatViews({
    heartbeat,
    schedules,
    agents,
    now,
    usage: (job, since) => sumRunUsage(records.committed, job, since),
    looks: (job, since) => beatsSince(records.committed, job, since),
  });
}
