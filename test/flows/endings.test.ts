/** Turns that end without an ordinary answer: the last word at a cap, empty replies, quiet jobs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOf } from "../fakes/model-server/index.ts";
import { type Lares, requestsWith, startLares, startModel, toolResults, until, userTexts } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: { policy: { mode: "record" }, limits: { modelCalls: 3 } } });
}, 30_000);
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const LOOK = 'tool:list {"path":"."}';
const lastLine = (text: string) => userTexts(requestsWith(model, text).at(-1)!).at(-1);

describe("at the cap of model calls", () => {
  it("the model is asked once more, to say where it stands, and that is the answer", async () => {
    const looks = Array(3).fill(LOOK).join(" then: ");
    const end = await lares.chat("cap", `#cap ${looks} then: say:half of it is done`);
    expect(end).toMatchObject({ state: "answered", response: "half of it is done" });
    expect(end.notices).toEqual(["The turn reached its limit of 3 model calls."]);
    expect(requestsWith(model, "#cap")).toHaveLength(4);
    expect(lastLine("#cap")).toMatch(/^\[The turn reached its limit of 3 model calls\. Answer now, without tools: /);
    // The next message reads a whole history without that line.
    await lares.chat("cap", "say:going on");
    expect(JSON.stringify(requestsWith(model, "#cap").at(-1)!.messages)).not.toContain("Answer now");
  });

  it("a model that goes on calling tools gets nothing more run, and the turn fails with the reason", async () => {
    const looks = Array(5).fill(LOOK).join(" then: ");
    const end = await lares.chat("stubborn", `#stubborn ${looks} then: say:never`);
    expect(end).toMatchObject({ state: "failed", reason: "The turn reached its limit of 3 model calls." });
    expect(requestsWith(model, "#stubborn")).toHaveLength(4);
    await lares.chat("stubborn", "say:next");
    expect(toolResults(requestsWith(model, "#stubborn").at(-1)!).at(-1)).toEqual({
      text: "Not run: The turn reached its limit of 3 model calls.",
      isError: true,
    });
  });
});

describe("an empty reply", () => {
  it("is asked for once more, with a line that says so", async () => {
    // A model that speaks when it hears that it returned nothing.
    const shy = await startModel();
    shy.use(async (request) => {
      const last = textOf(request.messages.at(-1)!);
      return { text: last.startsWith("[Your last reply was empty.") ? "there you are" : "" };
    });
    const other = await startLares({ env: shy.env });
    try {
      const end = await other.chat("shy", "are you there?");
      expect(end).toMatchObject({ state: "answered", response: "there you are" });
      expect(shy.requests).toHaveLength(2);
      // The line is not in the history.
      await other.chat("shy", "still?");
      expect(JSON.stringify(shy.requests[2]!.messages)).not.toContain("reply was empty");
    } finally {
      await other.dispose();
      await shy.close();
    }
  }, 30_000);

  it("twice in a row ends with a sentence for the person", async () => {
    const end = await lares.chat("mute", "#mute delay:1 empty");
    expect(end.state).toBe("failed");
    expect(end.reason).toMatch(
      / gave an empty answer twice\. Send the message again, or choose another model with \/model\.$/,
    );
    expect(requestsWith(model, "#mute")).toHaveLength(2);
  });
});

describe("a quiet job", () => {
  const run = async (name: string, prompt: string, more: object = {}) => {
    await lares.rpc("schedule.add", { name, prompt, in: "1 second", ...more });
    return until(`the run of ${name}`, async () => {
      const { slots } = await lares.rpc("schedule.history", { id: name });
      const slot = slots.find((one) => one.state === "done" || one.state === "failed");
      return slot && { slot, turn: await lares.rpc("turns.get", { turn: slot.turn! }) };
    });
  };

  it("that looked and found nothing ends silent; before it looked that is refused with what to do", async () => {
    const prompt = `#quiet tool:nothing_to_report {} then: ${LOOK} then: tool:nothing_to_report {"reason":"all well"}`;
    const { slot, turn } = await run("quiet", prompt, { quiet: true });
    expect(slot.state).toBe("done");
    expect(turn).toMatchObject({ state: "silent", response: "", deliveries: [] });
    const requests = requestsWith(model, "#quiet");
    expect(requests[0]!.tools).toContain("nothing_to_report");
    expect(requests[0]!.system).toContain("`nothing_to_report`");
    expect(toolResults(requests[1]!)).toEqual([{ text: expect.stringMatching(/^Not accepted yet: /), isError: true }]);
    // Every call in the history has its result.
    const { messages } = await lares.rpc("chat.history", { session: turn.session });
    const parts = messages.flatMap((m) => m.content);
    const count = (type: string) => parts.filter((part) => part.type === type).length;
    expect(count("tool-result")).toBe(count("tool-call"));
  });

  it("is refused when called together with work, which is still done", async () => {
    const prompt = `#both ${LOOK} tool:nothing_to_report {} then: say:then I write`;
    const { turn } = await run("both", prompt, { quiet: true });
    expect(turn).toMatchObject({ state: "answered", response: "then I write" });
    const results = toolResults(requestsWith(model, "#both").at(-1)!);
    expect(results.map(({ isError }) => isError)).toEqual([false, true]);
    expect(results[1]!.text).toContain("call it alone");
  });

  it("is asked for: other jobs are not offered it, and a call of it is a name like any other", async () => {
    const { turn } = await run("loud", `#loud ${LOOK} then: tool:nothing_to_report {} then: say:all clear`);
    expect(turn).toMatchObject({ state: "answered", response: "all clear" });
    expect(requestsWith(model, "#loud")[0]!.tools).not.toContain("nothing_to_report");
    expect(toolResults(requestsWith(model, "#loud").at(-1)!).at(-1)!.text).toMatch(
      /^There is no tool "nothing_to_report"/,
    );
  });
});
