/** Which directories a command goes to, by its words: the gate and the tool that plans the command must agree on them. */

const TAKES_DIR = /^(env|sudo|doas|git|make|gmake|tar|bsdtar|ninja|unshare|chroot|npm|pnpm|yarn)$/;

/** The directories a command goes to, for itself or for those after it. */
export function entered(name: string, args: readonly string[]): string[] {
  if (/^(cd|pushd|chdir)$/.test(name)) return [args.find((arg) => !arg.startsWith("-")) ?? "~"];
  if (!TAKES_DIR.test(baseName(name))) return [];
  const to: string[] = [];
  for (const [i, arg] of args.entries()) {
    if (/^(-C|-D|--chdir|--directory|--cwd|--wd|--root|--work-tree)$/.test(arg)) to.push(args[i + 1] ?? ".");
    else if (/^(-C.|--(chdir|directory|cwd|wd|root|work-tree)=)/.test(arg))
      to.push(arg.replace(/^(-C|--[a-z-]+=)/, ""));
  }
  if (baseName(name) === "chroot") to.push(args.find((arg) => !arg.startsWith("-")) ?? ".");
  return to;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
