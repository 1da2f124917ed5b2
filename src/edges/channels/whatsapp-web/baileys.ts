/** The real library behind `Library`. Loaded when an account connects, from where `lares channels add` installed it. */
import type { Library, Socket, WebMessage } from "./library.ts";

type Loose = Record<string, unknown>;
type Quiet = { level: string; child(): Quiet } & Record<string, unknown>;

export function fromBaileys(loaded: unknown): Library {
  const lib = loaded as {
    makeWASocket(options: Loose): Socket;
    initAuthCreds(): Loose;
    downloadMediaMessage(
      message: WebMessage,
      as: "stream",
      options: Loose,
      more: Loose,
    ): Promise<AsyncIterable<Uint8Array>>;
    proto: { Message: { AppStateSyncKeyData: { fromObject(value: unknown): unknown } } };
  };
  const logger = quiet();
  return {
    connect: (options) =>
      lib.makeWASocket({
        ...options,
        logger,
        // The phone goes on showing notifications, and what was said before isn't ours to answer.
        markOnlineOnConnect: false,
        syncFullHistory: false,
        shouldSyncHistoryMessage: () => false,
        generateHighQualityLinkPreview: false,
      }),
    newCredentials: () => lib.initAuthCreds(),
    revive: (type, value) =>
      type === "app-state-sync-key" && value ? lib.proto.Message.AppStateSyncKeyData.fromObject(value) : value,
    download: (message, socket) =>
      lib.downloadMediaMessage(message, "stream", {}, { logger, reuploadRequest: socket.updateMediaMessage }),
  };
}

/** Silent, because the library would log keys and the texts of messages. */
function quiet(): Quiet {
  const nothing = () => {};
  const logger: Quiet = { level: "silent", child: () => logger };
  for (const level of ["trace", "debug", "info", "warn", "error", "fatal"]) logger[level] = nothing;
  return logger;
}
