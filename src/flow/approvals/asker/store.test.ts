/** Who asked, on real records. */
import { expect, test } from "vitest";
import { testRecords } from "../../../../test/support/records.ts";
import { personKeys } from "../../../core/domain/index.ts";
import { describeAsker, personBehind } from "./store.ts";

test.each([
  ["telegram", "7"],
  ["matrix", "@alice:example.org"],
])("a person on %s is named by the whole id the platform has", async (channel, id) => {
  const { records } = await testRecords("asker");
  const route = { channel, account: "bot", chat: "c" };
  await records.write((tx) =>
    tx.run(
      `INSERT INTO turn (id, session, agent, person, speaker, accept_id, route, lane, state, accepted_at)
       VALUES ('t_1', 's', 'main', ?, 'stranger', 'a', ?, 'interactive', 'queued', 1)`,
      personKeys.at(channel, id),
      JSON.stringify(route),
    ),
  );
  expect(await describeAsker(records, "t_1", "stranger")).toBe(`Asked by a guest on ${channel}/bot: "${id}".`);
  expect(await personBehind(records, "t_1")).toEqual({ standing: "guest", name: id });
});
