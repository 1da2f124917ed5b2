export { Replays } from "./replays.ts";
