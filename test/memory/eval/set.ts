/** The format of a retrieval evaluation, as docs/MEMORY.md describes it. */
import { z } from "zod";

const message = z.object({ id: z.string(), speaker: z.string(), text: z.string(), at: z.string() });
const question = z.object({ question: z.string(), evidence: z.array(z.string()).min(1), kind: z.string() });
const conversation = z.object({
  id: z.string(),
  /** Conversations of one part are counted together. */
  part: z.string().optional(),
  messages: z.array(message),
  questions: z.array(question),
});
export const evalSet = z.object({ name: z.string(), conversations: z.array(conversation) });

export type Message = z.output<typeof message>;
export type Question = z.output<typeof question>;
export type Conversation = z.output<typeof conversation>;
export type EvalSet = z.output<typeof evalSet>;
