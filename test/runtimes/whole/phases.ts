/** `kill -9` of the whole Lares in each phase of a run in a real runtime, one task for each. */
import { strict as assert } from "node:assert";
import type { ProvingCheck } from "../proof-table.ts";
import { type GivenTask, PHASES, type Phase, type RealBody, WholeLares } from "./lares.ts";

/** Where in a phase that lasts. */
const LATER_MS = 250;

const nameOf = (phase: Phase) => `kill -9 of Lares, ${phase}`;
export const WHOLE_TURN = "a turn of a whole Lares";

/** Programs of ours work in the sandbox there, with a home of their own; a daemon does neither. */
export const PHASE_CHECKS: readonly ProvingCheck[] = [
  { name: WHOLE_TURN, proves: ["boundary", "home"] },
  ...PHASES.map((phase) => ({ name: nameOf(phase), proves: ["resume" as const] })),
];

export async function killInEachPhase(body: RealBody, tell: (check: string, failure: unknown) => void): Promise<void> {
  const whole = await WholeLares.open([body]);
  const check = async (name: string, run: () => Promise<void>) =>
    tell(
      name,
      await run().then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
  const judge = async (task: GivenTask) => {
    const { lost, doubled } = await whole.judge(task);
    assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] });
  };
  try {
    await check(WHOLE_TURN, async () => {
      const task = await whole.give("task-first", body);
      await judge(task);
      assert.deepEqual(whole.left([task]), []);
    });
    for (const phase of PHASES)
      await check(nameOf(phase), async () => {
        const task = await whole.give(`task-${phase}`, body);
        await whole.reach(task, phase, LATER_MS);
        await whole.kill();
        whole.letGo();
        await judge(task);
        assert.deepEqual(whole.left([task]), []);
      });
  } finally {
    await whole.close();
  }
}
