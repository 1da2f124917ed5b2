/** Words for what waits for a person, and for what would. */
import { type Group, limit } from "./word.ts";

const approvals = () => import("../commands/approvals.ts");
const reason = { flag: "--reason <text>", about: "told to the agent" };

export const answer: Group = {
  name: "Answer",
  nouns: { approvals: "what waits for a yes or no", policy: "what is allowed, asked or refused" },
  words: [
    {
      name: "approvals list",
      about: "what waits, the newest last",
      flags: [
        { flag: "--all", about: "answered ones too" },
        { flag: "--session <s>", about: "only this conversation's" },
        limit(1000),
      ],
      example: "lares approvals list",
      load: async () => (await approvals()).list,
    },
    {
      name: "approvals get",
      takes: "<id>",
      about: "one approval in full",
      example: "lares approvals get abc123",
      load: async () => (await approvals()).get,
    },
    {
      name: "approvals resolve",
      takes: "<id> <decision>",
      about: "answer it: allow-once, allow-always or deny",
      flags: [reason],
      example: "lares approvals resolve abc123 allow-once",
      load: async () => (await approvals()).resolve,
    },
    {
      name: "approve",
      takes: "<id>",
      about: "allow it once",
      flags: [{ flag: "--always", about: "and whatever is the same from now on" }, reason],
      example: "lares approve abc123",
      load: async () => (await approvals()).approve,
    },
    {
      name: "deny",
      takes: "<id>",
      about: "refuse it",
      flags: [reason],
      example: 'lares deny abc123 --reason "not today"',
      load: async () => (await approvals()).deny,
    },
    {
      name: "undo",
      takes: "[turn]",
      about: "put back the files a turn changed; without a turn: which did",
      flags: [
        { flag: "--dry-run", about: "only say what would happen" },
        { flag: "--session <s>", about: "only this conversation's" },
        limit(200),
      ],
      example: "lares undo t_01hxyz",
      exits: "1 some files could not be put back, 7 the person said no",
      load: async () => (await import("../commands/undo.ts")).undo,
    },
    {
      name: "policy explain",
      takes: "<command>",
      about: "whether a command would be allowed, asked or refused; nothing runs",
      flags: [{ flag: "--agent <a>", about: "by this agent's policy" }],
      example: 'lares policy explain "rm -rf build"',
      load: async () => (await import("../commands/policy.ts")).explain,
    },
    {
      name: "policy rules",
      about: 'what "always allow" has kept, and how often each was used',
      flags: [{ flag: "--agent <a>", about: "only this agent's" }],
      example: "lares policy rules",
      load: async () => (await import("../commands/policy.ts")).rules,
    },
    {
      name: "policy forget",
      takes: "<id>",
      about: "take back one of them: the next such action asks again",
      flags: [{ flag: "--agent <a>", about: "only among this agent's" }],
      example: "lares policy forget 3f9c1a",
      load: async () => (await import("../commands/policy.ts")).forget,
    },
  ],
};
