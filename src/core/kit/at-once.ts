import { letOthersRun } from "./pause.ts";

/**
 * Many pieces of work, a few at a time. Results keep the order of the items. After a failure nothing new is started.
 *
 * Between two pieces of work the event loop gets its turn: work that never waits for anything real would otherwise run to the
 * end in one go, and nobody else would be answered meanwhile.
 */
export async function atOnce<T, R>(
  most: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let mine = next++; mine < items.length && !failed; mine = next++) {
      if (mine >= most) await letOthersRun();
      try {
        results[mine] = await work(items[mine]!, mine);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

/**
 * A turn for work that holds the event loop for a few milliseconds each time, such as starting a process: those who ask at the
 * same moment go one after another, and others are served in between.
 */
export function inTurn(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(letOthersRun);
    return last;
  };
}
