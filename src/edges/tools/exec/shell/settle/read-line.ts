/** `read` before each round of a loop: which variables it fills, and what it splits a line at. */
import type { Assignment, While } from "unbash";
import { readWord } from "../word.ts";
import { giveUp } from "./budget.ts";
import type { SettledLoop } from "./tree.ts";
import { isName, readNames } from "./variables.ts";

/** `read -r a b` and `IFS=, read -r a b`; undefined where other commands are. */
export function readBefore({ commands }: While["clause"]): Extract<SettledLoop["test"], { read: unknown }> | undefined {
  const [only, ...more] = commands;
  const node = only?.command;
  if (more.length > 0 || only!.background || node?.type !== "Command" || node.name?.text !== "read") return undefined;
  const names = readNames(node);
  const options = node.args.filter((word) => word.text.startsWith("-"));
  const isPlain = names.every(isName) && options.every((word) => word.text === "-r") && node.redirects.length === 0;
  if (!isPlain || names.length === 0) return giveUp("a read of another kind");
  const read = [...options.slice(0, 1).map(() => "-r"), ...names];
  const [setting, ...others] = node.prefix;
  if (setting === undefined) return { read };
  if (setting.type !== "Assignment" || others.length > 0) return giveUp("a setting");
  return { read, separator: readSeparator(setting) };
}

function readSeparator({ name, value, append, index }: Assignment): string {
  if (name !== "IFS" || append || index || value.type !== "Word") return giveUp("a setting");
  if (value.text === "") return "";
  return readWord(value).literal ?? giveUp("a separator that is computed");
}
