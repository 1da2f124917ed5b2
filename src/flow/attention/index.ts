export { type AttentionParts, countAttention, dismissAll, dismissAttention, listAttention } from "./attention.ts";
export { makeDoubts } from "./doubts.ts";
