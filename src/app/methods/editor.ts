/** Handlers of `editor.*`. */
import { defined, truthy } from "../../core/kit/index.ts";
import { makeChatMessage } from "../../flow/inbox/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeEditorMethods(parts: Asks<"editor" | "inbox"> & Pick<MethodParts, "ids">): Methods<"editor"> {
  return {
    "editor.open"({ folder, session, agent }, caller) {
      const person = parts.instance().inbox.findPerson(makeChatMessage({ message: "" }, caller, parts.ids));
      return parts.instance().editor.open({ folder, person, ...truthy({ session, agent }) });
    },
    "editor.tune": ({ session, mode, model }) => parts.instance().editor.tune(session, defined({ mode, model })),
    "editor.servers": ({ yes = [], ...asked }) => parts.instance().editor.bring({ ...asked, yes }),
  };
}
