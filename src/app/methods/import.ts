/** Handlers of `import.*`. */
import type { Crash, Guard } from "../../core/kit/index.ts";
import type { ImportPorts } from "../../edges/imports/index.ts";
import { readCopy } from "../../ground/records/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import { ORIGIN_FILE } from "../../mind/skills/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export interface ImportMethodParts
  extends Pick<MethodParts, "home" | "clock">,
    Asks<"agents" | "memory" | "skills" | "sessions" | "schedules"> {
  settings: Pick<LaresSettings, "view" | "change">;
  vault: Pick<Vault, "set">;
  crash: Crash;
  guard: Guard;
}

export function makeImportMethods(parts: ImportMethodParts): Methods<"import"> {
  // Hardly anybody imports: it is loaded when somebody does.
  const imports = () => import("../../edges/imports/index.ts");
  return {
    async "import.run"({ from, dir, dryRun = false, secrets = false }) {
      const { runImport } = await imports();
      return { items: await runImport(importPorts(parts), { from, dir, dryRun, secrets }), dryRun };
    },
    async "import.proposals"() {
      return (await imports()).listProposals(importPorts(parts));
    },
    async "import.accept"({ id, proposed }) {
      return { accepted: await (await imports()).acceptProposal(importPorts(parts), id, proposed) };
    },
    async "import.reject"({ id }) {
      return { rejected: await (await imports()).rejectProposal(importPorts(parts), id) };
    },
  };
}

/** What an import may touch, and nothing else. Each port is a room's own way to add something, with that room's checks. */
function importPorts(parts: ImportMethodParts): ImportPorts {
  const { home, clock, crash, guard, settings, vault } = parts;
  const { agents, memory, skills, sessions, schedules } = parts.instance();
  const accounts = (channel: string) =>
    (settings.view.channels as Readonly<Record<string, object | undefined>>)[channel] ?? {};
  return {
    home,
    clock,
    crash,
    guard,
    agents,
    facts: memory.memory,
    skills: { examine: (dir, name) => skills.examine(dir, name), originFile: ORIGIN_FILE },
    sessions: {
      // A session that isn't there has no messages; the caller needs the number, not the error.
      count: async (session) => (await sessions.get(session).catch(() => undefined))?.messages,
      async add(of, lines) {
        await sessions.import(of, lines);
        // Facts of the past were taken there; here they come with the memory.
        await memory.capture.skip(of.session);
        memory.messages.wake();
      },
      rename: (session, title) => sessions.rename(session, title),
    },
    jobs: {
      list: () => schedules.list(),
      // A time that can't be read must be noticed before anything is written.
      check: (when) => void schedules.preview(when, 1),
      add: (job) => schedules.add(job),
    },
    accounts: {
      has: (channel, account) => Object.hasOwn(accounts(channel), account),
      add: (channel, account, given) => settings.change([[["channels", channel, account], given]]),
    },
    keepSecret: (name, value) => vault.set(name, value),
    readSqlite: (root) => (file, look) => readCopy(root, file, look),
  };
}
