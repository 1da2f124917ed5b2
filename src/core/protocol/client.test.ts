import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { AppError, type ClientCall, LiveLine, readHttp, typedClient } from "./client.ts";

const heard: string[] = [];
function newLine() {
  heard.length = 0;
  const line = new LiveLine({
    onOpen: ({ first, restarted }) => heard.push(`open ${first} ${restarted}`),
    onEvent: (event, seq) => heard.push(`${event.event} ${seq}`),
  });
  const sockets: Record<string, unknown>[][] = [];
  const open = () => {
    const sent: Record<string, unknown>[] = [];
    sockets.push(sent);
    line.opened((text) => sent.push(JSON.parse(text) as Record<string, unknown>), { token: "secret" });
  };
  const say = (frame: object) => line.take(JSON.stringify(frame));
  const greet = (boot: string, seq: number) => {
    say({ type: "res", id: "connect", ok: true, payload: { scopes: ["read"], version: "1", boot } });
    say({ type: "event", event: "hello", payload: { boot, seq }, seq });
  };
  return { line, sockets, open, say, greet, client: typedClient(line.send) };
}

it("PROTOCOL-1: what the client loads at run time has no schema in it", () => {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, kind, from] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (.*?)from "([^"]+)";/gms)) {
      if (kind!.startsWith("type ")) continue;
      expect(from, file).toMatch(/^\./);
      visit(join(dirname(file), from!));
    }
  };
  visit(fileURLToPath(new URL("./client.ts", import.meta.url)));
  expect(seen.size).toBeGreaterThan(2);
});

it("PROTOCOL-5: a question waits for the greeting, and is asked again under its key when the connection breaks (PROTOCOL-2)", async () => {
  const { line, sockets, open, say, greet, client } = newLine();
  const answer = client.call("tokens.revoke", { id: "t1" });
  open();
  expect(sockets[0]).toEqual([{ type: "req", id: "connect", method: "connect", params: { token: "secret" } }]);
  greet("a", 5);
  line.lost();
  open();
  greet("a", 5);
  const [first, again] = [sockets[0]![1]!, sockets[1]![1]!];
  expect(first).toMatchObject({ type: "req", method: "tokens.revoke", params: { id: "t1" } });
  expect(first.key).toMatch(/^[0-9a-z]{20}$/);
  expect(again).toEqual(first);
  say({ type: "res", id: again.id, ok: true, payload: { revoked: true } });
  expect(await answer).toEqual({ revoked: true });
});

it("PROTOCOL-4: who comes back names the last number it saw; another process starts over", () => {
  const { line, sockets, open, say, greet } = newLine();
  open();
  greet("a", 5);
  say({ type: "event", event: "turn.started", payload: {}, seq: 7 });
  line.lost();
  open();
  expect(sockets[1]![0]!.params).toEqual({ token: "secret", boot: "a", lastSeq: 7 });
  greet("a", 9);
  say({ type: "event", event: "turn.ended", payload: {}, seq: 8 });
  line.lost();
  open();
  expect(sockets[2]![0]!.params).toMatchObject({ lastSeq: 8 });
  greet("b", 2);
  line.lost();
  open();
  expect(sockets[3]![0]!.params).toMatchObject({ boot: "b", lastSeq: 2 });
  expect(heard).toEqual(["open true false", "turn.started 7", "open false false", "turn.ended 8", "open false true"]);
});

it("a diverted line sends what waits, and what comes, the other way", async () => {
  const { line, client } = newLine();
  const waiting = client.call("health", {});
  const asked: ClientCall[] = [];
  line.divert(async (question) => {
    asked.push(question);
    return { ok: true, payload: question.method };
  });
  expect([await waiting, await client.call("status", {})]).toEqual(["health", "status"]);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(2);
});

it("PROTOCOL-3: failures carry the gateway's code and hint; an unknown method names the other version", async () => {
  const fails = (status: number, text: string) => typedClient(async () => readHttp(status, text)!).call("health", {});
  const shape = { code: "FORBIDDEN", message: "No.", hint: "Ask.", retry: "never", details: { missingScope: "admin" } };
  const error = await fails(403, JSON.stringify({ error: shape })).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).toShape()).toEqual(shape);
  await expect(fails(404, '{"error":{"code":"UNKNOWN_METHOD","message":"x"}}')).rejects.toThrow(/can't do this/);
  await expect(fails(500, "{}")).rejects.toThrow("Lares answered 500.");
  expect(readHttp(200, "<html>")).toBeUndefined();
});
