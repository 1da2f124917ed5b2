/**
 * `type jq` and `command -v jq` only say what a name stands for, as `which` does, but they are part of the shell and no rule can
 * cover them. So they are judged as `which` with the same names.
 */

/** A name, no path: with a slash it would say whether a file is there. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
const OPTIONS: Readonly<Record<string, { options: RegExp; isNeeded: boolean }>> = {
  type: { options: /^-[aptP]+$/, isNeeded: false },
  // Without its option it runs the program.
  command: { options: /^-[vV]$/, isNeeded: true },
};

export function isLookup(name: string): boolean {
  return Object.hasOwn(OPTIONS, name);
}

/** The names it asks about; undefined where it does anything else. */
export function lookedUp(name: string, words: readonly unknown[]): string[] | undefined {
  const { options, isNeeded } = OPTIONS[name]!;
  const [first] = words;
  const hasOption = typeof first === "string" && options.test(first);
  if (isNeeded && !hasOption) return undefined;
  const names = hasOption ? words.slice(1) : words;
  const areNames = names.every((word): word is string => typeof word === "string" && NAME.test(word));
  return areNames && names.length > 0 ? [...names] : undefined;
}
