/** Words for running it, opening its door, and finding out what is wrong. */
import { type Group, whole } from "./word.ts";

export const run: Group = {
  name: "Run",
  nouns: { gateway: "Lares itself", security: "who can get in", debug: "for tests of Lares" },
  words: [
    {
      name: "gateway run",
      about: "start Lares in the foreground",
      flags: [
        { flag: "--port <n>", about: "the port; 0 takes a free one", parse: whole(0, 65_535) },
        { flag: "--bind <addr>", about: "the address to listen on (127.0.0.1)" },
        { flag: "--exposed", about: "says that an address others can reach is meant" },
      ],
      example: "lares gateway run --port 7717",
      exits: "130 after a second Ctrl-C",
      load: async () => (await import("../commands/gateway.ts")).run,
    },
    {
      name: "dashboard",
      about: "a link that signs a browser in, good once",
      example: "lares dashboard",
      load: async () => (await import("../commands/dashboard.ts")).dashboard,
    },
    {
      name: "doctor",
      about: "what is wrong here, and the fix; works when nothing runs",
      example: "lares doctor",
      exits: "1 something is wrong",
      load: async () => (await import("../doctor/doctor.ts")).doctor,
    },
    {
      name: "security audit",
      about: "what is open: address, tokens, files, policy",
      example: "lares security audit",
      exits: "1 something is open that must not be",
      load: async () => (await import("../commands/security.ts")).audit,
    },
    {
      name: "debug crash-points",
      about: "where LARES_CRASH_AT can end the process, and LARES_BLOCK_AT block it",
      example: "lares debug crash-points",
      load: async () => (await import("../commands/debug.ts")).crashPoints,
    },
  ],
};
