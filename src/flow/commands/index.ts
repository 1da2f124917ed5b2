export { COMMANDS, type CommandParts, everydayCommands, makeCommands, type Said } from "./commands.ts";
