import { defined } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { hasPrlimit } from "../../edges/tools/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { Access } from "../../flow/access/index.ts";
import { COMMANDS } from "../../flow/commands/index.ts";
import { type AuditParts, audit, type Logbook } from "../../ground/observe/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, MethodParts } from "./parts.ts";

type Methods = Pick<Handlers, "logs.tail" | "commands.list" | "security.audit">;

export interface ProgramParts extends Asks<"sandbox">, Pick<MethodParts, "home"> {
  access: Access;
  settings: LaresSettings;
  log: Logbook;
  auditing: () => Pick<AuditParts, "bind" | "token">;
}

export function makeProgramMethods(parts: ProgramParts): Methods {
  const { access, settings } = parts;
  return {
    "logs.tail": async (p) => ({ lines: parts.log.tail(defined(p)) as Result<"logs.tail">["lines"] }),
    "commands.list": async () => ({
      commands: Object.entries(COMMANDS).map(([name, { usage, doc }]) => ({ name, usage, doc })),
    }),
    "security.audit": async () =>
      audit({
        home: parts.home,
        config: settings.view,
        tokens: access.list().tokens,
        sandbox: await parts.instance().sandbox.state(),
        hasPrlimit,
        ...parts.auditing(),
      }),
  };
}
