/** A person's words about time, cut into numbers and words. One pass from left to right: no text can make it slow. */
import { AppError } from "../../../core/domain/index.ts";
import { nearest } from "../../../core/kit/index.ts";
import { RHYTHM_EXAMPLES, TIME_EXAMPLES } from "../words.ts";

export type WordToken = { number: number; text: string } | { word: string } | { colon: true };

/** Longer than anybody says a time. */
const LONGEST = 200;

function tokenise(text: string, wanted: WantedTime): WordToken[] {
  if (text.length > LONGEST) throw notUnderstood(`${text.slice(0, 40)}…`, wanted);
  const low = text.toLowerCase();
  const tokens: WordToken[] = [];
  for (let i = 0; i < low.length; ) {
    const from = i;
    if (isDigit(low[i])) {
      while (isDigit(low[i])) i++;
      if (low[i] === "." && isDigit(low[i + 1])) for (i++; isDigit(low[i]); ) i++;
      tokens.push({ number: Number(low.slice(from, i)), text: low.slice(from, i) });
    } else if (isLetter(low[i])) {
      while (isLetter(low[i]) || (low[i] === "." && isLetter(low[i + 1]))) i++;
      tokens.push({ word: low.slice(from, i).replaceAll(".", "") });
    } else {
      if (low[i] === ":") tokens.push({ colon: true });
      // "9 a.m." and "fri." end with a dot that says nothing; so does the mark in "o'clock".
      else if (!/[\s,.'’]/.test(low[i]!)) throw notUnderstood(text, wanted);
      i++;
    }
  }
  return tokens;
}

function isDigit(sign: string | undefined): boolean {
  return sign !== undefined && sign >= "0" && sign <= "9";
}

function isLetter(sign: string | undefined): boolean {
  return sign !== undefined && sign >= "a" && sign <= "z";
}

/** Looks ahead and takes what it knows. What nothing takes is not understood. */
export class Reader {
  readonly text: string;
  /** What the words should have said. */
  private readonly wanted: WantedTime;
  private readonly tokens: WordToken[];
  private at = 0;

  constructor(text: string, wanted: WantedTime = "a moment") {
    this.text = text;
    this.wanted = wanted;
    this.tokens = tokenise(text, wanted);
  }

  get isDone(): boolean {
    return this.at >= this.tokens.length;
  }

  /** Whether nothing follows after this many tokens. */
  isLast(count: number): boolean {
    return this.at + count >= this.tokens.length;
  }

  get place(): number {
    return this.at;
  }

  /** Back to an earlier place; each grammar rule goes back over its own few tokens only. */
  back(place: number): undefined {
    this.at = place;
    return undefined;
  }

  word(ahead = 0): string | undefined {
    const token = this.tokens[this.at + ahead];
    return token && "word" in token ? token.word : undefined;
  }

  number(ahead = 0): number | undefined {
    const token = this.tokens[this.at + ahead];
    return token && "number" in token ? token.number : undefined;
  }

  digits(ahead = 0): string {
    const token = this.tokens[this.at + ahead];
    return token && "text" in token ? token.text : "";
  }

  isColon(ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token !== undefined && "colon" in token;
  }

  take(count = 1): void {
    this.at += count;
  }

  /** Takes these words if they come next, all of them. */
  eat(...words: string[]): boolean {
    if (words.some((word, i) => this.word(i) !== word)) return false;
    this.at += words.length;
    return true;
  }

  /** Takes one of these words. */
  eatAny(...words: string[]): boolean {
    const next = this.word();
    if (next === undefined || !words.includes(next)) return false;
    this.at++;
    return true;
  }

  /** Takes the next word if the table has it. */
  pick<T>(table: Readonly<Record<string, T>>): T | undefined {
    const next = this.word();
    if (next === undefined || !Object.hasOwn(table, next)) return undefined;
    this.at++;
    return table[next];
  }

  wrong(): AppError {
    return notUnderstood(this.text, this.wanted);
  }
}

export type WantedTime = "a moment" | "how often";

export function inThePast(text: string): AppError {
  return new AppError("BAD_REQUEST", { message: `"${text}" is in the past.`, hint: TIME_EXAMPLES });
}

export function notUnderstood(text: string, wanted: WantedTime = "a moment"): AppError {
  const what = wanted === "how often" ? "how often something happens" : "a time";
  const meant = wanted === "how often" ? nearestWords(text) : undefined;
  return new AppError("BAD_REQUEST", {
    message: `Lares can't read "${text}" as ${what}.`,
    hint: [meant && `Did you mean "${meant}"?`, wanted === "how often" ? RHYTHM_EXAMPLES : TIME_EXAMPLES]
      .filter(Boolean)
      .join(" "),
  });
}

/** The words people mistype most: with "minuts" the rest of the text is as it was meant. */
const OFTEN_MEANT = [
  ...["second", "minute", "hour", "day", "week", "month", "year"].flatMap((unit) => [unit, `${unit}s`]),
  ...["every", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "weekdays", "weekends"],
];

/** The text with its mistyped words put right, or nothing when none was. */
function nearestWords(text: string): string | undefined {
  const meant = text.replace(/[a-z]{4,}/gi, (word) =>
    OFTEN_MEANT.includes(word.toLowerCase()) ? word : (nearest(word.toLowerCase(), OFTEN_MEANT) ?? word),
  );
  return meant === text ? undefined : meant;
}

/** Words that say "not now" and nothing else. */
const VAGUE = [
  ["soon"],
  ["later"],
  ["shortly"],
  ["sometime"],
  ["asap"],
  ["in", "a", "bit"],
  ["in", "a", "while"],
  ["in", "a", "moment"],
];

export function isVague(r: Reader): boolean {
  return VAGUE.some((words) => words.every((word, i) => r.word(i) === word) && r.isLast(words.length));
}

export function vague(text: string): AppError {
  return new AppError("BAD_REQUEST", {
    message: `"${text}" doesn't say when.`,
    hint: 'Write for example "in 15 minutes" or "in 2 hours".',
  });
}

export const WEEKDAYS: Readonly<Record<string, number>> = names([
  ["sunday", "sundays", "sun"],
  ["monday", "mondays", "mon"],
  ["tuesday", "tuesdays", "tue", "tues"],
  ["wednesday", "wednesdays", "wed", "weds"],
  ["thursday", "thursdays", "thu", "thur", "thurs"],
  ["friday", "fridays", "fri"],
  ["saturday", "saturdays", "sat"],
]);

/** From 0 for January on. */
export const MONTHS: Readonly<Record<string, number>> = names([
  ["january", "jan"],
  ["february", "feb"],
  ["march", "mar"],
  ["april", "apr"],
  ["may"],
  ["june", "jun"],
  ["july", "jul"],
  ["august", "aug"],
  ["september", "sep", "sept"],
  ["october", "oct"],
  ["november", "nov"],
  ["december", "dec"],
]);

export const ORDINALS: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, fifth: 5 };

export const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  ninety: 90,
};

/** "3", "three", "an", "a couple of", "a few", "half". */
export function readCount(r: Reader): number | undefined {
  const count = r.number();
  if (count !== undefined) {
    r.take();
    return count;
  }
  if (r.eat("a", "couple", "of") || r.eat("couple", "of") || r.eat("a", "couple")) return 2;
  if (r.eat("a", "few") || r.eat("few")) return 3;
  if (r.eat("half", "an") || r.eat("half", "a") || r.eat("half")) return 0.5;
  return r.pick(NUMBERS);
}

/** "5", "5th", "fifth": a day of the month. */
export function readOrdinal(r: Reader): number | undefined {
  const day = r.number();
  if (day !== undefined && Number.isInteger(day) && day >= 1 && day <= 31) {
    r.take();
    r.eatAny("st", "nd", "rd", "th");
    return day;
  }
  return r.pick(ORDINALS);
}

function names(rows: string[][]): Record<string, number> {
  return Object.fromEntries(rows.flatMap((row, i) => row.map((name): [string, number] => [name, i])));
}
