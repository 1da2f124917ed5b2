/** What an agent sent, field by field: nothing about it is known beforehand. */
import { isObject } from "../../../core/domain/index.ts";

export type AcpFields = Readonly<Record<string, unknown>>;

/** No fields for what isn't an object. */
export function asFields(value: unknown): AcpFields {
  return isObject(value) ? value : {};
}
