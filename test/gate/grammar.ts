// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are shell text
/**
 * Shell strings from a seeded grammar: quoting, expansions, nesting, redirections, keywords, functions, here-documents,
 * comments, odd blanks, line continuations, carriage returns, Unicode. Program names are made up (`p0` … `p39`), so that a
 * shell started with an empty PATH reports each by its not-found handler. Loops end by themselves.
 */

export interface Random {
  /** A whole number below n. */
  below(n: number): number;
  pick<T>(from: readonly T[]): T;
  chance(percent: number): boolean;
}

export function random(seed: number): Random {
  let state = seed >>> 0 || 1;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const below = (n: number) => next() % n;
  return { below, pick: (from) => from[below(from.length)]!, chance: (percent) => below(100) < percent };
}

export function shellString(r: Random): string {
  return new Maker(r).script();
}

const BLANKS = [" ", " ", " ", " ", "  ", "\t", " \t ", " \\\n", "\\\n "];
const ODD = ["é", "ß", "λ", "\u00a0", "\u200b", "\u2028", "日本", "🙂", "\r", "\u0085"];
const LITERALS = [
  "a",
  "b.txt",
  "-l",
  "--x=1",
  "1",
  "x/y",
  "a=b",
  "=",
  "a#b",
  "%",
  "+",
  "@",
  ",",
  ".",
  "..",
  "-",
  "--",
  "]",
  "^x",
  "x~",
  "~",
  "~/x",
  "!",
  "a!b",
  "{}",
  "}",
  "a:b",
];

class Maker {
  private functions = 0;
  private pending: string[] = [];
  private readonly r: Random;

  constructor(r: Random) {
    this.r = r;
  }

  script(): string {
    const { r } = this;
    let out = "";
    if (r.chance(5)) out += r.pick(["# p1 comment\n", "\n\n", "  ", "\t", "#!/bin/sh\n", ": # p2; p3\n"]);
    out += this.list(r.pick([0, 1, 1, 1, 2, 2, 3]));
    if (this.pending.length > 0) out += `\n${this.flush()}`;
    if (r.chance(10)) out += r.pick([" # && p5", "\n# p6", ";", "\n", " &", "\n\n", " #", "\\\n"]);
    // A loop whose `break` was broken would not end.
    const mayBreak = !/\bdone\b/.test(out);
    if (r.chance(5) && mayBreak) out = out.replaceAll("\n", "\r\n");
    if (r.chance(8) && mayBreak) out = this.mutate(out);
    return out;
  }

  /** Breaks something: most such strings do not parse, and must then be called unparsed. */
  private mutate(text: string): string {
    const { r } = this;
    const at = r.below(text.length + 1);
    const signs = [
      "'",
      '"',
      "`",
      "$(",
      ")",
      "(",
      "{",
      "}",
      "|",
      "&",
      ";",
      "\\",
      "<",
      ">",
      "<<",
      "\n",
      "#",
      "$",
      "((",
      "))",
      "fi",
      "done",
      " ",
      "!",
      "[[",
      "]]",
      "$'",
      "${",
    ];
    return r.chance(50)
      ? text.slice(0, at) + r.pick(signs) + text.slice(at)
      : text.slice(0, at) + text.slice(at + 1 + r.below(3));
  }

  private list(depth: number): string {
    const { r } = this;
    let out = this.andOr(depth);
    for (let n = r.chance(60) ? 0 : r.below(depth > 1 ? 3 : 2); n > 0; n--) {
      const joint = r.pick(["; ", ";", "\n", "\n", " & ", "&\n", " ;\n", "\n\n  "]);
      if (this.pending.length > 0) out += `\n${this.flush()}`;
      else out += joint;
      out += this.andOr(depth);
    }
    return out;
  }

  private andOr(depth: number): string {
    const { r } = this;
    let out = this.pipeline(depth);
    while (r.chance(12))
      out +=
        r
          .pick([" && ", " || ", "&&", "||", " &&\n", " || \\\n"])
          .replace(/\n$/, () => (this.pending.length > 0 ? "" : "\n")) + this.pipeline(depth);
    return out;
  }

  private pipeline(depth: number): string {
    const { r } = this;
    let out = r.chance(5) ? r.pick(["! ", "time ", "time -p ", "! ! "]) : "";
    out += this.command(depth);
    while (r.chance(10)) out += r.pick([" | ", "|", " |& ", "| "]) + this.command(depth);
    return out;
  }

  private command(depth: number): string {
    const { r } = this;
    if (depth <= 0 || r.chance(62)) return this.simple(depth);
    const d = depth - 1;
    const body = () => this.block(d);
    const redirect = () => (r.chance(15) ? ` ${this.redirect(d)}` : "");
    switch (r.below(13)) {
      case 0:
        return `(${body()})${redirect()}`;
      case 1:
        return `{ ${body()}; }${redirect()}`;
      case 2:
        return `if ${body()}; then ${body()}; fi${redirect()}`;
      case 3:
        return `if ${body()}\nthen ${body()}\nelif ${body()}; then\n${body()}; else ${body()}; fi`;
      case 4:
        return `for i in ${this.words(d)}; do ${body()}; done${redirect()}`;
      case 5:
        return `while ${body()}; do ${body()}; break; done`;
      case 6:
        return `until ${body()}\ndo ${body()}; break\ndone`;
      case 7:
        return `case ${this.word(d)} in ${r.pick(["", "("])}${r.pick(["a", "*", "a|b", "[a-z]*", "'x'"])}) ${body()};; ${r.chance(50) ? `*) ${body()} ${r.pick([";;", ";&", ";;&", ""])}` : ""}\nesac`;
      case 8: {
        const name = `f${this.functions++}`;
        const head = r.pick([`${name}()`, `function ${name}`, `function ${name} ()`, `${name} ( )`]);
        const text = r.chance(70) ? `{ ${body()}; }` : `(${body()})`;
        return `${head} ${text}${r.pick(["; ", "\n"])}${name}`;
      }
      case 9:
        return `[[ ${r.pick(["-n", "-z", "-e", "-d"])} ${this.word(d)} ]]`;
      case 10:
        return `[[ ${this.word(d)} ${r.pick(["==", "!=", "<", "=", "-eq"])} ${this.word(d)} ${r.pick(["", "&& -n x", "|| ( -z y )"])} ]]`;
      case 11:
        return `((${this.arithmetic(d)}))`;
      default:
        return r.pick([
          `coproc ${this.simple(d)}`,
          `for ((i=0;i<2;i++)); do ${body()}; done`,
          `{\n${body()}\n}`,
          `( (${body()}) )`,
        ]);
    }
  }

  /** A list inside a compound command: here-documents must end within it. */
  private block(depth: number): string {
    const outer = this.pending;
    this.pending = [];
    let out = this.list(depth);
    if (this.pending.length > 0) out += `\n${this.flush()}:`;
    this.pending = outer;
    return out;
  }

  private simple(depth: number): string {
    const { r } = this;
    let out = "";
    while (r.chance(6)) out += `${this.assignment(depth)}${r.pick(BLANKS)}`;
    if (r.chance(5)) out += `${this.redirect(depth)} `;
    if (out !== "" && r.chance(20)) return out.replace(/(\\\n|\s)+$/, "");
    out += this.program(depth);
    for (let n = r.pick([0, 0, 1, 1, 2, 3]); n > 0; n--) out += r.pick(BLANKS) + this.word(depth);
    if (r.chance(15)) out += ` ${this.redirect(depth)}`;
    return out;
  }

  private program(depth: number): string {
    const { r } = this;
    const name = `p${r.below(40)}`;
    switch (r.below(60)) {
      case 0:
        return `'${name}'`;
      case 1:
        return `"${name}"`;
      case 2:
        return `\\${name}`;
      case 3:
        return `p"${name.slice(1)}"`;
      case 4:
        return `p\\\n${name.slice(1)}`;
      case 5:
        return `$'${name}'`;
      case 6:
        return `$'\\x70${name.slice(1)}'`;
      case 7:
        return depth > 0 ? this.substitution(depth - 1) : name;
      case 8:
        return r.pick(["$A", "${A}", `${name}$A`, `{${name},x}`, "$A$B"]);
      case 9:
        return r.pick([
          ":",
          "true",
          "false",
          "echo",
          "test",
          "[ a = a ]; :",
          "cd .",
          "printf %s",
          "export",
          "declare",
          "local",
          "readonly X=1; :",
        ]);
      case 10:
        return r.pick([
          `eval ${name}`,
          `eval 'p7; p8'`,
          `command ${name}`,
          `builtin echo`,
          "trap 'p9' EXIT;",
          "alias q=p1;",
          "let",
          "unset A;",
          `type ${name}`,
        ]);
      case 11:
        return r.pick([
          "read A;",
          "shift;",
          "set -- p1;",
          "set +e;",
          "test -v",
          "printf -v A",
          "return",
          "mapfile -t A <<< p2;",
        ]);
      case 12:
        return r.chance(50)
          ? `${name}${r.pick(ODD)}`
          : `${r.pick(["if", "do", "in", "then", "fi", "esac", "}", "!"])}${name}`;
      default:
        return name;
    }
  }

  private words(depth: number): string {
    return Array.from({ length: 1 + this.r.below(3) }, () => this.word(depth)).join(" ");
  }

  private word(depth: number): string {
    let out = this.piece(depth);
    while (this.r.chance(18)) out += this.piece(depth);
    return out;
  }

  private piece(depth: number): string {
    const { r } = this;
    const inner = depth > 0 ? depth - 1 : 0;
    switch (r.below(40)) {
      case 0:
        return `'${r.pick(["", "x", "$(p1)", "`p2`", "; p3", "a b", "\\", "a\nb", '"', "#"])}'`;
      case 1:
        return `"${r.pick(["", "x", "; p3", "a b", "'", "#", "a\nb", "\\$(p4)", "\\`p5\\`", '\\"', "\\\\"])}"`;
      case 2:
        return depth > 0 ? `"${r.pick(["", "x "])}${this.substitution(inner)}${r.pick(["", " y", "'"])}"` : "x";
      case 3:
        return depth > 0 ? this.substitution(inner) : "y";
      case 4:
        return r.pick(["$A", "${A}", '"$A"', '"${A}"', "$1", "$#", "$?", "$@", '"$@"', "$$", "$-", "$", '"$"']);
      case 5:
        return depth > 0
          ? `\${A${r.pick([":-", "-", ":=", "=", ":+", "+", "#", "%", "##", "%%", "/x/", "//x/", "^", ",,"])}${this.word(inner).replaceAll("}", "").replaceAll("{", "")}}`
          : "$A";
      case 6:
        return depth > 0 ? `$((${this.arithmetic(inner)}))` : "$((1+1))";
      case 7:
        return r.pick(["*", "?", "[a-z]", "{a,b}", "{1..3}", "a*", "~", "{p1,p2}"]);
      case 8:
        return r.pick(["\\ ", "\\;", "\\&", "\\|", "\\$", "\\`", "\\'", '\\"', "\\\\", "\\\n", "\\#", "\\(", "\\a"]);
      case 9:
        return depth > 0 ? `${r.pick(["<", ">"])}(${this.block(inner)})` : "z";
      case 10:
        return r.pick(ODD);
      case 11:
        return r.pick(["$'a'", "$'\\n'", "$'\\''", "$'$(p6)'", '$"x"', "$'\\x3b p7'"]);
      case 12:
        return r.pick(["${A[0]}", "${A[@]}", "${#A}", "${!A}", "${A:0:1}", "${A@Q}", "${A[x]}", "${!A*}"]);
      case 13:
        return depth > 0 ? `"\${A:-${this.substitution(inner)}}"` : "w";
      default:
        return r.pick(LITERALS);
    }
  }

  private substitution(depth: number): string {
    const { r } = this;
    const body = this.block(depth);
    // Backticks nest only with escaping; inner ones are written the other way.
    if (r.chance(30) && !/[`\\"]/.test(body)) return `\`${body}\``;
    const gap = body.startsWith("(") ? " " : "";
    return `$(${gap}${body}${r.pick(["", "", " ", "\n"])})`;
  }

  private arithmetic(depth: number): string {
    const { r } = this;
    const term = () =>
      r.pick([
        "1",
        "2",
        "0x1f",
        "A",
        "$A",
        "i",
        "A[0]",
        depth > 0 && r.chance(30) ? `$(${this.block(depth - 1)}; echo 1)` : "3",
      ]);
    return r.pick([`${term()}+${term()}`, `${term()}`, `(${term()}*2)`, `${term()}>1?1:2`, `A=${term()}`]);
  }

  private assignment(depth: number): string {
    const { r } = this;
    return (
      r.pick(["A", "B", "A", "x9"]) +
      r.pick(["=", "=", "+="]) +
      r.pick(["", this.piece(depth), this.piece(depth), `(${this.word(depth)})`])
    );
  }

  private redirect(depth: number): string {
    const { r } = this;
    switch (r.below(10)) {
      case 0: {
        const end = `E${r.below(9)}`;
        const quoted = r.chance(40);
        const body = r.pick([
          "text\n",
          "$A\n",
          `$(p1${r.below(9)})\n`,
          "`p20`\n",
          "\\$(p21)\n",
          "",
          "'$(p22)'\n",
          "a\\\nb\n",
          `E x\n$(p23\n)\n`,
          '"$(p24)"\n',
        ]);
        this.pending.push(`${body}${end}\n`);
        return `${r.pick(["<<", "<< "])}${quoted ? r.pick([`'${end}'`, `"${end}"`, `\\${end}`]) : end}`;
      }
      case 1:
        return `<<< ${this.word(depth)}`;
      case 2:
        return `> ${r.pick(["out1", "/dev/null", '"out 2"', "$A.x"])}`;
      case 3:
        return `2>${r.pick(["/dev/null", "&1", "err"])}`;
      case 4:
        return `< ${r.pick(["/dev/null", "in1"])}`;
      case 5:
        return r.pick(["&> out3", ">> out4", ">| out5", "&>> out6", "<> out7", "3>out8", "{fd}>out9"]);
      case 6:
        return depth > 0 ? `> >(${this.block(depth - 1)})` : ">&2";
      default:
        return r.pick([">/dev/null", "2>&1", "</dev/null", ">&2"]);
    }
  }

  private flush(): string {
    const out = this.pending.join("");
    this.pending = [];
    return out;
  }
}
