/**
 * A value that is not what the type says: it has only what the test needs, or it is wrong on purpose. The one place in the tests where
 * a type is put aside; the type itself comes from where the value goes.
 */
export function pretend<T>(value: unknown): T {
  return value as T;
}
