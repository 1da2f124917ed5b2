export { type WatchConfig, type Watched, watchConfig } from "./config.ts";
export { describeWatched, type Item, type Look, type LookParts, look } from "./look.ts";
