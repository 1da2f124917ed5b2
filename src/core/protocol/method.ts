/** What a method is: what it takes and gives, the right it needs, and one line of documentation. */
import { z } from "zod";
import type { Scope } from "./principal.ts";
import { idempotencyKey } from "./shapes.ts";

export interface Method<In extends z.ZodType = z.ZodType, Out extends z.ZodType = z.ZodType> {
  in: In;
  out: Out;
  scope: Scope;
  /** True when it changes something: such methods take an `idempotencyKey`. */
  mutates: boolean;
  doc: string;
}

export function method<In extends z.ZodType, Out extends z.ZodType>(m: Method<In, Out>): Method<In, Out> {
  return m;
}

export const nothing = z.strictObject({});
export const withIdempotencyKey = { idempotencyKey: idempotencyKey.optional() };
