/** Our refusals in the protocol's words. A bug's own words stay in the log. */
import { A2AError, RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type ErrorCode, toErrorShape } from "../../../core/domain/index.ts";
import { publicShape } from "../http.ts";
import type { GatewayParts } from "../ports.ts";

const KINDS: Partial<Record<ErrorCode, new (message: string) => A2AError>> = {
  NOT_FOUND: TaskNotFoundError,
  BAD_REQUEST: RequestMalformedError,
  BODY_TOO_LARGE: RequestMalformedError,
  CONFLICT: UnsupportedOperationError,
};

/** Every operation of the handler with its errors translated, those in the middle of a stream too. */
export function withWireErrors(parts: GatewayParts, handler: A2ARequestHandler): A2ARequestHandler {
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw toWireError(error, parts);
    }
  };
  const streamed = async function* <T>(work: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    try {
      yield* work;
    } catch (error) {
      throw toWireError(error, parts);
    }
  };
  return {
    ...handler,
    sendMessage: (request, context) => translated(() => handler.sendMessage(request, context)),
    sendMessageStream: (request, context) => streamed(handler.sendMessageStream(request, context)),
    resubscribe: (request, context) => streamed(handler.resubscribe(request, context)),
    getTask: (request, context) => translated(() => handler.getTask(request, context)),
    listTasks: (request, context) => translated(() => handler.listTasks(request, context)),
    cancelTask: (request, context) => translated(() => handler.cancelTask(request, context)),
  };
}

function toWireError(error: unknown, { redact, log }: Pick<GatewayParts, "redact" | "log">): unknown {
  if (error instanceof A2AError) return error;
  const shape = toErrorShape(error);
  if (shape.code === "INTERNAL")
    log.error("an A2A request broke", { error: error instanceof Error ? (error.stack ?? "") : String(error) });
  const { message } = publicShape(shape, redact);
  return new (KINDS[shape.code] ?? A2AError)(message);
}
