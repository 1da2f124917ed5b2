import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppError, type PolicyMode, readEditorSession } from "../../core/domain/index.ts";
import { EditorSessions, findStart } from "./editor.ts";

function setUp(most: PolicyMode = "record") {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "editor-")));
  const [workspace, root, other] = ["workspace", "project", "other"].map((name) => join(dir, name));
  for (const folder of [workspace!, join(root!, "app"), other!]) mkdirSync(folder, { recursive: true });
  const modes = new Map<string, PolicyMode | null>();
  const chosen = new Map<string, string | null>();
  const known = new Set<string>();
  const ended: string[] = [];
  let policy = most;
  const editor = new EditorSessions({
    ids: { next: () => "ed_1" },
    defaultAgent: () => "main",
    agents: { exists: (agent) => agent === "main", place: () => ({ workspace: workspace! }) },
    roots: () => [root!],
    mode: () => policy,
    sessions: {
      begin: async (session) => void known.add(session),
      async get(session) {
        if (!known.has(session)) throw new AppError("NOT_FOUND", { message: "gone" });
      },
      mode: async (session) => modes.get(session) ?? undefined,
      setMode: async (session, mode) => void modes.set(session, mode),
    },
    models: {
      names: () => ["a/one", "a/two"],
      find: async (session) => ({ model: chosen.get(session) ?? "a/one", chosen: Boolean(chosen.get(session)) }),
      choose: async (session, _, model) => void chosen.set(session, model),
    },
    mcp: { brought: { bring: async () => [], end: async (session) => void ended.push(session) } },
  });
  const open = (folder: string, session?: string) =>
    editor.open({ folder, person: "ann", ...(session ? { session } : {}) });
  return {
    dir,
    workspace: workspace!,
    root: root!,
    other: other!,
    editor,
    open,
    ended,
    forget: () => known.clear(),
    setPolicy: (to: PolicyMode) => (policy = to),
  };
}

describe("a folder", () => {
  test("is one the agent may work in already: its workspace, a root, or inside one of them (EDITOR-1)", async () => {
    const { workspace, root, open } = setUp();
    for (const folder of [workspace, root, join(root, "app")]) {
      const { session } = await open(folder);
      expect(readEditorSession(session)).toEqual({ agent: "main", folder, id: "ed_1" });
    }
  });

  test("anywhere else is refused with what to do, also over a link and by a name that only begins the same (AC-02)", async () => {
    const { dir, root, other, open } = setUp();
    symlinkSync(other, join(root, "link"));
    mkdirSync(`${root}-2`);
    for (const folder of [other, dir, join(root, "link"), `${root}-2`, join(root, "..", "other")])
      await expect(open(folder)).rejects.toMatchObject({ code: "BAD_REQUEST", hint: expect.stringContaining("roots") });
    for (const folder of [join(root, "none"), "project", ""])
      await expect(open(folder)).rejects.toThrow("There is no folder");
  });

  test("stays that of the conversation, and is only used while the agent may work there", async () => {
    const { root, other, workspace, open } = setUp();
    const { session } = await open(root);
    await expect(open(workspace, session)).rejects.toThrow(`This conversation is about ${root}`);
    expect(findStart(session, [workspace, root])).toEqual({ folder: root });
    expect(findStart(session, [workspace, other])).toEqual({});
    expect(findStart("agent:main:main", [root])).toEqual({});
  });

  test("whose name a key can't carry is refused", async () => {
    const { root, open } = setUp();
    const [long, odd] = [join(root, "x".repeat(200), "y".repeat(200), "z".repeat(200)), join(root, "a\u2028b")];
    for (const folder of [long, odd]) {
      mkdirSync(folder, { recursive: true });
      await expect(open(folder)).rejects.toThrow("too long, or has characters");
    }
    const plain = join(root, "a b: 100%#");
    mkdirSync(plain);
    expect(readEditorSession((await open(plain)).session)?.folder).toBe(plain);
  });
});

test("a conversation becomes stricter, never laxer than what the owner configured, also later (AC-02, EDITOR-2)", async () => {
  const { root, editor, open, setPolicy } = setUp("record");
  const { session, mode, modes } = await open(root);
  expect({ mode, modes }).toEqual({ mode: "record", modes: ["ask", "record"] });
  expect(await editor.tune(session, { mode: "ask" })).toMatchObject({ mode: "ask" });
  await expect(editor.tune(session, { mode: "ignore" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await editor.tune(session, { mode: "record" })).toMatchObject({ mode: "record" });
  setPolicy("ask");
  expect(await open(root, session)).toMatchObject({ mode: "ask", modes: ["ask"] });
});

test("a model is one that can be asked; only an editor's conversation has settings", async () => {
  const { root, editor, open } = setUp();
  const { session } = await open(root);
  expect(await editor.tune(session, { model: "a/two" })).toMatchObject({ model: "a/two", chosen: true });
  expect(await editor.tune(session, { model: null })).toMatchObject({ model: "a/one", chosen: false });
  await expect(editor.tune(session, { model: "b/none" })).rejects.toMatchObject({ code: "MODEL_UNKNOWN" });
  await expect(editor.tune("agent:main:main", {})).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("servers of a conversation that is gone end, and are refused", async () => {
  const { root, editor, open, ended, forget } = setUp();
  const { session } = await open(root);
  const ask = { session, holder: "h", servers: [], yes: [] };
  expect(await editor.bring(ask)).toEqual({ servers: [] });
  forget();
  await expect(editor.bring(ask)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(ended).toEqual([session]);
});
