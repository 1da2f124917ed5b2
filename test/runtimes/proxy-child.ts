/** The program that a test kills: a proxy on a home, and one call through it whose answer never ends. `proxy-child.ts <home> <model>`. */
import { allProviders, call, FORMATS, openProxyWorld } from "./proxy-world.ts";

const [, , home, url] = process.argv as [string, string, string, string];
const { grant, holds } = await openProxyWorld({ home, models: allProviders(url) });
const { baseUrl, token } = await grant();
const answer = await call(baseUrl, FORMATS.anthropic(token, "tell me", true));
await answer.body!.getReader().read();
// On the disk, as everything is some milliseconds after it was written.
while ((await holds()).length === 0) await new Promise(setImmediate);
await new Promise((resolve) => setTimeout(resolve, 200));
process.send?.("streaming");
process.on("message", () => {});
