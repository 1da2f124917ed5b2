/** How many there are in all: a list that isn't full is all of it, and needs no second look. */
export async function countAll(
  found: readonly unknown[],
  limit: number,
  count: () => Promise<number>,
): Promise<number> {
  return found.length < limit ? found.length : count();
}
