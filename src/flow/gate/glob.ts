/** Patterns of rules. `*` and `?` never cross a slash, `**` does; case counts; nothing else is special. */

export function globToRegExp(glob: string): RegExp {
  let source = "";
  for (let i = 0; i < glob.length; i++) {
    const sign = glob[i]!;
    if (sign === "*" && glob[i + 1] === "*") {
      // `a/**` takes what is below a, not a itself.
      source += glob[i + 2] === "/" ? "(?:[^/]+/)*" : ".*";
      i += glob[i + 2] === "/" ? 2 : 1;
    } else if (sign === "*") source += "[^/]*";
    else if (sign === "?") source += "[^/]";
    else source += sign.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  }
  return new RegExp(`^${source}$`, "su");
}

export function matchesGlob(glob: string, text: string): boolean {
  return globToRegExp(glob).test(text);
}

export function hasWildcard(text: string): boolean {
  return /[*?]/.test(text);
}
