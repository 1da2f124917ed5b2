/** The models behind one object that stays, so that new settings need no new house. A call under way ends with the old ones. */
import type { Models } from "../../core/contracts/index.ts";

export function changingModels(make: () => Models): Models & { renew(): void } {
  let now = make();
  return {
    call: (request, onDelta, signal) => now.call(request, onDelta, signal),
    render: (request) => now.render(request),
    list: () => now.list(),
    primary: () => now.primary(),
    info: (id) => now.info(id),
    warm: () => now.warm(),
    renew() {
      now = make();
      void now.warm();
    },
  };
}
