export { COMMANDS, type CommandParts, type CommandReply, everydayCommands, makeCommands } from "./commands.ts";
