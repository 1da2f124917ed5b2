/** Other agents that ask this Lares for something (A2A): tasks are turns, contexts are sessions. */
export { a2aConfig } from "./config.ts";
export { countHops, eraseHops } from "./store.ts";
export { PeerTasks } from "./tasks.ts";
