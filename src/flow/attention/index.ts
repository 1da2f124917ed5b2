export { type AttentionParts, countAttention, dismissAll, dismissAttention, listAttention } from "./attention.ts";
