export { forgetLooks } from "./store.ts";
export { Watchers } from "./watchers.ts";
