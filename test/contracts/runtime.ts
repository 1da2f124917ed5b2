/**
 * What every runtime adapter must do, as a function of its rig. Which sections there are follows from what the adapter claims: what
 * is claimed is tried. An adapter is supported when it passes.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunRequest, RunSession, RuntimeCapabilities } from "../../src/core/contracts/index.ts";
import { until } from "../support/index.ts";
import { Follower, makeRequest, type RuntimeRig, type RuntimeStage, unfit } from "./runtime/rig.ts";
import { faultsIn } from "./runtime/stream.ts";

const never = new AbortController().signal;

export function runtimeContract(rig: RuntimeRig): void {
  describe(`${rig.name}: the runtime contract`, () => {
    let stage: RuntimeStage;
    let can: RuntimeCapabilities;
    beforeAll(async () => {
      stage = await rig.open();
      const probed = await stage.adapter.probe(never);
      if (probed.state !== "ready") throw new Error(`${rig.name} is ${probed.state}: ${probed.fix}`);
      can = stage.adapter.capabilities(probed.version);
    }, 60_000);
    afterAll(() => stage?.close());

    async function open(text: string, more: Partial<RunRequest> = {}) {
      const request = makeRequest(stage, text, more);
      const session = await stage.adapter.open(request, await stage.ports(request.run), never);
      onTestFinished(() => session.close());
      return { request, session, follower: new Follower(session, request.lastSeq) };
    }

    /** The stream is well-formed, and nothing is left of the run. */
    async function ends(request: RunRequest, session: RunSession, follower: Follower) {
      await follower.ended;
      await session.close();
      expect(faultsIn(follower.events, request)).toEqual([]);
      expect(await stage.left(request.run)).toEqual([]);
    }

    test("the rig can try what the adapter claims, and the adapter proves nothing by itself", () => {
      expect(unfit(can, stage)).toEqual([]);
      const proven = Object.entries(can).filter(([, claim]) => typeof claim === "object" && claim.proof === "proven");
      expect(proven).toEqual([]);
    });

    test("RUNTIME-2: a run starts, answers and is done, once", async () => {
      const { request, session, follower } = await open(stage.prompts.say("hello there"));
      await ends(request, session, follower);
      expect(follower.text).toBe("hello there");
      expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
    });

    test("RUNTIME-1: a later attempt counts on from the number it was given", async () => {
      const { request, session, follower } = await open(stage.prompts.say("again"), { attempt: 3, lastSeq: 41 });
      await ends(request, session, follower);
      expect(follower.events[0]).toMatchObject({ attempt: 3, seq: 42, body: { type: "run_started" } });
    });

    test("RUNTIME-4: a reader that died before it recorded an event is given it again", async () => {
      const { request, session, follower } = await open(stage.prompts.say("read twice"));
      await follower.first("run_started");
      const known = follower.events.length;
      const again = new Follower(session, known);
      await again.ended;
      const all = [...follower.events.slice(0, known), ...again.events];
      expect(faultsIn(all, request)).toEqual([]);
    });

    test("thinking and the answer are separate events", async () => {
      if (can.thinking.proof === "absent") return;
      const { request, session, follower } = await open(stage.prompts.think!("let me see", "seen"));
      await ends(request, session, follower);
      expect(
        follower
          .all("thinking")
          .map(({ text }) => text)
          .join(""),
      ).toContain("let me see");
      expect(follower.text).toBe("seen");
    });

    describe("asking", () => {
      const asks = () => can.approvals.proof !== "absent";

      test("RUNTIME-6: nothing happens before the answer; allowed, it happens once", async () => {
        if (!asks()) return;
        const { request, session, follower } = await open(stage.prompts.act("allowed", "did it"));
        const ask = await follower.first("ask");
        expect(stage.marks("allowed")).toBe(0);
        expect(await session.answer(ask.ask, { kind: "allow" })).toBe("taken");
        expect(await session.answer(ask.ask, { kind: "deny", reason: "too late" })).toBe("late");
        await ends(request, session, follower);
        expect(stage.marks("allowed")).toBe(1);
        expect(follower.all("tool_result")).toMatchObject([{ isError: false }]);
        expect(follower.all("answered")).toMatchObject([{ how: "allow" }]);
      });

      test("denied, it doesn't happen, and the run ends as its adapter says", async () => {
        if (can.approvals.proof === "absent") return;
        const { request, session, follower } = await open(stage.prompts.act("denied", "went on"));
        const ask = await follower.first("ask");
        await session.answer(ask.ask, { kind: "deny", reason: "not today" });
        await ends(request, session, follower);
        expect(stage.marks("denied")).toBe(0);
        const outcome = can.approvals.value.denied === "ends-turn" ? "rejected" : "finished";
        expect(follower.all("done")).toMatchObject([{ outcome }]);
      });

      test("an answer to something that nobody asked is unknown", async () => {
        const { session, follower } = await open(stage.prompts.say("no question"));
        expect(await session.answer("nobody-asked", { kind: "allow" })).toBe("unknown");
        await follower.ended;
      });

      test("stopped while it asks, it doesn't happen", async () => {
        if (!asks()) return;
        const { request, session, follower } = await open(stage.prompts.act("stopped", "never said"));
        await follower.first("ask");
        await session.stop("soft");
        await ends(request, session, follower);
        expect(stage.marks("stopped")).toBe(0);
        expect(follower.all("done")).toMatchObject([{ outcome: "stopped" }]);
      });
    });

    test.each(["soft", "hard"] as const)(
      "a %s stop in the middle of an answer ends the run as stopped",
      async (how) => {
        if (how === "soft" && can.interrupt.proof === "absent") return;
        const { request, session, follower } = await open(stage.prompts.forever("on and on"));
        await until("the first words", () => follower.text.includes("on and on"));
        await session.stop(how);
        await session.stop(how);
        await ends(request, session, follower);
        expect(follower.all("done")).toMatchObject([{ outcome: "stopped" }]);
        expect(await session.say("anybody?", "steer")).toBe("ended");
      },
    );

    test("RUNTIME-8: closed in the middle of an answer, nothing is left", async () => {
      const { request, session, follower } = await open(stage.prompts.forever("still here"));
      await until("the first words", () => follower.text.includes("still here"));
      await session.close();
      await session.close();
      await follower.ended;
      expect(await stage.left(request.run)).toEqual([]);
    });

    test("words said during a run reach the model", async () => {
      if (can.steer.proof === "absent") return;
      const { request, session, follower } = await open(stage.prompts.act("steered", "as you like"));
      const ask = can.approvals.proof === "absent" ? undefined : await follower.first("ask");
      const reached = await session.say("and mind the gap", "steer");
      expect(reached).toBe(can.steer.value);
      if (ask) await session.answer(ask.ask, { kind: "allow" });
      await ends(request, session, follower);
      expect(stage.heard!()).toContain("mind the gap");
    });

    test("a model that fails is named, and the run ends as failed", async () => {
      const { request, session, follower } = await open(stage.prompts.fail());
      await ends(request, session, follower);
      expect(follower.all("error").length).toBeGreaterThan(0);
      expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
    });

    test("parked and taken up again, the conversation goes on", async () => {
      if (can.resume.proof === "absent") return;
      const { request, session, follower } = await open(stage.prompts.say("remember this"));
      await ends(request, session, follower);
      const token = follower.all("checkpoint").at(-1)?.token;
      if (!token) throw new Error("resume is claimed, and the run left no checkpoint");
      const later = await open(stage.prompts.say("I do"), { resume: JSON.parse(JSON.stringify(token)) });
      await ends(later.request, later.session, later.follower);
      expect(later.follower.text).toBe("I do");
      expect(later.follower.all("run_started")[0]!.session).toBe(follower.all("run_started")[0]!.session);
    });

    test("parked while it asks, the ask stays open and nothing is left running", async () => {
      if (can.approvals.proof === "absent" || can.approvals.value.waits !== "parked") return;
      const { request, session, follower } = await open(stage.prompts.act("parked", "at last"));
      const ask = await follower.first("ask");
      const token = await session.park();
      await follower.ended;
      expect(faultsIn(follower.events, request, { ended: false })).toEqual([]);
      expect(await stage.left(request.run)).toEqual([]);
      const lastSeq = follower.events.at(-1)!.seq;
      const next = { ...request, attempt: 2, lastSeq };
      const woken = await stage.adapter.reattach(token!, next, await stage.ports(request.run), never);
      const rest = new Follower(woken!, lastSeq);
      expect(await woken!.answer(ask.ask, { kind: "allow" })).toBe("taken");
      await rest.ended;
      await woken!.close();
      expect(stage.marks("parked")).toBe(1);
      expect(rest.all("done")).toMatchObject([{ outcome: "finished" }]);
    });
  });
}
