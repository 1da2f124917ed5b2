/** Commands for running it, opening its door, and finding out what is wrong. */
import { type Group, whole } from "./entry.ts";

export const run: Group = {
  name: "Run",
  nouns: { gateway: "Lares itself", security: "what is exposed", debug: "for testing Lares" },
  commands: [
    {
      name: "gateway run",
      about: "start Lares in the foreground",
      flags: [
        { flag: "--port <n>", about: "the port; 0 picks a free one", parse: whole(0, 65_535) },
        { flag: "--bind <addr>", about: "the address to listen on (127.0.0.1)" },
        { flag: "--exposed", about: "confirm that others may reach this address" },
      ],
      example: "lares gateway run --port 7717",
      exits: "130 after a second Ctrl-C",
      load: async () => (await import("../../commands/gateway.ts")).run,
    },
    {
      name: "dashboard",
      about: "print a one-time link that signs a browser in",
      example: "lares dashboard",
      load: async () => (await import("../../commands/dashboard.ts")).dashboard,
    },
    {
      name: "doctor",
      about: "find problems and how to fix them, even when Lares isn't running",
      example: "lares doctor",
      exits: "1 there is a problem",
      load: async () => (await import("../../doctor/doctor.ts")).doctor,
    },
    {
      name: "security audit",
      about: "check what is exposed: address, tokens, files, policy",
      example: "lares security audit",
      exits: "1 something is exposed that shouldn't be",
      load: async () => (await import("../../commands/security.ts")).audit,
    },
    {
      name: "debug crash-points",
      about: "where LARES_CRASH_AT can end the process, and LARES_BLOCK_AT block it",
      example: "lares debug crash-points",
      load: async () => (await import("../../commands/debug.ts")).crashPoints,
    },
  ],
};
