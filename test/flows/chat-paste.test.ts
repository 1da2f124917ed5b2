/** A long text pasted into `lares chat`, on a real terminal: sent whole, with work that grows with the text and not with its square. */
import { expect, it } from "vitest";
import { notRun, PROGRAM, startLares, until } from "../support/index.ts";

const TEXT = `say:ok ${"many words ".repeat(10_000)}`.trim();

const pty = await import("@lydell/node-pty").catch(() => undefined);
if (!pty) notRun("pasting on a terminal", "Install it with: npm install @lydell/node-pty");

it.skipIf(!pty).each([
  ["with brackets around it", `\u001b[200~${TEXT}\u001b[201~`],
  ["by a terminal without brackets", TEXT],
])(
  "100 kB pasted %s arrive whole",
  async (_how, keys) => {
    const lares = await startLares();
    const term = pty!.spawn(process.execPath, [PROGRAM, "chat", "--home", lares.home, "--token", lares.token], {
      cols: 80,
      rows: 24,
      env: { ...process.env, NO_COLOR: "1" } as Record<string, string>,
    });
    let shown = "";
    term.onData((part) => {
      shown += part;
    });
    try {
      await until("the prompt", () => shown.includes("Enter sends"));
      const before = shown.length;
      term.write(keys);
      await until("the end of the text on the input line", () => shown.slice(-4000).includes("words"), {
        withinMs: 30_000,
      });
      // Work counted: a row drawn for every character was some 20 MB.
      expect(shown.length - before).toBeLessThan(2_000_000);
      term.write("\r");
      const { turns } = await until(
        "the turn",
        async () => {
          const found = await lares.rpc("turns.list", {});
          return found.turns.length > 0 ? found : undefined;
        },
        { withinMs: 30_000 },
      );
      const { messages } = await until(
        "the message",
        async () => {
          const found = await lares.rpc("chat.history", { session: turns[0]!.session });
          return found.messages.length > 0 ? found : undefined;
        },
        { withinMs: 30_000 },
      );
      expect(JSON.stringify(messages[0]!.content)).toContain(TEXT);
    } finally {
      term.kill("SIGKILL");
      await lares.dispose();
    }
  },
  90_000,
);
