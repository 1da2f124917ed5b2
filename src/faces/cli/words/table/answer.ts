/** Commands for what waits for a person, and for what would. */
import { type Group, limit } from "./entry.ts";

const approvals = () => import("../../commands/approvals.ts");
const reason = { flag: "--reason <text>", about: "a reason the agent sees" };

export const answer: Group = {
  name: "Answer",
  nouns: { approvals: "actions waiting for a yes or no", policy: "what is allowed, asks first or is denied" },
  commands: [
    {
      name: "approvals list",
      about: "list waiting approvals, newest last",
      flags: [
        { flag: "--all", about: "include answered ones" },
        { flag: "--session <s>", about: "only this conversation" },
        limit(1000),
      ],
      example: "lares approvals list",
      load: async () => (await approvals()).list,
    },
    {
      name: "approvals get",
      takes: "<id>",
      about: "show one approval in full",
      example: "lares approvals get abc123",
      load: async () => (await approvals()).get,
    },
    {
      name: "approvals resolve",
      takes: "<id> <decision>",
      about: "answer an approval: allow-once, allow-always or deny",
      flags: [reason],
      example: "lares approvals resolve abc123 allow-once",
      load: async () => (await approvals()).resolve,
    },
    {
      name: "approve",
      takes: "<id>",
      about: "allow an action once",
      flags: [{ flag: "--always", about: "and don't ask again about the same action" }, reason],
      example: "lares approve abc123",
      load: async () => (await approvals()).approve,
    },
    {
      name: "answer",
      takes: "<id> <text>",
      about: "answer a question that a program asks",
      example: 'lares answer abc123 "city: Rome; days: 3"',
      load: async () => (await approvals()).answer,
    },
    {
      name: "deny",
      takes: "<id>",
      about: "deny an action",
      flags: [reason],
      example: 'lares deny abc123 --reason "not today"',
      load: async () => (await approvals()).deny,
    },
    {
      name: "undo",
      takes: "[turn]",
      about: "restore the files a turn changed; without a turn, list turns that changed files",
      flags: [
        { flag: "--dry-run", about: "only show what would happen" },
        { flag: "--session <s>", about: "only this conversation" },
        limit(200),
      ],
      example: "lares undo t_01hxyz",
      exits: "1 some files could not be restored, 7 you answered no",
      load: async () => (await import("../../commands/undo.ts")).undo,
    },
    {
      name: "policy explain",
      takes: "<command>",
      about: "say whether a command would run, ask first or be denied, without running it",
      flags: [{ flag: "--agent <a>", about: "use this agent's policy" }],
      example: 'lares policy explain "rm -rf build"',
      load: async () => (await import("../../commands/policy.ts")).explain,
    },
    {
      name: "policy rules",
      about: 'list the rules saved by "always allow", and how often each was used',
      flags: [{ flag: "--agent <a>", about: "only this agent" }],
      example: "lares policy rules",
      load: async () => (await import("../../commands/policy.ts")).rules,
    },
    {
      name: "policy forget",
      takes: "<id>",
      about: "remove one of these rules, so that Lares asks again",
      flags: [{ flag: "--agent <a>", about: "only this agent" }],
      example: "lares policy forget 3f9c1a",
      load: async () => (await import("../../commands/policy.ts")).forget,
    },
  ],
};
