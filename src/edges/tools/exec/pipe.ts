/**
 * A real pipe for a child's stdout and stderr together. Node would give two sockets instead: then the order between the
 * two is lost, and `echo … > /dev/stderr` fails, because a socket cannot be opened again by name. Node cannot make a
 * pipe, but it can open a named one; where there is no mkfifo the two sockets have to do.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
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

/**
 * The pipe has no name any more when this resolves. While it has one it is in a fresh folder of ours that no sandbox shows, not in
 * the workspace, where a command could put something else under its name.
 */
export async function makePipe(): Promise<Pipe | undefined> {
  const program = ["/usr/bin/mkfifo", "/bin/mkfifo"].find((path) => existsSync(path));
  if (!program) return undefined;
  let dir: string | undefined;
  let read: number | undefined;
  try {
    dir = mkdtempSync(join(tmpdir(), "lares-pipe-"));
    const path = join(dir, "out");
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
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}
