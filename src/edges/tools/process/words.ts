/** What is said about background commands: to the model in results, and in the message about a command's end. */

export const NO_COMMANDS = "There are no background commands.";
export const PRINTED_NOTHING = "It printed nothing.";
export const END_UNKNOWN = "nobody knows how; the machine or its supervisor was stopped";

export function written(id: string): string {
  return `Written to ${id}.`;
}

export function alreadyEnded(line: string): string {
  return `It had already ended. ${line}`;
}

export function stopped(line: string): string {
  return `Stopped, with all its processes. ${line}`;
}

export function isRunning(id: string, pid: number | null | undefined): string {
  return `${id} is running${pid ? ` (pid ${pid})` : ""}`;
}

export function ended(id: string, how: string): string {
  return `${id} ended: ${how}`;
}

/** `call`: how to read on. */
export function readOn(call: string): string {
  return `; to read on: process ${call}`;
}

export function bytesShown(from: number, to: number, size: number): string {
  return `; bytes ${from} to ${to} of ${size}`;
}

/** A plan, as a person reads it before input goes to a running program. */
export function inputFor(id: string, command: string, text: string): string {
  return `To the process ${id} (${command}):\n${text}`;
}

export function endLabel(id: string, command: string, how: string): string {
  return `Background process ${id} (${command}) ended: ${how}`;
}

export function endBody(command: string, output: string): string {
  return `Command: ${command}\n\n${output}`;
}

export function lastOutput(text: string): string {
  return `The end of its output:\n${text}`;
}

export function endedForLimit(excess: string): string {
  return `Lares ended it with all its processes: ${excess}`;
}

export function exitAndTime(exit: number | null, took: string): string {
  return `exit ${exit}${took}`;
}
