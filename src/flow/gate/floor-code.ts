/** Trees that code removes: `shutil.rmtree("/")`, `fs.rmSync(process.env.HOME)`. */
import type { ShellPlan } from "../../core/contracts/index.ts";
import { INTERPRETS } from "./destinations-local.ts";

const CALL =
  "(?:rmtree|remove_tree|removedirs|rm_rf|rm_r|remove_entry(?:_secure)?|rimraf|rmdirSync|rmSync|remove_dir_all|RemoveAll";
/** With the path it is given as it is written. */
const WRITTEN = new RegExp(`${CALL}|rmdir|\\brm)\\s{0,9}[([]?\\s{0,9}[([]?\\s{0,9}["']([^"'\\n]{1,200})["']`, "g");
/** With a path that is put together: not a string, or a string that goes on. */
const COMPUTED = new RegExp(
  `${CALL}|fs(?:\\.promises)?\\.rm)(?:\\s{0,9}\\(|\\s)\\s{0,9}(?:[A-Za-z_$@\`(]|["'][^"'\\n]{0,200}["']\\s{0,9}[+.%])`,
);
const HOME =
  /(?:rmtree|rm_rf|rm_r|remove_tree|rimraf|rmSync|rmdirSync|\.rm)\s{0,9}\(?\s{0,9}(?:os\.path\.expanduser\(\s{0,9}["']~\/?["']\s{0,9}\)|process\.env\.HOME|process\.env\[["']HOME["']\]|(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|(?:pathlib\.)?Path\.home\(\)|os\.environ\[["']HOME["']\]|os\.getenv\(["']HOME["']\)|Dir\.home|ENV\[["']HOME["']\]|\$ENV\{["']?HOME["']?\})\s{0,9}(?:[),;]|$)/;
/** Files looked up and then removed one by one. */
const LOOKS_UP = /\b(os\.walk|scandir|listdir|rglob|glob|readdir(Sync)?|File::Find|find\(|Find\.find|Dir\[)/;
const REMOVES_ONE = /\b(os\.(remove|unlink)|unlink(Sync)?|rmSync|File\.delete|os\.truncate)\b/;

/** The paths that code in this word removes, as they are written. */
export function removedByCode(word: string): string[] {
  return [...word.matchAll(WRITTEN)].map((one) => one[1]!);
}

/** Whether code in this word removes a whole home by the name a program has for it. */
export function removesHome(word: string): boolean {
  return HOME.test(word);
}

/** Whether code that an interpreter is given removes what is only known when it runs. */
export function removesComputed({ commands, reasons, text }: ShellPlan): boolean {
  const isFed = reasons.some(({ kind }) => kind.startsWith("heredoc"));
  return commands.some(({ words }) => {
    const name = words[0]!.guess;
    if (!INTERPRETS.test(name.slice(name.lastIndexOf("/") + 1))) return false;
    const codes = words.slice(1).map((word) => word.literal ?? word.guess);
    return [...codes, ...(isFed ? [text] : [])].some(removesUnseen);
  });
}

export function removesUnseen(code: string): boolean {
  return /[\s(]/.test(code) && (COMPUTED.test(code) || (LOOKS_UP.test(code) && REMOVES_ONE.test(code)));
}
