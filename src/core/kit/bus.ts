import type { LiveEvent } from "../domain/events.ts";

/** Live events from the flow to anyone who listens. A listener that throws is dropped. */
export interface Bus {
  emit(event: LiveEvent): void;
  on(listener: (event: LiveEvent) => void): () => void;
}

export function makeBus(): Bus {
  const listeners = new Set<(event: LiveEvent) => void>();
  return {
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch {
          listeners.delete(listener);
        }
      }
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
