export { type ReplayCall, Replays } from "./replays.ts";
