/** A list of tools before anybody looked at them. Loaded with the SDK. */
import { z } from "zod";

export const looseList = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

export const loosePrompts = z.looseObject({ prompts: z.array(z.unknown()) });

/** Any result; who asked reads it. */
export const looseResult = z.looseObject({});
