/** Requests to Claude Code and their answers: separate lines beside the conversation. */
import { asObject, asText } from "../../../core/domain/index.ts";
import type { ClaudeFields } from "./translate.ts";

interface ControlReply {
  resolve(answer: ClaudeFields): void;
  reject(error: Error): void;
}

export class ControlRequests {
  private readonly write: (message: object) => void;
  private readonly waiting = new Map<string, ControlReply>();
  private closed: Error | undefined;
  private asked = 0;

  constructor(write: (message: object) => void) {
    this.write = write;
  }

  /** Rejects with its words when it refuses, and with ours when this is closed. */
  async ask(request: { subtype: string } & ClaudeFields): Promise<ClaudeFields> {
    if (this.closed) throw this.closed;
    const id = `lares-${++this.asked}`;
    const answered = new Promise<ClaudeFields>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.write({ type: "control_request", request_id: id, request });
    return answered;
  }

  /** A line of the type `control_response`. Our own answers come back the same way, and find nobody waiting. */
  take(line: ClaudeFields): void {
    const response = asObject(line.response);
    const id = String(response.request_id);
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (response.subtype === "success") waiting?.resolve(asObject(response.response));
    else waiting?.reject(new Error(asText(response.error) ?? "it refused"));
  }

  /** Rejects what waits, and what is asked later. */
  close(why: string): void {
    this.closed ??= new Error(why);
    for (const { reject } of this.waiting.values()) reject(this.closed);
    this.waiting.clear();
  }
}
