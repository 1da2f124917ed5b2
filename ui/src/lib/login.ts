/**
 * This browser's login: a cookie, which the browser sends by itself to every port of the host, and a proof, which only scripts of
 * this origin can read. The gateway wants both with every request. Read from the storage each time: another tab may have signed
 * in or out meanwhile.
 */
import { type Shown, shownHeaders } from "../../../src/core/protocol/client.ts";

/** The gateway's own login page (src/faces/gateway/static/pages.ts) writes under the same name. */
const KEY = "lares.proof";

export function shown(): Shown {
  try {
    const proof = localStorage.getItem(KEY);
    return proof ? { proof } : {};
  } catch {
    return {};
  }
}

/** For requests that go by themselves, besides the wire. */
export const loginHeaders = (): Record<string, string> => shownHeaders(shown());

/** False: this browser does not let pages store anything. */
export function keepProof(proof: string): boolean {
  try {
    localStorage.setItem(KEY, proof);
    return true;
  } catch {
    return false;
  }
}

export function forgetProof(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}

/** Calls back when another tab signs in. */
export function onSignedInElsewhere(then: () => void): () => void {
  const heard = (event: StorageEvent) => {
    if (event.key === KEY && event.newValue) then();
  };
  addEventListener("storage", heard);
  return () => removeEventListener("storage", heard);
}
