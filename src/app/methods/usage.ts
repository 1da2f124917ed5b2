/** Handlers of `usage.*`. */
import { summariseUsage } from "../../flow/turns/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeUsageMethods({ clock, instance }: Asks<"records"> & Pick<MethodParts, "clock">): Methods<"usage"> {
  // From the records, not from the models: deleted providers still count.
  return { "usage.summary": (p) => summariseUsage(instance().records.committed, p, clock.now()) };
}
