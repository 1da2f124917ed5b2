export { commandAnswers, describeSession, justAsked } from "./answers.ts";
export { everydayCommands, listCommands, makeCommands } from "./commands.ts";
