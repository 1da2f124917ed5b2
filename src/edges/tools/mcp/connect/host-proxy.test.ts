import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openHostProxy } from "./host-proxy.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** What a plugin reads when a host that it was granted answers with these bytes. */
async function ask(bytes: string): Promise<string> {
  const far = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  const { port } = far.address() as AddressInfo;
  const dir = mkdtempSync(join(tmpdir(), "lares-proxy-"));
  const proxy = await openHostProxy(join(dir, "p"), [`127.0.0.1:${port}`], () => false);
  closing.push(
    () => far.close(),
    () => proxy.close(),
    () => rmSync(dir, { recursive: true, force: true }),
  );
  const client = connect(join(proxy.folder, "out"));
  client.on("error", () => {});
  client.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  let text = "";
  for await (const piece of client) text += piece;
  return text;
}

test("a granted host is reached", async () => {
  expect(await ask("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*hi$/);
});

test.each([
  ["a status that can't be passed on", "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n"],
  ["a status below 100", "HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n"],
  ["an answer that breaks off", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhi"],
  ["no answer", "\u0000\u0000"],
])("%s ends this request, and not Lares (PL-09)", async (_what, bytes) => {
  expect(await ask(bytes)).not.toMatch(/^HTTP\/1\.1 0/);
});
