/** The short form of `npm run test:burst`. */
import { expect, it } from "vitest";
import { burst } from "./burst.ts";

it("a burst into one Telegram account: all admitted once, in order, answered, at the platform's pace", async () => {
  const [report] = await burst({ messages: 25, people: 12, paceMs: 0 });
  expect(report).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
  expect(report!.answers).toBeGreaterThanOrEqual(12);
  // Twenty-five at twenty-five a second: nobody can be much faster without breaking the platform's limit.
  expect(report!.answeredMs).toBeGreaterThan((report!.answers - 1) * 40 * 0.9);
});
