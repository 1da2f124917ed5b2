import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";

const NOT_FETCHED = "Not fetched: ";

/** The far side did not do its part: no answer, half an answer, an answer that makes no sense. */
export function failed(what: string, cause?: unknown): AppError {
  return new AppError("NOT_READY", { message: `${NOT_FETCHED}${what}.`, retry: "later", cause });
}

/** There was no connection, so the far side got nothing of the request. */
export class NeverSent extends AppError {
  constructor(why: AppError) {
    const { code, message, hint, retry, origin } = why;
    super(code, { message, retry, cause: why, ...defined({ hint, origin }) });
  }
}

/** As the end of a sentence of the caller's. */
export function whyFailed({ message }: Error): string {
  const text = message.startsWith(NOT_FETCHED) ? message.slice(NOT_FETCHED.length) : message;
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
