import { inspect } from "node:util";

export const HIDDEN = "«secret»";

/**
 * A value that does not come out by accident: printed, logged, joined to a text, made to JSON or looked at in a debugger it is
 * «secret». The one way to it is `reveal`, which can be searched for.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.toPrimitive](): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
