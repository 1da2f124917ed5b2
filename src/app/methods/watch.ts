/** Handlers of `watch.*`. */
import { AppError } from "../../core/domain/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeWatchMethods({ instance }: Asks<"watchers">): Methods<"watch"> {
  return {
    async "watch.resume"({ name }) {
      // False means a wrong name: a watch that isn't paused can be resumed, too.
      if (await instance().watchers.resume(name)) return { name };
      throw new AppError("NOT_FOUND", { message: `Nothing named "${name}" is watched.`, hint: "See: lares wakes" });
    },
  };
}
