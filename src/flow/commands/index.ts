export { COMMANDS, type CommandParts, makeCommands } from "./commands.ts";
