/** Which tools are told where, and what they cost: sub-agents and small windows get shorter lists, and nothing is out of reach. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { toolResults } from "../support/index.ts";
import { type Rig, startRig, tokens } from "./rig.ts";

const cost = (request: SeenRequest) => tokens(JSON.stringify(request.body.tools));
const windows = (window: number): Promise<Rig> => startRig({ window, config: { policy: { mode: "record" } } });

test("8k: nine tools in at most 750 tokens, and the whole prefix in at most 15 % of the window", async () => {
  const rig = await windows(8_000);
  try {
    await rig.chat("ana", "hello");
    const { system, tools } = rig.last();
    expect([...tools].sort()).toEqual(
      ["edit", "exec", "memory_save", "memory_search", "read", "search", "tool_run", "tool_search", "write"].sort(),
    );
    expect(cost(rig.last())).toBeLessThanOrEqual(750);
    expect(cost(rig.last()) + tokens(system)).toBeLessThanOrEqual(1200);
    // What is not told is found, and runs.
    await rig.chat("ana", 'tool:tool_search {"query":"list folder"} then: say:ok');
    expect(toolResults(rig.last()).at(-1)!.text).toMatch(/^list: List the files/m);
    await rig.chat("ana", 'tool:tool_run {"name":"list","input":{"path":"."}} then: say:ok');
    expect(toolResults(rig.last()).at(-1)!.isError).toBe(false);
  } finally {
    await rig.stop();
  }
}, 60_000);

test("20k: all tools, in at most 1,200 tokens of descriptions and names", async () => {
  const rig = await windows(20_000);
  try {
    await rig.chat("ana", "hello");
    const small = rig.last();
    expect(small.tools).toContain("apply_patch");
    const words = (small.body.tools as { name: string; description: string }[]).map(
      (one) => `${one.name} ${one.description}`,
    );
    expect(tokens(words.join(""))).toBeLessThanOrEqual(1200);
    expect(JSON.stringify(small.body.tools)).toContain("*** Begin Patch");
  } finally {
    await rig.stop();
  }
}, 60_000);

let rig: Rig;
beforeAll(async () => {
  rig = await windows(200_000);
});
afterAll(() => rig?.stop());

test("a sub-agent is not told of tools that talk to people or outlive it", async () => {
  await rig.chat("spawner", 'tool:sessions_spawn {"task":"say:counted"} then: say:asked');
  await expect.poll(() => rig.model.requests.some((one) => one.raw.includes("You are a sub-agent"))).toBe(true);
  const child = rig.model.requests.find((one) => one.raw.includes("You are a sub-agent"))!;
  for (const tool of ["message", "schedule_add", "memory_save"]) expect(child.tools).not.toContain(tool);
  for (const tool of ["read", "exec", "sessions_spawn", "memory_search"]) expect(child.tools).toContain(tool);
});
