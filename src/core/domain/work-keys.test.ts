import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import {
  compactionId,
  isOwnWait,
  memoryPasses,
  passTurn,
  resumeIds,
  shortWorkKey,
  waitNames,
  workKeys,
} from "./work-keys.ts";

test("a turn that waits for what it started is told apart from one that waits for a person", () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      expect(isOwnWait(waitNames.own(id))).toBe(true);
      expect(isOwnWait(waitNames.approval(id))).toBe(false);
    }),
  );
});

test("a key that was shortened still says what kind of work it is", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (about, print) => {
      expect(shortWorkKey(workKeys.delivery(about), print)).toBe(`delivery:#${print}`);
    }),
  );
});

test("the stored forms never change: databases and the watchdog's file hold them", () => {
  const at = { channel: "telegram", account: "bot" };
  expect([
    waitNames.approval("ap_1"),
    waitNames.own("k"),
    resumeIds.abort("t_1"),
    resumeIds.stop("t_1"),
    resumeIds.replaced("t_2"),
    resumeIds.interrupt("t_2"),
    resumeIds.closed("t_1"),
    resumeIds.events("wait:k"),
    resumeIds.answered("ap_1", "deny", "owner"),
  ]).toEqual([
    "approval:ap_1",
    "wait:k",
    "abort:t_1",
    "stop:t_1",
    "replaced:t_2",
    "interrupt:t_2",
    "session:t_1",
    "events:wait:k",
    "ap_1:deny:owner",
  ]);
  expect([
    workKeys.turn("t_1"),
    workKeys.broken("t_1"),
    workKeys.delivery("d_1"),
    workKeys.watch("feed", "ab"),
    workKeys.raw(at, "update", "7"),
    workKeys.event(at, "c", "7"),
    workKeys.import("hermes", "/x"),
    workKeys.importedSession("ab"),
    workKeys.document(12, "/x"),
    workKeys.index(3, "s"),
    workKeys.capture(3, "s"),
  ]).toEqual([
    "turn:t_1",
    "turn:t_1:broken",
    "delivery:d_1",
    "watch:feed:ab",
    "raw:telegram/bot/update/7",
    "event:telegram/bot/c/7",
    "import:hermes:/x",
    "import:session:ab",
    "document:12:/x",
    "index:3:s",
    "capture:3:s",
  ]);
  expect([
    memoryPasses.night("main", 12),
    memoryPasses.asked("main", "k"),
    memoryPasses.capture("ab", 3),
    memoryPasses.condense("x"),
    passTurn("condense:x", "x_1"),
    compactionId("t_1", 2),
  ]).toEqual(["night:main:12", "asked:main:k", "capture:ab:3", "condense:x", "condense:x:x_1", "t_1:2"]);
});
