/** States, times and prices in words. */
import { plural } from "./plural.ts";

export const figureWords = {
  states: {
    queued: "queued",
    running: "running",
    parked: "waiting for you",
    answered: "answered",
    declined: "declined",
    failed: "failed",
    stopped: "stopped",
    joined: "joined another turn",
    silent: "no reply",
    attention: "needs attention",
  },
  justNow: "just now",
  ago: (time: string) => `${time} ago`,
  priceUnknown: "price unknown",
  partlyKnown: (known: string, n: number) => `${known}, unknown for ${plural(n, "call")}`,
};
