/** Words for files and commands. They come last: "show …" and "find …" mean files only when nothing else was meant. */
import type { JsonObject } from "../../../../core/domain/index.ts";
import { END, type MatchedWords, PATH, type PracticeRule, pathIn, row, unquote } from "./words.ts";

/** A name with an ending is a file, in quotes or without. */
const FILE = String.raw`(?:"(?<quoted>[^"]+)"|'(?<single>[^']+)'|(?<bare>[^\s"'-][^\s"']*\.[a-z0-9]{1,8}))`;
const IN_FOLDER = ` (?:in|under|inside)(?: the)?(?: folder| directory)? ${PATH}`;
/** "in the files" is no folder of that name. */
const EVERYWHERE =
  " (?:in|through|across|inside)(?: the| my| our| these| all)?(?: my| the| our)? (?:files?|workspace|documents?)";
const FOLDER = "(?: folder| directory)";

export const FILES: readonly PracticeRule[] = [
  row(
    "read",
    "use the skill deploy",
    `(?:use|read|follow|try)(?: the| my)? skill[:\\s]+(?<name>[a-z0-9-]+)${END}`,
    ({ name }) => ({ path: `skill:${name!.toLowerCase()}` }),
  ),
  row(
    "apply_patch",
    "apply this patch: *** Begin Patch …",
    String.raw`(?:apply (?:this|the|my) patch[:\s]+)?(?<patch>\*\*\* Begin Patch.*)`,
    ({ patch }) => ({ patch: patch!.trim() }),
  ),
  row(
    "write",
    "create a file hello.txt with Hello there",
    String.raw`(?:create|make|write)(?: me)?(?: a| the)?(?: new)? file(?: called| named)? ${PATH} (?:with|containing|saying|that says|that contains)(?: the)?(?: content| text| contents)?[:\s]+(?<content>.+)`,
    (found) => ({ path: pathIn(found), content: unquote(found.content!) }),
  ),
  row(
    "write",
    "write hello to notes.txt",
    `(?:write|save|put) (?<content>.+) (?:to|into|in)(?: the| a)?(?: new)?(?: file)?(?: called| named)? ${PATH}${END}`,
    (found) => ({ path: pathIn(found), content: unquote(found.content!) }),
  ),
  row(
    "edit",
    "replace hello with goodbye in notes.txt",
    `(?:replace|change) (?<all>all |every )?(?<old>.+?) (?:with|to|by) (?<new>.+) in(?: the)?(?: file)? ${PATH}${END}`,
    edited,
  ),
  row(
    "edit",
    "in notes.txt, replace hello with goodbye",
    `in(?: the)?(?: file)? ${PATH},? (?:replace|change) (?<all>all |every )?(?<old>.+?) (?:with|to|by) (?<new>.+?)${END}`,
    edited,
  ),
  row(
    "list",
    "what files are here?",
    `(?:what|which) files (?:are (?:here|there)|do (?:i|you|we) have|are in(?: the| my)?${FOLDER}?(?: ${PATH})?)(?: in the workspace)?${END}`,
    at,
  ),
  row("list", "what is in the folder docs?", `(?:what is|what's) in (?:the|my|this)${FOLDER}(?: ${PATH})?${END}`, at),
  row(
    "search",
    "find files named *.md",
    `find(?: me)?(?: all)?(?: the)? files? (?:named|called) ${PATH}${END}`,
    (found) => ({
      glob: pathIn(found),
    }),
  ),
  row(
    "search",
    "search for TODO in src",
    `(?:search(?: for)?|look for|grep(?: for)?) (?<pattern>"[^"]+"|.+?)(?:${EVERYWHERE}|${IN_FOLDER})?${END}`,
    searched,
  ),
  row(
    "search",
    "find TODO in my files",
    `find (?<pattern>"[^"]+"|.+?) in (?:(?:the|my|all) )?(?:files?|workspace|${PATH})${END}`,
    searched,
  ),
  row(
    "search",
    "which files mention kettle?",
    `(?:which|what) files? (?:mentions?|contains?|says?) (?<pattern>.+?)${END}`,
    searched,
  ),
  row(
    "read",
    "show me notes.txt",
    `show(?: me)?(?: the)?(?: file| contents? of| text of)*(?: the)?(?: file)? ${FILE}${END}`,
    at,
  ),
  row("read", "what does notes.txt say?", `what does(?: the)?(?: file)? ${FILE} (?:say|contain)${END}`, at),
  row(
    "list",
    "list the files in src",
    `(?:list|ls|show)(?: me)?(?: all| the| my)*(?: files?| folder| directory| contents?)*(?: in| of| under)?(?: the)?${FOLDER}?(?: ${PATH})?${END}`,
    at,
  ),
  row("read", "read notes.txt", `(?:read|open|cat|what is in|what's in)(?: me)?(?: the)?(?: file)? ${PATH}${END}`, at),
  row(
    "exec",
    "run sleep 60 in the background",
    String.raw`(?:run|execute|exec|start)(?: the)?(?: command)?[:\s]+(?<command>.+?) in the background${END}`,
    ({ command }) => ({ command: unquote(command!), background: true }),
  ),
  row(
    "exec",
    "run ls -la",
    String.raw`(?:run|execute|exec)(?: the)?(?: command)?[:\s]+(?<command>.+)`,
    ({ command }) => ({ command: unquote(command!) }),
  ),
];

function at(found: MatchedWords): JsonObject {
  return { path: pathIn(found) };
}

function edited(found: MatchedWords): JsonObject {
  return {
    path: pathIn(found),
    old: unquote(found.old!),
    new: unquote(found.new!),
    ...(found.all ? { all: true } : {}),
  };
}

function searched(found: MatchedWords): JsonObject {
  return {
    pattern: unquote(found.pattern!),
    ...(found.quoted || found.single || found.bare ? { path: pathIn(found) } : {}),
  };
}
