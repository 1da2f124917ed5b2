/**
 * Hints name commands as `lares …`, in every room and on the wire. Where there is no `lares` on the PATH (a clone started with
 * `npm start`) such a command does not work, so each face puts in the name by which this program can be called where the hint is
 * shown. One word at the edge instead of a name handed to every room that writes a hint.
 *
 * Only sentences of ours pass here: never an answer, a document or a file.
 */

/** The first words of our commands: `lares` before anything else is not a command, but a word. */
const COMMANDS =
  "a2a acp agents answer approvals approve attention backup board channels chat config context dashboard debug deny doctor gateway goals heartbeat hooks import logs mcp memory models onboard plugins policy runtimes schedule secrets security service sessions skills status teams token tokens turns undo usage wake wakes watch";
const COMMAND = new RegExp(`(^|[^\\w/.-])lares(?= (?:${COMMANDS.replaceAll(" ", "|")}|--help)(?![\\w-]))`, "g");

/** The text with every command of ours as `name …`. */
export function asCalled(text: string, name: string): string {
  if (name === "lares" || !text.includes("lares ")) return text;
  return text.replace(COMMAND, (all, before: string, at: number) => {
    // `docker exec lares lares` ends with our name: a text that has it already stays as it is.
    return text.slice(0, at + all.length).endsWith(name) ? all : before + name;
  });
}
