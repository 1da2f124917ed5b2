/** What an editor may send: lines, messages and prompts of any kind, each bounded and answered. */
import { describe, expect, test } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { LineReader, RpcFailure, RpcPeer } from "../../../core/kit/index.ts";
import { acpWords } from "../words/acp.ts";
import { listOptions, readDecision, showQuestion } from "./permission.ts";
import { readPrompt } from "./prompt.ts";

describe("lines", () => {
  const read = (chunks: readonly Buffer[], most?: number) => {
    const lines: (string | undefined)[] = [];
    const reader = new LineReader((line) => lines.push(line), most);
    for (const chunk of chunks) reader.feed(chunk);
    reader.end();
    return lines;
  };

  test("are whole however they arrive, also in the middle of a character", () => {
    const bytes = Buffer.from("ä€😀\n\nsecond");
    expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(["ä€😀", "", "second"]);
    expect(read([bytes])).toEqual(["ä€😀", "", "second"]);
  });

  test("beyond the limit are reported once and not kept; the next one is read", () => {
    const long = Array.from({ length: 1000 }, () => Buffer.alloc(1000, "x"));
    expect(read([...long, Buffer.from("\nnext\n")], 4096)).toEqual([undefined, "next"]);
  });
});

describe("a message", () => {
  function peer() {
    const said: { id?: unknown; error?: { code: number; message: string }; result?: unknown; method?: string }[] = [];
    const made = new RpcPeer({
      words: acpWords,
      write: (line) => said.push(JSON.parse(line) as (typeof said)[number]),
      requests: {
        echo: async (params) => ({ given: Object.keys(params) }),
        slow: (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(new RpcFailure(-32_800, "Cancelled."))),
          ),
        down: async () => Promise.reject(new AppError("GATEWAY_DOWN", { message: "away" })),
        bug: async () => Promise.reject(new TypeError("oops")),
      },
      notifications: {},
      mayAnswer: () => true,
      explain: (error) => (error instanceof AppError ? new RpcFailure(-32_603, error.message) : undefined),
    });
    return { made, said };
  }

  test.each<[string, number, unknown]>([
    ["{nonsense", -32_700, null],
    [`${"[".repeat(100_000)}`, -32_700, null],
    ["[]", -32_600, null],
    ["42", -32_600, null],
    ['{"id":{},"method":"echo"}', -32_600, null],
    ['{"id":1}', -32_600, null],
    ['{"id":1,"method":"nobody/knows"}', -32_601, 1],
    ['{"id":1,"method":"toString"}', -32_601, 1],
    ['{"id":"a","method":"down"}', -32_603, "a"],
    ['{"id":"a","method":"bug"}', -32_603, "a"],
  ])("%s is answered with %d (JSONRPC-1)", async (line, code, id) => {
    const { made, said } = peer();
    made.take(line.slice(0, 200_000));
    await new Promise(setImmediate);
    expect(said).toMatchObject([{ id, error: { code } }]);
  });

  test("without parameters, or with odd ones, reaches its handler; unknown notifications are silent", async () => {
    const { made, said } = peer();
    for (const params of ["", ',"params":[1]', ',"params":{"a":1}']) made.take(`{"id":1,"method":"echo"${params}}`);
    made.take('{"method":"nobody/knows"}');
    made.take("   ");
    await new Promise(setImmediate);
    expect(said.filter(({ error }) => error)).toHaveLength(2);
    expect(said.filter(({ result }) => result)).toMatchObject([{ result: {} }]);
  });

  test("that was cancelled is answered as cancelled", async () => {
    const { made, said } = peer();
    made.take('{"id":7,"method":"slow"}');
    made.take('{"method":"$/cancel_request","params":{"requestId":7}}');
    made.take('{"method":"$/cancel_request","params":{"requestId":8}}');
    await new Promise(setImmediate);
    expect(said).toMatchObject([{ id: 7, error: { code: -32_800 } }]);
  });

  test("of ours that the client refuses, answers twice, or that is no longer wanted", async () => {
    const { made, said } = peer();
    const own = new AbortController();
    const refused = made.ask("a", {}, own.signal);
    made.take('{"id":0,"error":{"code":-32601,"message":"what?"}}');
    await expect(refused).rejects.toThrow("what?");
    const answered = made.ask("b", {}, own.signal);
    made.take('{"id":1,"result":{"ok":true}}');
    made.take('{"id":1,"result":{"ok":false}}');
    expect(await answered).toEqual({ ok: true });
    const given = made.ask("c", {}, own.signal);
    own.abort();
    await expect(given).rejects.toThrow("Cancelled");
    expect(said.at(-1)).toMatchObject({ method: "$/cancel_request", params: { requestId: 2 } });
  });
});

describe("a prompt", () => {
  const text = (words: string) => ({ type: "text", text: words });

  test("is one message: typed words stay as they are, embedded text becomes a file", () => {
    const { message, files } = readPrompt([
      text("Look at "),
      { type: "resource", resource: { uri: "file:///a/b%20c.ts?x#L1", text: "code" } },
      text(" and "),
      { type: "resource_link", name: "d.ts", uri: "file:///d.ts" },
      { type: "image", data: Buffer.from("png").toString("base64"), mimeType: "image/png" },
      { type: "resource", resource: { uri: "x:empty", text: "" } },
    ]);
    expect(message).toBe("Look at [b c.ts](file:///a/b%20c.ts?x#L1) and [d.ts](file:///d.ts)[x:empty](x:empty)");
    expect(files.map(({ name, bytes }) => [name, String(bytes)])).toEqual([
      ["b c.ts", "code"],
      ["picture.png", "png"],
    ]);
  });

  test.each<[string, unknown, string]>([
    ["none", undefined, "needs"],
    ["an object", {}, "needs"],
    ["an empty one", [], "empty"],
    ["one without words", [text(" \u200b")], "empty"],
    ["one of nothing", [null], "needs"],
    ["one of an unknown kind", [{ type: "hologram" }], "needs"],
    ["audio", [{ type: "audio", data: "", mimeType: "audio/wav" }], "audio"],
    ["a picture that is no base64", [{ type: "image", data: "!!", mimeType: "image/png" }], "base64"],
    ["too many files", Array(9).fill({ type: "image", data: "aGk=", mimeType: "image/png" }), "up to 8"],
    ["a very long one", [text("x".repeat(262_145))], "262,144"],
  ])("refuses %s", (_, blocks, why) => {
    expect(() => readPrompt(blocks)).toThrow(why);
  });
});

describe("a question for permission", () => {
  const approval = {
    id: "ap_1",
    turn: "t",
    session: "s",
    agent: "main",
    tool: "exec",
    shown: "exec: rm x",
    because: "No rule.",
    state: "pending" as const,
    askedAt: 0,
    deadline: 1,
  };

  test("shows exactly what will run, and offers always only where a rule would be saved", () => {
    const shown = showQuestion(approval, undefined, "/srv");
    expect(JSON.stringify(shown.content)).toContain("exec: rm x");
    expect(JSON.stringify(shown.content)).toContain("No rule.");
    expect(shown.toolCallId).toBe("ap_1");
    expect(listOptions({}).map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
    expect(listOptions({ rule: "exec rm x" })).toHaveLength(3);
  });

  test.each<[unknown, string | undefined]>([
    [{ outcome: { outcome: "selected", optionId: "allow-once" } }, "allow-once"],
    [{ outcome: { outcome: "selected", optionId: "deny" } }, "deny"],
    [{ outcome: { outcome: "selected", optionId: "allow-always" } }, undefined],
    [{ outcome: { outcome: "selected", optionId: "everything" } }, undefined],
    [{ outcome: { outcome: "cancelled" } }, undefined],
    [{}, undefined],
    [null, undefined],
  ])("%j is taken for %s: nothing that wasn't offered counts as a yes", (answer, decision) => {
    expect(readDecision(answer, {})).toBe(decision);
  });
});
