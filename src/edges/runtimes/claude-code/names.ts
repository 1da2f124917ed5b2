/** As in `agents.<id>.runtime`. */
export const NAME = "claude-code";
/** As people know it. */
export const TITLE = "Claude Code";
/** Its program. */
export const COMMAND = "claude";
/** How it gets onto a machine. */
export const INSTALL = "lares runtimes install claude-code";
