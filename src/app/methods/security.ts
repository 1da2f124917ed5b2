/** Handlers of `security.*`. */
import { hasNetwork, hasPrlimit } from "../../edges/tools/index.ts";
import type { Access } from "../../flow/access/index.ts";
import { type AuditParts, audit } from "../../ground/observe/index.ts";
import type { LaresSettings } from "../config.ts";
import { listKnownNames } from "./config.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export interface SecurityParts extends Asks<"sandbox" | "agents" | "schedules">, Pick<MethodParts, "home"> {
  access: Access;
  settings: LaresSettings;
  /** Read at each call: the address is only known once the gateway listens. */
  auditing: () => Pick<AuditParts, "bind" | "token">;
}

export function makeSecurityMethods(parts: SecurityParts): Methods<"security"> {
  return {
    "security.audit": async () =>
      audit({
        home: parts.home,
        config: parts.settings.view,
        tokens: parts.access.list().tokens,
        sandbox: await parts.instance().sandbox.state(),
        advice: (await parts.settings.check(undefined, await listKnownNames(parts.instance()))).problems,
        hasPrlimit,
        hasNetwork: hasNetwork(parts.settings.view.sandbox),
        ...parts.auditing(),
      }),
  };
}
