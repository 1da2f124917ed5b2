/** A file of the web for Lares itself, through the same guard as everything else. */
import { AppError } from "../../../core/domain/index.ts";
import { createReach } from "./reach.ts";
import { createStreamFetch } from "./stream.ts";

const MOST_REDIRECTS = 5;
const MOST_MS = 120_000;

export interface DownloadRules {
  /** An address the owner named: its host may be private. */
  named?: string;
}

/** Follows redirects, each judged like the first address. Throws when the answer isn't a file or has more than `most` bytes. */
async function downloadBytes(url: string, most: number, { named }: DownloadRules = {}): Promise<Buffer> {
  const mayReach = reachNamed(named);
  const fetch = createStreamFetch({ mayReach });
  const signal = AbortSignal.timeout(MOST_MS);
  let at = createReach({ mayReach }).check(url);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const response = await fetch(at, { signal });
    const to = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && to !== null) {
      await response.body?.cancel();
      at = new URL(to, at);
      continue;
    }
    if (response.status !== 200) throw failed(at, `it answered ${response.status}`);
    return await readAll(response, most, at);
  }
  throw failed(at, "it redirects too often");
}

/** For programs that open it themselves. Throws for an address that may not be tried at all. */
function checkAddress(url: string, { named }: DownloadRules = {}): URL {
  return createReach({ mayReach: reachNamed(named) }).check(url);
}

function reachNamed(named: string | undefined): (host: string) => boolean {
  const own = named === undefined ? undefined : new URL(named);
  return (host) => own !== undefined && host === own.hostname;
}

/** Both, for rooms that get files of the web. */
export const ownDownloads = { download: downloadBytes, check: checkAddress };

async function readAll(response: Response, most: number, at: URL): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > most) throw failed(at, `it has more than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function failed({ origin, pathname }: URL, why: string): AppError {
  return new AppError("BAD_REQUEST", { message: `${origin}${pathname} can't be downloaded: ${why}.`, retry: "later" });
}
