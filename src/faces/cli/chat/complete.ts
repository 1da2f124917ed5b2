/** Tab on a line that begins with a slash: the command that is meant, or those that may be. */
export interface SlashCommand {
  name: string;
  usage: string;
  doc: string;
}

export interface Completed {
  line: string;
  /** What it may become, when that is not clear yet. */
  options: readonly SlashCommand[];
}

/** undefined: there is nothing to complete. */
export function completeSlash(line: string, commands: readonly SlashCommand[]): Completed | undefined {
  const word = /^\/([\w:.-]*)$/.exec(line)?.[1]?.toLowerCase();
  if (word === undefined) return undefined;
  const options = commands.filter(({ name }) => bare(name).toLowerCase().startsWith(word));
  if (options.length === 0) return undefined;
  if (options.length === 1) return { line: `/${bare(options[0]!.name)} `, options: [] };
  const begin = shared(options.map(({ name }) => bare(name)));
  // Names that differ in capitals share less than what was typed.
  return { line: begin.length < word.length ? line : `/${begin}`, options };
}

function bare(name: string): string {
  return name.replace(/^\//, "");
}

/** The beginning that all have. */
function shared(words: readonly string[]): string {
  const [first = ""] = words;
  let length = first.length;
  while (!words.every((word) => word.startsWith(first.slice(0, length)))) length--;
  return first.slice(0, length);
}
