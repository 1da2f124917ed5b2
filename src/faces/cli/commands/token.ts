/** `lares token`: prints it, and nothing else, so that `$(lares token)` works. */
import { AppError } from "../../../core/domain/index.ts";
import { homeFileProblem } from "../../../ground/config/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { tokenWords as words } from "../words/set-up.ts";

export const token: Action = async ({ ports, home, out }) => {
  const found = await ports.readToken(home);
  if (!found) {
    throw homeFileProblem(home) ?? new AppError("NOT_FOUND", { message: words.noneYet(home), hint: words.noneYetHint });
  }
  out.document({ token: found });
  out.say(found);
  return EXIT.done;
};
