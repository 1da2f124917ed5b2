import { expect, test } from "vitest";
import { Disk } from "./disk.ts";
import { type Op, parseTrace } from "./trace.ts";

const write = (path: string, at: number, text: string): Op => ({ kind: "write", path, at, data: Buffer.from(text) });
const create = (path: string): Op => ({ kind: "create", path, isFolder: false });

/** Every content that the file can have, "–" where it isn't there. */
function found(ops: readonly Op[], path: string): string[] {
  const disk = new Disk();
  for (const op of ops) disk.apply(op);
  const seen = new Set<string>();
  let state = 7;
  const choose = (most: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % (most + 1);
  };
  for (let i = 0; i < 400; i++) {
    const content = disk.cut(choose, (["kept", "lost"] as const)[i] ?? "mixed").get(path);
    seen.add(content instanceof Buffer ? content.toString() : "–");
  }
  return [...seen].sort();
}

test.each<[what: string, ops: Op[], expected: string[]]>([
  ["nothing is sure before a sync", [create("f"), write("f", 0, "a")], ["", "a", "–"]],
  [
    "a sync of the file keeps its content, and not its name",
    [create("f"), write("f", 0, "a"), sync("f", 2)],
    ["a", "–"],
  ],
  ["a sync of the folder keeps the name", [create("f"), write("f", 0, "a"), sync("f", 2), sync("", 3)], ["a"]],
  ["a write after the sync is loose", [...kept("f", "a"), write("f", 0, "b")], ["a", "b"]],
  [
    "a write that returned after the sync began is loose",
    [create("f"), sync("", 1), write("f", 0, "a"), sync("f", 2)],
    ["", "a"],
  ],
  [
    "two writes are lost in any combination",
    [...kept("f", "--"), write("f", 0, "x"), write("f", 1, "y")],
    ["--", "-y", "x-", "xy"],
  ],
  [
    "a size that wasn't synced comes back",
    [...kept("f", "abc"), { kind: "truncate", path: "f", size: 0 }],
    ["", "abc"],
  ],
  [
    "a rename is undone",
    [...kept("f", "old"), ...kept("t", "new"), { kind: "rename", from: "t", to: "f" }],
    ["new", "old"],
  ],
  ["a removal is undone", [...kept("f", "a"), { kind: "remove", path: "f" }], ["a", "–"]],
])("%s (DISK-1, DISK-2)", (_what, ops, expected) => {
  // `since` counts operations of this list.
  const numbered = ops.map((op, i) => (op.kind === "sync" && op.since < 0 ? { ...op, since: i } : op));
  expect(found(numbered, "f")).toEqual([...expected].sort());
});

function sync(path: string, since = -1): Op {
  return { kind: "sync", path, since };
}

function kept(path: string, text: string): Op[] {
  return [create(path), write(path, 0, text), sync(path), sync("")];
}

test("a trace is read by what returned, with calls of other threads in between", () => {
  const hex = (text: string) =>
    [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const [f, t] = [hex("/h/f"), hex("/h/t")];
  const trace = [
    `12 openat(AT_FDCWD</>, "${t}", O_WRONLY|O_CREAT, 0600) = 5<${t}>`,
    `13 pwrite64(5<${t}>, "${hex("ab")}", 2, 0 <unfinished ...>`,
    `12 fdatasync(5<${t}> <unfinished ...>`,
    "13 <... pwrite64 resumed>) = 2",
    "12 <... fdatasync resumed>) = 0",
    `12 rename("${t}", "${f}") = 0`,
    `12 unlink("${hex("/elsewhere")}") = 0`,
    `12 write(7<socket:[1]>, "${hex("told")}", 4) = 4`,
  ];
  expect(parseTrace(trace.join("\n"), "/h")).toEqual([
    { kind: "create", path: "t", isFolder: false },
    { kind: "write", path: "t", at: 0, data: Buffer.from("ab") },
    { kind: "sync", path: "t", since: 1 },
    { kind: "rename", from: "t", to: "f" },
    { kind: "said", text: "told" },
  ]);
});
