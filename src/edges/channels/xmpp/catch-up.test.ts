import { expect, test } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import type { ArchivePage, ArchiveQuery } from "./archive.ts";
import { catchUp } from "./catch-up.ts";

test("where the archive no longer has the last message, it is read from the time of that message on", async () => {
  const asked: ArchiveQuery[] = [];
  const warned: string[] = [];
  const archive = {
    async ask(query: ArchiveQuery): Promise<ArchivePage> {
      asked.push(query);
      return query.after === undefined
        ? { items: [], last: undefined, isComplete: true }
        : { items: [], last: undefined, isComplete: true, isLost: true };
    },
  };
  const state = { me: "me@x", clock: { now: () => 0 }, log: { warn: (text: string) => warned.push(text) } };
  const read = (at: Record<string, string>) => catchUp(pretend(state), pretend({ archive, door: {}, at }), undefined);

  await read({ "": "gone", " time": "1700000000000" });
  expect(asked.map(({ after, since }) => ({ after, since }))).toEqual([
    { after: "gone", since: undefined },
    { after: undefined, since: 1_700_000_000_000 },
  ]);
  expect(warned).toEqual([]);

  // A position of an older version has no time: nothing is pretended.
  await read({ "": "gone" });
  expect(warned).toEqual([expect.stringContaining("may be lost")]);
});
