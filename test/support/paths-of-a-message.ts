/** The drawings in docs/ARCHITECTURE.md, "The files a message passes": each file, and the one it is indented below. */
import { repositoryText } from "./repository.ts";

export interface Passed {
  file: string;
  caller: string | undefined;
}

export function pathsOfAMessage(): Passed[][] {
  const section =
    repositoryText("docs/ARCHITECTURE.md").split("### The files a message passes")[1]?.split(/^## /m)[0] ?? "";
  return [...section.matchAll(/^```\n(.*?)^```$/gms)].map(([, drawing]) => {
    const above: { indent: number; file: string }[] = [];
    return drawing!
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [, blanks = "", file = ""] = /^( *)(\S+\.ts)\b/.exec(line) ?? [];
        if (!file) throw new Error(`No file is named in the line "${line}".`);
        while (above.length && above.at(-1)!.indent >= blanks.length) above.pop();
        const caller = above.at(-1)?.file;
        above.push({ indent: blanks.length, file });
        return { file, caller };
      });
  });
}
