/** The words of ContextPanel, beside it: they are loaded with it and not with the first page. */
export const words = {
  used: (tokens: string, window: string, share: number) => `${tokens} of ${window} tokens (${share} %)`,
  counted: "counted by the provider",
  estimated: "estimated",
  parts: {
    instructions: "Instructions",
    tools: "Tools",
    remembered: "Remembered",
    "carried over": "Carried over",
    messages: "Messages",
    new: "New",
  },
  shown: (n: number, older: number) => `${n} messages word for word, ${older} older.`,
  at: (tokens: string) => `Compacted from ${tokens} tokens on.`,
  done: (at: string, n: number, before: string, after: string, how: string) =>
    `${at}: ${n} messages ${how}, ${before} → ${after} tokens.`,
  how: { summary: "summarised", mixed: "summarised in part", extract: "shortened by rules" },
  wasUndone: "Undone.",
  carried: "What is carried over",
  compact: "Compact now",
  undo: "Undo the last",
  undone: (n: number) => `It reads ${n} messages word for word again.`,
  outcome: {
    done: "Done. The messages stay.",
    nothing: "Nothing to compact yet.",
    "going on": "It goes on in the background.",
  },
} as const;
