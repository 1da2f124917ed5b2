/** Handlers of `tokens.*`. */
import { AppError } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { Access } from "../../flow/access/index.ts";
import type { Logbook } from "../../ground/observe/index.ts";
import type { Methods } from "./parts.ts";

export interface TokenParts {
  access: Access;
  log: Logbook;
}

export function makeTokenMethods(parts: TokenParts): Methods<"tokens"> {
  const { access } = parts;
  return {
    async "tokens.create"({ name, scopes }, caller) {
      const made = await access.createToken(caller.principal, { name, scopes });
      // The token is shown once, here. From now on no log line can contain it.
      parts.log.redactor.addSecret(made.token);
      return made;
    },
    async "tokens.list"(_p, caller) {
      const { tokens, logins } = access.list();
      return {
        tokens: tokens.map((t) => ({
          id: t.id,
          name: t.name,
          scopes: t.scopes,
          createdAt: t.madeAt,
          createdBy: t.madeBy,
          ...defined({ lastUsedAt: t.usedAt }),
        })),
        logins: logins.map((l) => ({
          id: l.id,
          name: l.name,
          browser: l.agent,
          scopes: l.scopes,
          createdAt: l.madeAt,
          lastUsedAt: l.usedAt,
          expiresAt: l.expiresAt,
          // So that a page can mark, and not accidentally revoke, its own login.
          current: caller.principal.credential === l.id,
        })),
      };
    },
    async "tokens.revoke"({ id }) {
      if (await access.revoke(id)) return { id, revoked: true };
      throw new AppError("NOT_FOUND", { message: `There is no token or login "${id}".`, hint: "See tokens.list." });
    },
  };
}
