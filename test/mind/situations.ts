/** The first request of every situation an agent can be in, as the model received it. */
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { until } from "../support/index.ts";
import { startRig } from "./rig.ts";
import { ANN, BO, EVE, GROUP, startTelegramRig } from "./telegram.ts";

export const SITUATIONS = [
  "owner",
  "direct",
  "known",
  "stranger",
  "group",
  "mention",
  "narrow",
  "job",
  "heartbeat",
  "child",
  "goal",
  "caller",
  "small",
] as const;
export type SituationName = (typeof SITUATIONS)[number];

/** In words, for tables. */
export const TITLES: Readonly<Record<SituationName, string>> = {
  owner: "owner, web page or HTTP",
  direct: "owner, Telegram",
  known: "known person, Telegram",
  stranger: "stranger, Telegram",
  group: "group, hears everything",
  mention: "group, mentions only",
  narrow: "group that allows web_fetch only",
  job: "run of a job",
  heartbeat: "heartbeat",
  child: "sub-agent",
  goal: "goal",
  caller: "program with its own instructions",
  small: "owner, window of 8k",
};

export async function recordSituations(config: Record<string, unknown> = {}): Promise<Map<SituationName, SeenRequest>> {
  const heartbeat = { every: "30m", deliver: { channel: "telegram", account: "bot", chat: String(ANN.id) } };
  const { agents, ...more } = config as { agents?: { main?: object } };
  const rig = await startTelegramRig({
    files: { "agents/main/HEARTBEAT.md": "# Look after\n\n- the boiler\n" },
    config: { policy: { mode: "record" }, agents: { main: { ...agents?.main, heartbeat } }, ...more },
  });
  const small = await startRig({ window: 8192, config: { policy: { mode: "ask" } } });
  const found = new Map<SituationName, SeenRequest>();
  const first = async (name: SituationName, does: () => unknown) => void found.set(name, await rig.after(does));
  try {
    await first("owner", () => rig.chat("web", "hello"));
    found.set("direct", await rig.say(ANN.id, ANN, "hello"));
    found.set("known", await rig.say(BO.id, BO, "hello"));
    found.set("stranger", await rig.say(EVE.id, EVE, "hello"));
    found.set("group", await rig.say(GROUP.open, { id: 79, first_name: "N".repeat(80) }, "hello"));
    found.set("mention", await rig.call(GROUP.mention, ANN, "hello"));
    found.set("narrow", await rig.say(GROUP.narrow, ANN, "hello"));
    const { id } = await rig.rpc("schedule.add", { name: "plants", prompt: "water the plants", in: "5 minutes" });
    await first("job", () => rig.rpc("schedule.run", { id }));
    await first("heartbeat", () => rig.rpc("heartbeat.run", { agent: "main" }));
    const task = "count the files CHILD-TASK";
    void rig.chat("spawner", `tool:sessions_spawn ${JSON.stringify({ task })} then: say:asked`);
    const child = await until("the sub-agent", () =>
      rig.model.requests.find(({ raw }) => raw.includes("CHILD-TASK") && !raw.includes("tool:sessions_spawn")),
    );
    found.set("child", child);
    await rig.rpc("goals.add", { outcome: "GOAL-TEXT is done", turns: 1 });
    const goal = await until("the goal's turn", () => rig.model.requests.find(({ raw }) => raw.includes("GOAL-TEXT")));
    found.set("goal", goal);
    await rig.post("/v1/chat/completions", {
      model: "lares/main",
      messages: [
        { role: "system", content: "CALLER-INSTRUCTIONS: answer in rhyme." },
        { role: "user", content: "hello" },
      ],
    });
    found.set("caller", rig.model.requests.findLast(({ raw }) => raw.includes("CALLER-INSTRUCTIONS"))!);
    await small.chat("ana", "hello");
    found.set("small", small.last());
    return found;
  } finally {
    await small.stop();
    await rig.stopAll();
  }
}
