export { isInterrupted, type Pending, taken } from "./take.ts";
