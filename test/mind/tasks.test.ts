/** Every task goes right with what the request tells, and wrong without it. `npm run test:mind` prints them as a table. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStage, tasksHere } from "./tasks/index.ts";
import { play, type Stage } from "./tasks/task.ts";

const TASKS = tasksHere();
let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test.each(TASKS.map((task) => [task.name, task.element, task] as const))("%s needs %s", async (_, __, task) => {
  expect(await play(task, stage, "without")).toBe(false);
  expect(await play(task, stage, "with")).toBe(true);
});

test("there are twelve of them or more", () => {
  expect(TASKS.length).toBeGreaterThanOrEqual(12);
});
