export { commandAnswers, describeSession, justAsked } from "./answers.ts";
export { COMMANDS, everydayCommands, makeCommands } from "./commands.ts";
