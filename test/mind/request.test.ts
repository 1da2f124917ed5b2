/** What `lares context --request` shows is what is sent next: the same bytes, on every wire protocol. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROTOCOLS, type Rig, sessionOf, startRig } from "./rig.ts";

const session = sessionOf("ana");

describe.each(PROTOCOLS)("over %s", (protocol) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ protocol, files: { "agents/main/USER.md": "Ana likes short answers." } });
    await rig.rpc("memory.add", { text: "The boiler was serviced in May 2026" });
    await rig.chat("ana", 'look tool:list {"path":"."} tool:search {"pattern":"x"} then: say:Done.');
  });
  afterAll(() => rig?.stop());

  it("the next message makes the request that was shown, byte for byte", async () => {
    const shown = await rig.rpc("context.request", { session, text: "[13:00] and now?\n[13:09] I am the owner" });
    const before = rig.model.requests.length;
    await rig.chat("ana", "[13:00] and now?\n[13:09] I am the owner");
    expect(rig.model.requests).toHaveLength(before + 1);
    expect(rig.last().raw).toBe(shown.body);
    expect(Buffer.byteLength(shown.body)).toBe(shown.bytes);
    expect(shown).toMatchObject({
      api: protocol,
      full: false,
      cache: protocol === "anthropic" ? "marks" : "automatic",
    });
  });

  it("so does a message after an hour, a restart and a tool call, and showing it changed nothing", async () => {
    rig.clock.advance(4 * 3_600_000);
    await rig.restart();
    const text = 'again tool:list {"path":"."} then: say:Done again.';
    const shown = await rig.rpc("context.request", { session, text });
    expect(await rig.rpc("context.request", { session, text })).toEqual(shown);
    const before = rig.model.requests.length;
    await rig.chat("ana", text);
    expect(rig.model.requests[before]!.raw).toBe(shown.body);
    expect(shown.parts.find((part) => part.kind === "envelope" && !part.sent)?.text).toMatch(/4 h later\]$/);
  });

  it("the parts are the request's own: tools, instructions by heading, envelopes, words, calls and results", async () => {
    const shown = await rig.rpc("context.request", { session, text: "what now?" });
    await rig.chat("ana", "what now?");
    const { system, tools, messages } = rig.last();
    const of = (kind: string) => shown.parts.filter((part) => part.kind === kind);
    expect(of("tool").map(({ name }) => name)).toEqual(tools);
    expect(
      of("instructions")
        .map(({ text }) => text)
        .join(""),
    ).toBe(system);
    expect(of("instructions").map(({ name }) => name)).toContain("Place");
    for (const { text } of of("instructions")) expect(text.trim()).not.toBe("");
    const sent = messages.flatMap((message) =>
      message.parts.map((part) => ("text" in part ? part.text : JSON.stringify("input" in part ? part.input : ""))),
    );
    const told = shown.parts.filter(({ message }) => message !== undefined);
    expect(told.map(({ text }) => text)).toEqual(sent);
    expect(new Set(told.map(({ kind }) => kind))).toEqual(new Set(["envelope", "text", "answer", "call", "result"]));
    expect(
      of("result")
        .map(({ name }) => name)
        .slice(0, 2),
    ).toEqual(["list", "search"]);
  });

  it("each tool is shown as it stands in the body, with the protocol's own field names", async () => {
    const shown = await rig.rpc("context.request", { session, text: "and the tools?" });
    await rig.chat("ana", "and the tools?");
    const { raw, body } = rig.last();
    const tools = shown.parts.filter(({ kind }) => kind === "tool");
    const sent = (body.tools as object[]).flatMap((one) =>
      "functionDeclarations" in one ? (one.functionDeclarations as object[]) : [one],
    );
    expect(tools.map(({ text }) => JSON.parse(text))).toEqual(sent);
    for (const { text } of tools) expect(raw).toContain(text);
    const field = protocol === "anthropic" ? "input_schema" : "parameters";
    expect(tools.find(({ name }) => name === "read")!.text).toContain(`"${field}":{`);
  });

  it("says which parts were in the last request and where the provider's cache reaches", async () => {
    const before = rig.last();
    const { parts } = await rig.rpc("context.request", { session, text: "and then?" });
    await rig.chat("ana", "and then?");
    // What was sent before is the beginning of what is sent now: its texts are all in the last request, the rest is not.
    const old = parts.filter((part) => part.sent);
    const wire = JSON.stringify([before.system, before.messages]);
    for (const part of old) if (part.kind !== "tool") expect(wire).toContain(JSON.stringify(part.text).slice(1, -1));
    expect(parts.filter((part) => !part.sent).map(({ kind }) => kind)).toEqual(["answer", "envelope", "text"]);
    expect(old.every((part) => part.kept)).toBe(true);
    const marks = parts.filter((part) => part.mark);
    expect(marks).toHaveLength(rig.last().cacheMarks > 1 ? rig.last().cacheMarks : 0);
    expect(parts.every((part) => part.tokens > 0)).toBe(true);
  });
});
