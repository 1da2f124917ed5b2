import { z } from "zod";
import { acknowledgeShape, adapter, talkShape } from "../account.ts";

const account = z
  .strictObject({
    url: z
      .url()
      .default("http://127.0.0.1:8080")
      .describe("Where signal-cli listens: signal-cli -a NUMBER daemon --http --receive-mode=on-connection."),
    number: z
      .string()
      .regex(/^\+\d{6,15}$/, "a number such as +15551234567")
      .describe("The number signal-cli is registered with."),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One Signal number, behind a signal-cli daemon on this machine.");

export type SignalAccount = z.output<typeof account>;

export const signal = adapter<SignalAccount>({
  name: "signal",
  title: "Signal",
  config: account as z.ZodType<SignalAccount>,
  secrets: [],
  asks: [
    {
      field: "url",
      what: "Where signal-cli listens (signal-cli -a NUMBER daemon --http --receive-mode=on-connection)",
    },
    { field: "number", what: "The number signal-cli is registered with, such as +15551234567" },
  ],
  can: () => ({
    dialect: "signal",
    limit: 2000,
    unit: "utf16",
    // `send` takes no key: the same call twice is two messages.
    dedupes: false,
    buttons: 0,
    files: 50_000_000,
    hears: ["groups", "files", "edits", "reactions", "deletions"],
    does: ["react", "typing"],
    pace: { chatMs: 300, accountMs: 100 },
    // Signal allows only a few edits of one message, so answers don't appear while they are written.
    silenceMs: 90_000,
  }),
  load: async () => await import("./signal.ts"),
});
