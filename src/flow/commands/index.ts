export { type AnswerParts, commandAnswers, describeSession, justAsked } from "./answers.ts";
export { COMMANDS, type CommandParts, type CommandReply, everydayCommands, makeCommands } from "./commands.ts";
