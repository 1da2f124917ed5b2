/**
 * Paths in the words of a command: `--file=/etc/passwd`, `-o/tmp/x`, `@../notes`, `HEAD:src/a.ts`, `file:///srv/a`. By shape
 * only; whether a program takes the word for a path is not known. One pass, no backtracking.
 */

const SEPARATORS = new Set("=@:,;'\"()[]{}<>|&".split(""));

/** Every piece of the word that could name a file, as it is written. Addresses of other machines are no files. */
export function pathsInWord(word: string): string[] {
  const found = new Set<string>();
  if (word !== "" && !word.startsWith("-") && !hasScheme(word)) found.add(word);
  let from = 0;
  for (let i = 0; i <= word.length; i++) {
    const sign = word[i];
    if (sign !== undefined && !SEPARATORS.has(sign) && !isBlank(sign)) continue;
    if (sign === ":" && isAddress(word, i)) i = endOfAddress(word, i);
    else if (i > from) found.add(bare(word.slice(from, i)));
    from = i + 1;
  }
  return [...found].filter((piece) => piece !== "" && !piece.startsWith("-"));
}

/** Options that are longer have no file glued to them. */
const LONGEST_GLUED = 200;

/** What may be glued to the letters of an option: which of them take a value is not known, so every end of the word counts. */
export function gluedNames(word: string): string[] {
  if (!/^-[^-]/.test(word) || word.length > LONGEST_GLUED) return [];
  return Array.from({ length: word.length - 2 }, (_, i) => word.slice(i + 2));
}

/** Whether the piece says itself that it may lie elsewhere: from the root, from a home, or upwards. */
export function isReaching(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~") || path.split("/").includes("..");
}

/** `-o/tmp/x` and `-I../x` without their option. */
function bare(piece: string): string {
  if (!piece.startsWith("-")) return piece;
  let at = 0;
  while (at < piece.length && /[A-Za-z0-9-]/.test(piece[at]!)) at++;
  const rest = piece.slice(at);
  return /^(\/|~|\.{1,2}(\/|$))/.test(rest) ? rest : piece;
}

/** `scheme://…` from its colon on; `file:` names a file of this machine. */
function isAddress(word: string, colon: number): boolean {
  if (!word.startsWith("://", colon)) return false;
  const scheme = schemeBefore(word, colon);
  return scheme !== "" && scheme !== "file";
}

/** Colons, `=`, `@` and `&` are part of an address; blanks, quotes and lists end it. */
function endOfAddress(word: string, from: number): number {
  let at = from;
  while (at < word.length && !isBlank(word[at]!) && !`,;'"<>|`.includes(word[at]!)) at++;
  return at;
}

function hasScheme(word: string): boolean {
  const at = word.indexOf("://");
  return at > 0 && schemeBefore(word, at) !== "";
}

function schemeBefore(word: string, colon: number): string {
  let at = colon;
  while (at > 0 && /[A-Za-z0-9+.-]/.test(word[at - 1]!)) at--;
  return word.slice(at, colon).toLowerCase();
}

function isBlank(sign: string): boolean {
  return sign === " " || sign === "\t" || sign === "\n" || sign === "\r";
}
