/** What may or may not have happened needs a person: it stays on the list until somebody has seen it, over restarts (I4, ATTENTION-1). */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startLares, startModel } from "../support/index.ts";

it("an edit whose end nobody knows is on the attention list until it is dismissed", async () => {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config: { policy: { mode: "record" } } });
  const file = join(lares.home, "agents", "main", "workspace", "plan.txt");
  const message = 'tool:edit {"path":"plan.txt","old":"one","new":"two"} then: say:done';
  try {
    await lares.chat("ana", "say:hello");
    writeFileSync(file, "one\n");
    await lares.restart({ LARES_CRASH_AT: "effect.acted" });
    lares.chat("ana", message, { key: "k" }).catch(() => {});
    expect((await lares.gone).signal).toBe("SIGKILL");
    // Somebody takes the file away meanwhile, so that nothing can say what became of the edit.
    rmSync(file);
    await lares.start({ LARES_CRASH_AT: "" });
    const { turn, session, state } = await lares.chat("ana", message, { key: "k" });
    expect(state).toBe("answered");

    const { items, total } = await lares.rpc("attention.list", {});
    expect(items).toEqual([
      {
        id: expect.stringMatching(`^effect:${turn}:`),
        kind: "effect",
        at: expect.any(Number),
        text: "A call of edit may or may not have happened.",
        failure: "unknown-outcome",
        dismissible: true,
        agent: "main",
        session,
        turn,
      },
    ]);
    expect(total).toBe(1);
    expect((await lares.rpc("status", {})).attention).toBe(1);
    const { steps } = await lares.rpc("turns.get", { turn });
    expect(steps.find((step) => step.name.startsWith("tool:edit:"))).toMatchObject({ outcome: "unknown" });

    await lares.restart();
    expect((await lares.rpc("attention.list", {})).items.map((one) => one.id)).toEqual([items[0]!.id]);
    expect(await lares.rpc("attention.dismiss", { ids: [items[0]!.id] })).toEqual({ dismissed: 1, total: 0 });
    await lares.restart();
    expect(await lares.rpc("attention.list", {})).toEqual({ items: [], total: 0 });
  } finally {
    await lares.dispose();
    await model.close();
  }
});
