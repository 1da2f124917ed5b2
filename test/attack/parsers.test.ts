/**
 * Files and pages made to break their parser (PARSER-1, PARSER-2): small ones that unpack to gigabytes, large ones that keep a processor
 * busy. They may cost their sender an answer, never the gateway.
 */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createDeflate, deflateSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createParsers } from "../../src/edges/parsers/index.ts";
import { startTelegram, type TelegramFake } from "../fakes/telegram/index.ts";
import { EVERY_WAY, type Lares, notRun, startLares, startModel, toolResults, until } from "../support/index.ts";
import { makePdf } from "../support/pdf.ts";
import { parsersOf, readProc } from "../support/processes.ts";
import { watched } from "./watching.ts";

const isLinux = process.platform === "linux";
if (!isLinux) notRun("memory of parsers", "It is read from /proc, which only Linux has.");

/** What the gateway itself may grow by while it has others read a hostile file. */
const MOST_GROWTH_MB = 150;
/** Two parsers at once, each within its own limit (640 MB at most), and the gateway. */
const MOST_TOGETHER_MB = 1500;
/** In each of three conversations. */
const PAGES = EVERY_WAY ? 8 : 3;
/** An attached file has less time; on a slow machine that is over first. */
const REFUSED = /The PDF could not be read: it (needs too much memory|took too long)\./;
const TOO_MUCH = "The PDF could not be read: it needs too much memory.";

let model: Awaited<ReturnType<typeof startModel>>;
let telegram: TelegramFake;
let site: ReturnType<typeof createServer>;
let lares: Lares;
let bombs: Record<"one long string" | "packed twice", Buffer>;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  bombs = { "one long string": longString(90), "packed twice": await packedTwice(700) };
  [model, telegram] = await Promise.all([startModel(), startTelegram()]);
  const page = Buffer.from("<p></p>".repeat(290_000));
  site = createServer((_request, response) => response.writeHead(200, { "content-type": "text/html" }).end(page));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  lares = await startLares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      memory: { embedder: { use: "off" } },
      web: { privateHosts: [`127.0.0.1:${(site.address() as AddressInfo).port}`] },
      channels: {
        telegram: { main: { token: telegram.token, apiUrl: telegram.url, dm: "open", paceMs: 0, live: false } },
      },
    },
  });
  await until("Telegram to be polled", () => telegram.polling());
}, 60_000);

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

afterAll(async () => {
  await lares?.dispose();
  await Promise.all([model?.close(), telegram?.close()]);
  site?.closeAllConnections();
  site?.close();
});

describe.skipIf(!isLinux).each(["one long string", "packed twice"] as const)("a PDF with %s", (kind) => {
  test("read by the agent is refused in one sentence", async () => {
    writeFileSync(join(lares.workspace(), "bomb.pdf"), bombs[kind]);
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : { toolCalls: [{ name: "read", input: { path: "bomb.pdf" } }] },
    );
    const { value, beforeMb, peakMb } = await watched(`read, ${kind}`, lares, () => lares.chat("owner", "go"));
    expect(value.response).toBe("done");
    const asked = model.requests.findLast((request) => request.messages.at(-1)?.role === "tool")!;
    expect(toolResults(asked)[0]).toMatchObject({ isError: true, text: expect.stringContaining(TOO_MUCH) });
    expect(peakMb).toBeLessThan(beforeMb + MOST_GROWTH_MB);
  }, 60_000);

  test("attached over HTTP is named without its text", async () => {
    model.use(() => ({ text: "seen" }));
    const sent = await fetch(`${lares.url}/attachments`, {
      method: "POST",
      headers: { authorization: `Bearer ${lares.token}`, "x-lares-name": "bomb.pdf" },
      body: new Uint8Array(bombs[kind]),
    });
    const { id } = (await sent.json()) as { id: string };
    const { value, beforeMb, peakMb } = await watched(`attached, ${kind}`, lares, () =>
      lares.rpc("chat.send", { message: "look", user: `attached-${kind.length}`, attachments: [id] }),
    );
    expect(value.state).toBe("answered");
    expect(JSON.stringify(model.requests.at(-1)!.messages)).toMatch(REFUSED);
    expect(peakMb).toBeLessThan(beforeMb + MOST_GROWTH_MB);
  }, 60_000);

  test("sent by a stranger is named without its text, and the stranger is answered", async () => {
    model.use(() => ({ text: `seen ${kind}` }));
    const { beforeMb, peakMb } = await watched(`stranger, ${kind}`, lares, async () => {
      telegram.sendFile(666, 666, { name: "bomb.pdf", type: "application/pdf", bytes: bombs[kind], caption: "look" });
      await until("the answer", () => telegram.sent.some(({ text }) => text === `seen ${kind}`), { withinMs: 40_000 });
    });
    expect(JSON.stringify(model.requests.at(-1)!.messages)).toMatch(REFUSED);
    expect(peakMb).toBeLessThan(beforeMb + MOST_GROWTH_MB);
  }, 60_000);
});

test("where the kernel holds no limit, a parser that takes too much memory ends itself", async () => {
  const parsers = createParsers(() => undefined);
  await expect(parsers.pdf(bombs["packed twice"])).rejects.toThrow(TOO_MUCH);
  expect(await parsers.pdf(makePdf("still here"))).toMatchObject({ pages: 1 });
}, 60_000);

test.skipIf(!isLinux)(
  "many pages of 2 MB at once are read two at a time, and the gateway answers all the while",
  async () => {
    const { port } = site.address() as AddressInfo;
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : {
            toolCalls: Array.from({ length: PAGES }, (_, n) => ({
              name: "web_fetch",
              input: { url: `http://127.0.0.1:${port}/${n}` },
            })),
          },
    );
    let mostAtOnce = 0;
    let mostMb = 0;
    const look = setInterval(() => {
      const parsers = parsersOf(lares.pid);
      mostAtOnce = Math.max(mostAtOnce, parsers.length);
      mostMb = Math.max(
        mostMb,
        [lares.pid, ...parsers].map(rssMb).reduce((sum, mb) => sum + mb, 0),
      );
    }, 50);
    closing.push(async () => clearInterval(look));
    const users = ["one", "two", "three"];
    const { value, answers } = await watched(`${3 * PAGES} pages`, lares, () =>
      Promise.all(users.map((user) => lares.chat(`pages-${user}`, "go"))),
    );
    process.stderr.write(
      `  ${3 * PAGES} pages: ${mostAtOnce} parsers at once, ${mostMb} MB together with the gateway\n`,
    );
    expect(value.map(({ response }) => response)).toEqual(["done", "done", "done"]);
    expect(answers).toBeGreaterThan(10);
    // One more for the moment in which a killed one is not yet gone.
    expect(mostAtOnce).toBeLessThanOrEqual(3);
    expect(mostMb).toBeLessThan(MOST_TOGETHER_MB);
  },
  180_000,
);

test.skipIf(!isLinux)(
  "a kill of Lares leaves no parser behind, and a parser has none of its files",
  async () => {
    const own = await startLares({ env: model.env, config: { policy: { mode: "record" } } });
    closing.push(() => own.dispose());
    writeFileSync(join(own.workspace(), "bomb.pdf"), bombs["one long string"]);
    model.use(() => ({ toolCalls: [{ name: "read", input: { path: "bomb.pdf" } }] }));
    void own.chat("owner", "go").catch(() => {});
    const parser = await until("a parser", () => parsersOf(own.pid)[0]);
    const open = readdirSync(`/proc/${parser}/fd`).flatMap((fd) => linkOf(`/proc/${parser}/fd/${fd}`));
    expect(open.filter((path) => path.startsWith(own.home))).toEqual([]);
    expect(readFileSync(`/proc/${parser}/environ`, "utf8")).toBe("");
    await own.kill9();
    await until("the parser to be gone", () => !isAlive(parser));
  },
  60_000,
);

/** A page whose one string is so many megabytes long: the parser puts each character into one array. */
function longString(mb: number): Buffer {
  const text = [Buffer.from("BT /F1 12 Tf ("), Buffer.alloc(mb * 1_048_576, "A"), Buffer.from(") Tj ET")];
  return pdfWith(deflateSync(Buffer.concat(text)), "/FlateDecode");
}

/** So many megabytes of spaces, in a few kilobytes. */
async function packedTwice(mb: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 1 });
  const chunks: Buffer[] = [];
  deflate.on("data", (chunk: Buffer) => chunks.push(chunk));
  const spaces = Buffer.alloc(1_048_576, " ");
  for (let n = 0; n < mb; n++) await new Promise((resolve) => deflate.write(spaces, resolve));
  await new Promise<void>((resolve) => {
    deflate.once("end", resolve);
    deflate.end();
  });
  return pdfWith(deflateSync(Buffer.concat(chunks)), "[/FlateDecode /FlateDecode]");
}

function pdfWith(content: Buffer, filter: string): Buffer {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ].map((object, n) => `${n + 1} 0 obj\n${object}\nendobj\n`);
  const head = `%PDF-1.7\n${objects.join("")}5 0 obj\n<< /Length ${content.length} /Filter ${filter} >>\nstream\n`;
  const starts = [...objects.map((object) => head.indexOf(object)), head.indexOf("5 0 obj\n<< /Length")];
  const tail = "\nendstream\nendobj\n";
  const rows = starts.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const end = head.length + content.length + tail.length;
  const table = `xref\n0 6\n0000000000 65535 f \n${rows}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n${end}\n%%EOF`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from(tail + table)]);
}

function rssMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readProc(`${pid}/status`))?.[1] ?? 0) / 1024);
}

function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readProc(`${pid}/status`));
}

function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return [];
  }
}
