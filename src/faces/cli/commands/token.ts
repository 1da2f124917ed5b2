/** `lares token`: prints it, and nothing else, so that `$(lares token)` works. */
import { AppError } from "../../../core/domain/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";

export const token: Action = async ({ ports, home, out }) => {
  const found = await ports.readToken(home);
  if (!found) {
    throw new AppError("NOT_FOUND", {
      message: `There is no token in ${home} yet.`,
      hint: "It's created at the first start: lares gateway run",
    });
  }
  out.document({ token: found });
  out.say(found);
  return EXIT.done;
};
