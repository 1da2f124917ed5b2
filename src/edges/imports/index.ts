/** Moving in from another system: its folder is read, and what is in it is taken or proposed. */
export type { ImportPorts } from "./ports.ts";
export { acceptProposal, listProposals, rejectProposal } from "./proposals.ts";
export { runImport } from "./take/take.ts";
