/** Streams in the protocol's shapes. */
import { formatSSEEvent, StreamResponse } from "@a2a-js/sdk";
import { expect, it } from "vitest";
import type { PeerTask } from "../../../core/contracts/index.ts";
import { toBeginning, toEnd } from "./shapes.ts";

const task = (text: string): PeerTask => ({
  ...{ id: "t_1", context: "c", state: "completed", at: 0, message: "m" },
  text,
});
/** The events' kinds, the answer put together again, and the longest line on the wire. */
function read(events: StreamResponse[]) {
  let text = "";
  const kinds = events.map(({ payload }) => {
    if (payload?.$case === "artifactUpdate") {
      const { artifact, append, lastChunk } = payload.value;
      const [part] = artifact!.parts;
      const words = part?.content?.$case === "text" ? part.content.value : "";
      text = append ? text + words : words;
      return lastChunk ? "last" : "piece";
    }
    return payload?.$case;
  });
  const lines = events.map((event) => formatSSEEvent({ jsonrpc: "2.0", id: 1, result: StreamResponse.toJSON(event) }));
  return { kinds, text, longest: Math.max(...lines.map((line) => Buffer.byteLength(line))) };
}

it.each([
  ["of one piece", "Hello.", ["last", "statusUpdate"]],
  ["of no words", "", ["statusUpdate"]],
  ["that just fits", "a".repeat(8000), ["last", "statusUpdate"]],
  ["of several pieces", "ä".repeat(20_000), ["piece", "piece", "last", "statusUpdate"]],
])("an answer %s arrives whole", (_what, text, kinds) => {
  expect(read(toEnd(task(text)))).toMatchObject({ kinds, text });
});

it.each([
  ["characters that JSON spells out", "\u0001".repeat(50_000)],
  ["characters of three bytes", "語".repeat(50_000)],
  ["pairs that start at an odd place", `x${"😀".repeat(30_000)}`],
])("no line is longer than readers take: %s", (_what, text) => {
  const { longest, ...told } = read(toEnd(task(text)));
  expect(told.text).toBe(text);
  expect(longest).toBeLessThan(65_536);
  expect(read(toBeginning(task(text))).longest).toBeLessThan(65_536);
  for (const { payload } of toEnd(task(text)))
    if (payload?.$case === "artifactUpdate") expect(JSON.stringify(payload)).not.toMatch(/\\ud[89a-f]/i);
});

it("a stream that is taken up after the end has the answer too", () => {
  expect(read(toBeginning(task("short"))).kinds).toEqual(["task"]);
  expect(read(toBeginning(task("long ".repeat(4000))))).toMatchObject({
    kinds: ["task", "piece", "piece", "last", "statusUpdate"],
    text: "long ".repeat(4000),
  });
});
