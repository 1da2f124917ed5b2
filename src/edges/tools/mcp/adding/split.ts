/**
 * One line as the words that a shell would make of it: blanks divide, quotes and backslashes hold together. Nothing is run by a
 * shell here, so what only a shell could do is refused and not passed on as text.
 */

export type Split = { words: string[] } | { why: string };

/** Between or before commands, for files, and for what a command prints. */
const OPERATORS = /[&|;<>()`\n]/;
/** `${NAME}` stays: it stands for a secret, and is filled in later. */
const EXPANSION = /^\$[A-Za-z_0-9@*#?!$-]/;
const IN_DOUBLE_QUOTES = '"\\$`';

export function splitCommand(line: string): Split {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!;
    if (quote === "'" ? sign === "'" : sign === '"' && quote === '"') quote = "";
    else if (quote === "'") word += sign;
    else if (sign === "\\") {
      const next = line[at + 1];
      if (next === undefined) return { why: "it ends with a backslash" };
      const isKept = quote === '"' && !IN_DOUBLE_QUOTES.includes(next);
      word = `${word ?? ""}${isKept ? sign : ""}${next}`;
      at++;
    } else if (sign === "`" || line.startsWith("$(", at)) return { why: onlyShell(sign === "`" ? sign : "$(") };
    else if (EXPANSION.test(line.slice(at, at + 2)))
      return { why: `${onlyShell("$")}. For a secret of the vault write \${NAME}` };
    else if (quote === '"') word += sign;
    else if (sign === "'" || sign === '"') {
      quote = sign;
      word ??= "";
    } else if (OPERATORS.test(sign)) return { why: onlyShell(sign === "\n" ? "a line break" : sign) };
    else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ""}${sign}`;
  }
  if (quote !== "") return { why: `a quote (${quote}) in it isn't closed` };
  if (word !== undefined) words.push(word);
  return { words };
}

function onlyShell(sign: string): string {
  return `it has ${sign} in it, which only a shell understands: put it in quotes if it is text, or use bash -c '…'`;
}
