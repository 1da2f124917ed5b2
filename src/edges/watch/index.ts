export { type Watched, watchConfig } from "./config.ts";
export { describeWatched, type Look, type LookParts, look } from "./look.ts";
