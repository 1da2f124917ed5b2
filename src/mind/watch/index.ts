export { Watchers } from "./watchers.ts";
