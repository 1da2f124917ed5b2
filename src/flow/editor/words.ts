/** What an editor's user reads when a conversation can't be opened or changed as asked. */
import type { PolicyMode } from "../../core/domain/index.ts";

export function notAFolder(folder: string): string {
  return `There is no folder ${folder} on the machine Lares runs on.`;
}

export function notItsFolder(agent: string, folder: string): { message: string; hint: string } {
  return {
    message: `The agent ${agent} may not work in ${folder}: it is neither in its workspace nor in one of its roots.`,
    hint: `Allow it: lares config set agents.${agent}.roots '["${folder}"]' (include the roots it has)`,
  };
}

export const ANOTHER_FOLDER = (folder: string) =>
  `This conversation is about ${folder}. Start a new one to work in another folder.`;

export const TOO_LONG = (folder: string) =>
  `The path ${folder} is too long, or has characters in it that a conversation's name can't have.`;

export function notOfAnEditor(session: string): string {
  return `The conversation "${session}" wasn't started in an editor.`;
}

export function tooLax(agent: string, mode: PolicyMode, most: PolicyMode): { message: string; hint: string } {
  return {
    message: `An editor can only make a conversation stricter, and the policy of ${agent} is "${most}", not "${mode}".`,
    hint: `The owner can change that for the agent: lares config set agents.${agent}.policy.mode ${mode}`,
  };
}

export function unknownModel(model: string, known: readonly string[]): { message: string; hint: string } {
  return { message: `The model "${model}" isn't available here.`, hint: `Known: ${known.join(", ")}.` };
}
