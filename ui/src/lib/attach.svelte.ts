/**
 * Files on their way to Lares: sent at once when they are chosen, named by the message later. XMLHttpRequest, because `fetch`
 * does not tell how far an upload is.
 */

import type { Attached } from "./attached.ts";
import type { Failure } from "./client.ts";
import { newKey } from "./client.ts";
import { loginHeaders } from "./login.ts";
import { w } from "./words.ts";

/** As the gateway has them: said here before anything is sent. */
export const MOST_FILES = 8;
const MOST_BYTES = 20 * 1_048_576;

/**
 * The bytes of a file, as an address that only this page can use. An `<img src="/attachments/…">` would send the cookie without
 * its proof. The caller revokes it.
 */
async function attachmentUrl(id: string): Promise<string | undefined> {
  const answer = await fetch(`/attachments/${id}`, { headers: loginHeaders() }).catch(() => undefined);
  return answer?.ok ? URL.createObjectURL(await answer.blob()) : undefined;
}

/** A picture for an `<img>`: fetched once it comes near the screen, let go with the element. */
export function shownPicture(id: string, gone: () => void): (img: HTMLImageElement) => () => void {
  return (img) => {
    let url: string | undefined;
    let over = false;
    const near = new IntersectionObserver(
      async ([entry]) => {
        if (!entry?.isIntersecting) return;
        near.disconnect();
        url = await attachmentUrl(id);
        if (over) return url && URL.revokeObjectURL(url);
        if (url) img.src = url;
        else gone();
      },
      { rootMargin: "600px" },
    );
    near.observe(img);
    return () => {
      over = true;
      near.disconnect();
      if (url) URL.revokeObjectURL(url);
    };
  };
}

/** Long enough for a browser to have started on it. */
const HAND_OVER_MS = 60_000;

/** Opens a picture in a separate tab, or saves another file. */
export async function openAttachment(file: Attached, gone: () => void): Promise<void> {
  const url = await attachmentUrl(file.id);
  if (!url) return gone();
  const link = document.createElement("a");
  link.href = url;
  // Only pictures, known by their bytes, are shown: a page from a file would be a page of ours.
  if (file.kind === "image") Object.assign(link, { target: "_blank", rel: "noopener" });
  else link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), HAND_OVER_MS);
}

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
    for (const [name, value] of Object.entries(loginHeaders())) request.setRequestHeader(name, value);
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
