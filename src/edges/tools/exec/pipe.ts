/**
 * A real pipe for a child's stdout and stderr together. Node would give two sockets instead: then the order between the
 * two is lost, and `echo … > /dev/stderr` fails, because a socket cannot be opened again by name. Node cannot make a
 * pipe, but it can open a named one; where there is no mkfifo the two sockets have to do.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, mkdirSync, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { inTurn } from "../../../core/kit/index.ts";

/** Starting a process holds the event loop for milliseconds: a hundred commands at once start one by one. */
export const turnToStart = inTurn();

export interface Pipe {
  read: Socket;
  /** For the child's stdio; close it once the child has it. */
  write: number;
}

/** The pipe has no name any more when this resolves. */
export async function makePipe(dir: string): Promise<Pipe | undefined> {
  const program = ["/usr/bin/mkfifo", "/bin/mkfifo"].find((path) => existsSync(path));
  if (!program) return undefined;
  const path = join(dir, `.pipe-${randomBytes(8).toString("hex")}`);
  let read: number | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await turnToStart();
    await promisify(execFile)(program, ["-m", "600", path], { env: {} });
    // The reading end first and without waiting: then the writing end opens at once.
    read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    return { read: new Socket({ fd: read, readable: true, writable: false }), write };
  } catch {
    if (read !== undefined) closeSync(read);
    return undefined;
  } finally {
    if (existsSync(path)) unlinkSync(path);
  }
}
