/**
 * Makes the transcripts that the fake replays, from real runs: `tsx test/fakes/openclaw/record.ts NODE PROGRAM` with Node 24 and openclaw.mjs. The
 * scripted model server answers. What belongs to this machine or this minute is replaced.
 *
 * Documentation: see gateway.ts
 */
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { WebSocket, WebSocketServer } from "ws";
import type { RunAnswer } from "../../../src/core/contracts/index.ts";
import { openClawStage } from "../../contracts/runtime/openclaw-stage.ts";
import { Follower, makeRequest } from "../../contracts/runtime/rig.ts";
import { startRealGateway } from "../../runtimes/real-openclaw.ts";
import { until } from "../../support/index.ts";

const [node, program] = process.argv.slice(2);
if (!node || !program) throw new Error("Which program? tsx test/fakes/openclaw/record.ts NODE PROGRAM");
const never = new AbortController().signal;
const PATIENCE = { withinMs: 60_000 };

interface Scene {
  name: string;
  prompt: string;
  words: string;
  answer?: RunAnswer;
  stopAt?: string;
}

const ENDLESS = `on and on${" more".repeat(24)}`;
const act = 'tool:exec {"command":"mktemp -p . mark.scene.XXXXXX"} then: say:did it';
const SCENES: Scene[] = [
  { name: "say", prompt: "say:hello there", words: "hello there" },
  { name: "think", prompt: "think:let me see say:hello there", words: "hello there" },
  { name: "act", prompt: act, words: "did it", answer: { kind: "allow" } },
  { name: "deny", prompt: act, words: "did it", answer: { kind: "deny", reason: "not today" } },
  { name: "forever", prompt: `gap:400 say:${ENDLESS}`, words: ENDLESS, stopAt: "on and on" },
  { name: "limited", prompt: "fail:rate-limit*2 retry-after:1 say:after all then:", words: "after all" },
  { name: "fail-401", prompt: "fail:401", words: "" },
];

/** Spoken in the middle of a run: the transcript is cut there. */
const CUES = new Set(["chat.send", "chat.abort", "exec.approval.resolve"]);
/** Of the frames, what the driver or a history looks at. */
const EVENTS = new Set(["agent", "chat", "session.message", "exec.approval.requested", "exec.approval.resolved"]);

const gateway = await startRealGateway(node, program);
let lines: [string, Record<string, unknown>][] = [];
const tee = new WebSocketServer({ port: 0, host: "127.0.0.1" });
tee.on("connection", (client) => {
  const real = new WebSocket(`ws://127.0.0.1:${gateway.port}`);
  const early: string[] = [];
  real.on("open", () => {
    for (const one of early) real.send(one);
  });
  client.on("message", (data) => {
    lines.push([">", JSON.parse(String(data))]);
    if (real.readyState === WebSocket.OPEN) real.send(String(data));
    else early.push(String(data));
  });
  real.on("message", (data) => {
    lines.push(["<", JSON.parse(String(data))]);
    client.send(String(data));
  });
  client.on("close", () => real.terminate());
  real.on("close", () => client.terminate());
});
await new Promise((resolve) => tee.once("listening", resolve));
const stage = openClawStage({ ...gateway, port: (tee.address() as AddressInfo).port }, { failing: "failing/scripted" });

for (const scene of SCENES) {
  lines = [];
  const request = makeRequest(stage, scene.prompt);
  const session = await stage.adapter.open(request, await stage.ports(request.run), never);
  const follower = new Follower(session);
  if (scene.answer) {
    const [ask] = await until(
      "the question",
      () => (follower.all("ask").length > 0 ? follower.all("ask") : undefined),
      PATIENCE,
    );
    await session.answer(ask!.ask, scene.answer);
  }
  if (scene.stopAt !== undefined) {
    await until("its words", () => follower.text.includes(scene.stopAt!), PATIENCE);
    await session.stop("soft");
  }
  await until("its end", () => follower.all("done").length > 0, PATIENCE);
  await session.close();
  const file = fileURLToPath(new URL(`transcripts/${scene.name}.jsonl`, import.meta.url));
  writeFileSync(file, `${cut(scene).join("\n")}\n`);
  process.stdout.write(`${scene.name}: ${follower.all("done")[0]!.outcome} "${follower.text}"\n`);
}
await gateway.close();
process.exit(0);

function cut({ words }: Scene): string[] {
  const first = lines.findIndex(([from, frame]) => from === ">" && frame.method === "chat.send");
  const { sessionKey, idempotencyKey } = lines[first]![1].params as Record<string, string>;
  const approval = lines.flatMap(([, { event, payload }]) =>
    event === "exec.approval.requested" ? [(payload as { id: string }).id] : [],
  )[0];
  let hasHalf = false;
  return lines.slice(first).flatMap(([from, frame]) => {
    const piece = readPiece(frame);
    // Two pieces of an answer stand for all of them.
    const isPart = piece !== undefined && piece !== words && piece !== "" && words.startsWith(piece);
    if (isPart && hasHalf) return [];
    hasHalf ||= isPart;
    const rest = isPart ? { text: "{half}", delta: "{half}" } : { delta: "{rest}" };
    if (piece) Object.assign((frame.payload as { data: object }).data, rest);
    const isCue = from === ">" && CUES.has(String(frame.method));
    if (!isCue && !(from === "<" && isKept(frame))) return [];
    const text = JSON.stringify(isCue ? { type: "req", method: frame.method } : scrub(frame))
      .replaceAll(sessionKey!, "{key}")
      .replaceAll(idempotencyKey!, "{run}")
      .replaceAll(gateway.work, "/home/ana/.openclaw/workspace")
      .replaceAll("mark.scene.", "mark.{mark}.");
    const named = approval === undefined ? text : text.replaceAll(approval, "{approval}");
    return [`${from} ${words === "" ? named : named.replaceAll(JSON.stringify(words), '"{words}"')}`];
  });
}

function readPiece({ event, payload }: Record<string, unknown>): string | undefined {
  const { stream, data } = (payload ?? {}) as { stream?: string; data?: { text?: string } };
  return event === "agent" && stream === "assistant" ? data?.text : undefined;
}

/** Pieces come a second time as `chat`: the driver doesn't look at those. */
function isKept({ event, payload }: Record<string, unknown>): boolean {
  return EVENTS.has(String(event)) && !(event === "chat" && (payload as { state?: string }).state === "delta");
}

/** What describes this machine is left out. */
function scrub({ type, event, payload }: Record<string, unknown>): object {
  const { session: _, sessionId: _id, agentId: _agent, ...rest } = payload as Record<string, unknown>;
  return { type, event, payload: rest };
}
