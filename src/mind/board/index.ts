export { Board, PRIORITIES } from "./board.ts";
export { boardConfig } from "./config.ts";
export { chooseCritic } from "./critic.ts";
export { fileReceipt } from "./receipt.ts";
export { taskRuntime } from "./store.ts";
export { makeBoardToolPort } from "./tool-port.ts";
export { showSummary, showTask } from "./view.ts";
export { BoardWork } from "./work.ts";
