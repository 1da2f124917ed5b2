/** Why a connection failed, in words that a reader can do something with. The library's own words ("wrong version number") never show. */

const NO_WAY = "this machine has no route to it and may be offline";
const NOT_TRUSTED = "its certificate is not valid, so nothing was sent; trying again won't help";
const NO_TLS = "it doesn't speak TLS on that port";

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the host is there, but nothing is listening on that port",
  ECONNRESET: "it closed the connection; trying again may help",
  EPIPE: "it closed the connection; trying again may help",
  ETIMEDOUT: "it doesn't answer",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "no name server answers; this machine may be offline",
  ENETUNREACH: NO_WAY,
  EHOSTUNREACH: NO_WAY,
  EPROTO: NO_TLS,
};

/** Undefined where the code says nothing. */
export function socketWords({ code = "", message = "" }: { code?: string; message?: string }): string | undefined {
  if (Object.hasOwn(WHY, code)) return WHY[code];
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return NOT_TRUSTED;
  return /^ERR_SSL_|^ERR_TLS_/.test(code) || /:SSL routines:|\bSSL3?_/.test(message) ? NO_TLS : undefined;
}
