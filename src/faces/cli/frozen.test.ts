/** A gateway that is stopped still accepts connections: every command gives up on it with a sentence. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ManualClock } from "../../core/kit/index.ts";
import { cli, NOW } from "./testing.ts";
import { COMMANDS } from "./words/table/index.ts";

/** What stays on purpose. */
const EXEMPT: Readonly<Record<string, string>> = {
  logs: "its example follows the log: with a silent gateway it goes on with the file until Ctrl-C",
};

/** What a system does in the place of a stopped process: it takes connections, and nothing more happens. */
async function frozen() {
  const home = mkdtempSync(join(tmpdir(), "lares-frozen-"));
  let asked = 0;
  const server = createServer(() => void asked++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(home, "gateway.json"), JSON.stringify({ pid: 1, url: `http://127.0.0.1:${port}`, port }));
  for (const name of ["talk.jsonl", "memory.jsonl"]) writeFileSync(join(home, name), '{"text":"x"}\n');
  writeFileSync(join(home, "cook.md"), "You cook.\n");
  return {
    home,
    asked: () => asked,
    close() {
      server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** An example as a shell reads it, with files of the home. */
function argvOf(example: string, home: string): string[] {
  const plain = example.replace(/ [<>] .*$/, "").replace(/^lares /, "");
  return [...plain.matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, bare]) => quoted ?? bare ?? "")
    .map((word) => (/^\w+\.(jsonl|md)$/.test(word) ? join(home, word) : word));
}

it.each(COMMANDS.filter(({ name }) => !Object.hasOwn(EXEMPT, name)).map(({ name, example }) => [name, example]))(
  "lares %s ends",
  async (_name, example) => {
    const at = await frozen();
    const clock = new ManualClock(NOW);
    try {
      const ran = cli([...argvOf(example, at.home), "--yes"], { home: at.home, clock, input: "value\n" });
      let code: number | undefined;
      void ran.code.then((ended) => {
        code = ended;
      });
      // Deadlines pass as soon as somebody waits for them.
      for (let n = 0; code === undefined && n < 4000; n++) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (at.asked() > 0) clock.advance(1000);
      }
      expect(code, `${example} still waits`).not.toBeUndefined();
      const text = ran.out() + ran.err();
      if (at.asked() === 0) return;
      expect(text).toMatch(/doesn't answer|didn't answer/);
      // These say what they can see without it.
      if (!/^lares (doctor|logs|config check)/.test(example)) expect(code).toBe(3);
    } finally {
      at.close();
    }
  },
  20_000,
);

it("an answer that takes long is waited for while Lares shows that it is alive", async () => {
  const { fakeGateway } = await import("./testing.ts");
  let release = () => {};
  const gateway = await fakeGateway({
    "memory.condense": () =>
      new Promise((resolve) => {
        release = () => resolve({});
      }),
  });
  const clock = new ManualClock(NOW);
  try {
    const ran = cli(["memory", "condense"], { home: gateway.home, clock });
    for (let n = 0; n < 60; n++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      clock.advance(1000);
    }
    release();
    expect(await ran.code).toBe(0);
    expect(ran.out()).toContain("Nothing to condense");
  } finally {
    await gateway.close();
  }
});
