/** `lares dashboard`: a link that signs a browser in, good once. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clockTime } from "../format.ts";
import { gatewayWords as words } from "../words/run.ts";

export const dashboard: Action = async ({ rpc, out }) => {
  const { url, expiresAt } = await rpc.call("login.code", {});
  out.document({ url, expiresAt });
  out.say(url);
  out.note(words.openLink(clockTime(expiresAt).slice(0, 5)));
  return EXIT.done;
};
