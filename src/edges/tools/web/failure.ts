import { AppError } from "../../../core/domain/index.ts";

/** The far side did not do its part: no answer, half an answer, an answer that makes no sense. */
export function failed(what: string, cause?: unknown): AppError {
  return new AppError("NOT_READY", { message: `Not fetched: ${what}.`, retry: "later", cause });
}
