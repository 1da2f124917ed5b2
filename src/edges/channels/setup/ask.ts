/** Asks a platform who we are there. */
import type { Channel } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";

export type AccountAsked = Awaited<ReturnType<Channel["check"]>>;

/** A person waits for it. */
const PATIENCE_MS = 15_000;

/** A host that takes the connection and then says nothing is named, not waited for. */
export async function askAccount(title: string, open: () => Promise<Channel>): Promise<AccountAsked> {
  const within = AbortSignal.timeout(PATIENCE_MS);
  const silent = () =>
    new AppError("CHANNEL_SEND", {
      message: `${title} did not answer within ${PATIENCE_MS / 1000} seconds.`,
      hint: "Check the address and the network between, then try again.",
      retry: "later",
    });
  // Not every library listens to the signal.
  const late = new Promise<never>((_, reject) =>
    within.addEventListener("abort", () => reject(silent()), { once: true }),
  );
  late.catch(() => {});
  try {
    return await Promise.race([open().then((one) => one.check(within)), late]);
  } catch (error) {
    throw within.aborted ? silent() : error;
  }
}
