/** What a method is: what it takes and gives, the right it needs, and one line of documentation. */
import { z } from "zod";
import type { Scope } from "./principal.ts";
import { idempotencyKey } from "./shapes.ts";

export interface Method<In extends z.ZodType = z.ZodType, Out extends z.ZodType = z.ZodType> {
  in: In;
  out: Out;
  /** The right a caller needs. Checked before the parameters, so that a caller without it learns nothing about them. */
  scope: Scope;
  /** True when it changes something: such methods take an `idempotencyKey`. */
  mutates: boolean;
  /** One or two sentences, printed in docs/PROTOCOL.md. */
  doc: string;
}

/** Returns what it is given; it exists so that the type of each schema is kept exactly. */
export function method<In extends z.ZodType, Out extends z.ZodType>(m: Method<In, Out>): Method<In, Out> {
  return m;
}

/** Strict, like all inputs: a misspelt field is an error and not silently ignored. */
export const nothing = z.strictObject({});
export const withIdempotencyKey = { idempotencyKey: idempotencyKey.optional() };
