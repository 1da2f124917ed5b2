export { COMMANDS, type CommandParts, makeCommands, type Said } from "./commands.ts";
