export { type WatchConfig, type Watched, watchConfig } from "./config.ts";
export { describeWatched, type Look, type LookParts, look, type WatchedItem } from "./look.ts";
