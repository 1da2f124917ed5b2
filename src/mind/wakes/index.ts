export { listWakes, type Waiting } from "./wakes.ts";
