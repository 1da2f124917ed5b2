/**
 * Files on their way to Lares: sent at once when they are chosen, named by the message later. XMLHttpRequest, because `fetch`
 * does not tell how far an upload is.
 */

import type { Failure } from "./client.ts";
import { newKey } from "./client.ts";
import { w } from "./words.ts";

/** What the gateway says about a file it took. */
export interface Attached {
  id: string;
  name: string;
  mediaType: string;
  bytes: number;
  kind: "image" | "text" | "file";
}

/** As the gateway has them: said here before anything is sent. */
export const MOST_FILES = 8;
const MOST_BYTES = 20 * 1_048_576;

export const attachmentUrl = (id: string): string => `/attachments/${id}`;

export class Upload {
  readonly key = newKey();
  readonly name: string;
  readonly bytes: number;
  /** 0 to 1. */
  progress: number = $state(0);
  done: Attached | undefined = $state.raw();
  error: Failure | undefined = $state.raw();
  /** Resolves when it is there or failed. */
  settled: Promise<void> = Promise.resolve();
  private readonly file: File | undefined;
  private request: XMLHttpRequest | undefined;

  /** A file to send, or one that was sent before the page was reloaded. */
  constructor(from: File | Attached) {
    const isFile = from instanceof File;
    this.name = from.name || w.attach.pasted;
    this.bytes = isFile ? from.size : from.bytes;
    this.file = isFile ? from : undefined;
    if (isFile) this.start();
    else this.done = from;
  }

  start(): void {
    const { file } = this;
    if (!file) return;
    this.error = undefined;
    this.progress = 0;
    if (file.size > MOST_BYTES) {
      this.error = { code: "BODY_TOO_LARGE", message: w.attach.tooLarge };
      return;
    }
    this.settled = new Promise((resolve) => this.send(file, resolve));
  }

  /** Stops it. What is already there goes by itself after a day. */
  cancel(): void {
    this.request?.abort();
  }

  private send(file: File, settle: () => void): void {
    const request = new XMLHttpRequest();
    this.request = request;
    const fail = (error: Failure) => {
      this.error = error;
      settle();
    };
    request.open("POST", "/attachments");
    // As with every change: only a script of our own page can send this header.
    request.setRequestHeader("x-lares-csrf", "1");
    request.setRequestHeader("x-lares-name", encodeURIComponent(this.name));
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.onprogress = (event) => (this.progress = event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => fail({ code: "GATEWAY_DOWN", message: w.attach.cut });
    request.onabort = settle;
    request.onload = () => {
      const answer = readAnswer(request.responseText);
      if (request.status !== 201 || !answer) {
        return fail(answer?.error ?? { code: "INTERNAL", message: w.attach.status(request.status) });
      }
      this.progress = 1;
      this.done = answer;
      settle();
    };
    request.send(file);
  }
}

function readAnswer(text: string): (Attached & { error?: Failure }) | undefined {
  try {
    return JSON.parse(text) as Attached & { error?: Failure };
  } catch {
    return undefined;
  }
}
