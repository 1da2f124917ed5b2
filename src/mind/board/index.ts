export { Board, PRIORITIES } from "./board.ts";
export { boardConfig } from "./config.ts";
export { showSummary, showTask } from "./view.ts";
