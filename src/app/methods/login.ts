/** Handlers of `login.*`. */
import type { Access } from "../../flow/access/index.ts";
import type { Methods } from "./parts.ts";

export interface LoginMethodParts {
  access: Access;
  /** The link a browser is signed in with. */
  loginUrl: (code: string) => string;
}

export function makeLoginMethods({ access, loginUrl }: LoginMethodParts): Methods<"login"> {
  return {
    async "login.code"(_p, caller) {
      // The code carries the caller's rights. A browser never gets more than the one who made the link.
      const { code, expiresAt } = access.newCode(caller.principal);
      return { code, url: loginUrl(code), expiresAt };
    },
  };
}
