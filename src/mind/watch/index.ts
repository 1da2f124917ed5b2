export { type Spotted, type Watch, Watchers, type WatchParts, type WatchView } from "./watchers.ts";
