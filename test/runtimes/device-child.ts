/** The Lares that is killed while it makes device keys, one folder after the other. `device-child.ts <dir>`: says each key's id. */
import { join } from "node:path";
import { openDevice } from "../../src/edges/runtimes/openclaw/device.ts";

for (let i = 0; ; i++) process.send?.(`${i} ${(await openDevice(join(process.argv[2]!, String(i)))).id}`);
