/** A backup made by another process (pages.ts says why), for a gateway whose timer says that one is due. */
import { execFile } from "node:child_process";

/** Far more than the few lines that are said. */
const MOST_SAID = 1024 * 1024;

/** Calls this same program. Rejects with its sentence. */
export function createInProcess(home: string): Promise<void> {
  const [program = ""] = process.argv.slice(1);
  const args = [...process.execArgv, program, "backup", "create", "--home", home, "--json", "--no-input"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: MOST_SAID }, (error, _said, complaint) => {
      if (error) reject(new Error(readComplaint(complaint) ?? error.message));
      else resolve();
    });
  });
}

function readComplaint(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text.trim().split("\n").at(-1) ?? "") as { error: { message: string; hint?: string } };
    return [error.message, error.hint].filter(Boolean).join(" ");
  } catch {
    return undefined;
  }
}
