/** `1 file`, `3 files`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** What a list is and how much of it is shown. `total`: how many there are; undefined where only is known that there are more. */
export function listed(sentence: string, shown: number, total: number | undefined, which = "newest"): string {
  if (total === undefined) return `${sentence}; showing the ${which} ${shown}.`;
  return shown < total ? `${sentence}; showing the ${which} ${shown} of ${total}.` : `${sentence}.`;
}
