/** A model proxy in a process of its own, for its memory. `proxy-stream-child.ts <home> <provider>`: says where its door is. */
import { allProviders, openProxyWorld } from "../runtimes/proxy-world.ts";

const [, , home, url] = process.argv as [string, string, string, string];
const { grant } = await openProxyWorld({
  home,
  models: allProviders(url),
  budgets: { perDay: { dollars: 1_000_000_000 } },
});
const { baseUrl, token } = await grant();
process.send?.({ baseUrl, token });
process.on("disconnect", () => process.exit());
