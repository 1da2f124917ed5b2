/** arguments → config → app.start() → wait for a signal → app.stop(). Loads only what the command needs. */
import { readFileSync } from "node:fs";
import { readEnvironment } from "./ground/config/index.ts";

const version = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;
const env = readEnvironment();
const args = process.argv.slice(2);
const at = (flag: string) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const { startApp } = await import("./app/index.ts");
const app = await startApp({ env, home: at("--home") ?? env.home, version, ...(at("--port") ? { port: Number(at("--port")) } : {}) });
console.log(app.url, app.model);
process.on("SIGTERM", () => void app.stop().then(() => process.exit(0)));
