/**
 * SQL that only SQLite takes. The records of a fleet are in PostgreSQL, from the same text: `ground/records/postgres/dialect.ts` has the
 * rules, `functions.ts` there the functions of SQLite that PostgreSQL is taught. What can't be one text is two texts side by side in
 * an object `{ sqlite, postgres }`, chosen by the `dialect` of the port; those aren't looked at here.
 */
import { sqlTextsIn } from "./sql.ts";
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

const UNKNOWN_THERE =
  "group_concat|strftime|datetime|julianday|unixepoch|ifnull|iif|total|typeof|printf|hex|quote|randomblob|changes|last_insert_rowid";

/** What is found, and what to write instead. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\bINSERT OR \w+|\bREPLACE INTO\b/i, "use ON CONFLICT (…) DO …"],
  [/\bIS (NOT )?\?/i, "use IS [NOT] DISTINCT FROM ?"],
  [/\bIS (NOT )?(?!NULL\b|NOT\b|DISTINCT\b|TRUE\b|FALSE\b)\w/i, "use IS [NOT] DISTINCT FROM"],
  [/\? IS (NOT )?NULL\b/i, "a parameter alone has no type: leave the condition out instead"],
  [new RegExp(`\\b(?:${UNKNOWN_THERE})\\(`, "i"), "compute it in the caller, or return rows"],
  [/\bsubstr\([^,()]+,\s*-/i, "count from the start: substr(x, length(x) - n)"],
  [/\b(GLOB|MATCH|REGEXP)\b/i, "only SQLite has it: two texts, { sqlite, postgres }"],
  // The word indexes have a column of this name on both.
  [/^(?![\s\S]*_fts\b)[\s\S]*?\browid\b/i, "a table has no row ids there: use its key"],
  [/->>?/, "use json_extract"],
  [/\bAS INTEGER\b/i, "write CAST(… AS BIGINT): an INTEGER there has 32 bits"],
  [/\bCOLLATE\b/i, "text is compared by its bytes on both"],
  [/\bWHERE [01]\b(?! *[=<>])/i, "a number is no condition there: write 1 = 1"],
  [/\bDO UPDATE SET\b.*?\b(\w+) = (?:\w+\()?\1\b/is, "name the table: table.column"],
];

export function unportable(path: string, source: string): string[] {
  const tree = parse(source);
  const apart = textsPerDialect(tree);
  return sqlTextsIn(tree)
    .filter(({ at }) => !apart.some(({ start, end }) => start <= at && at < end))
    .flatMap(({ at, text }) =>
      objections(text).map((why) => `src/${path}:${lineOf(source, at)} has SQL that PostgreSQL doesn't take: ${why}`),
    );
}

function textsPerDialect(tree: Ast): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  visit(tree, (node) => {
    const { key, value } = node as Ast & { key?: { name?: string }; value?: Ast };
    if (node.type === "Property" && value && /^(sqlite|postgres)$/.test(key?.name ?? "")) found.push(value);
  });
  return found;
}

function objections(sql: string): string[] {
  // What stands in quotes is data.
  const text = sql.replace(/'(?:[^']|'')*'/g, "''");
  return [
    ...RULES.flatMap(([pattern, why]) => {
      const [found] = pattern.exec(text) ?? [];
      return found === undefined ? [] : [`"${found.split("\n").at(-1)!.trim()}"; ${why}`];
    }),
    ...calls(text, /\b(?:MAX|MIN)\(/gi)
      .filter(({ inside }) => splitsAtComma(inside))
      .map(() => "MAX or MIN of two values; use CASE WHEN"),
    ...calls(text, /\b(?:FROM|JOIN)\s+\(/gi)
      .filter(({ after }) => !/^\s*(AS\s+)?(?!WHERE|ORDER|GROUP|LIMIT|UNION|ON|JOIN)\w/i.test(after))
      .map(() => "a query in FROM without a name; write (…) AS w"),
  ];
}

/** What stands in the parentheses that each match opens, and what follows them. */
function calls(text: string, open: RegExp): { inside: string; after: string }[] {
  return [...text.matchAll(open)].map((found) => {
    const from = found.index + found[0].length;
    let depth = 1;
    let to = from;
    for (; to < text.length && depth > 0; to++) depth += { "(": 1, ")": -1 }[text[to]!] ?? 0;
    return { inside: text.slice(from, to - 1), after: text.slice(to) };
  });
}

function splitsAtComma(inside: string): boolean {
  let depth = 0;
  for (const char of inside) {
    depth += { "(": 1, ")": -1 }[char] ?? 0;
    if (char === "," && depth === 0) return true;
  }
  return false;
}
