/**
 * The suite every engine passes (DESIGN §4, §16). It knows the port and nothing of what is underneath: an engine comes with a
 * factory that opens it on a directory, here or in a child process that can be killed. See engine/world.ts.
 */
import { describe } from "vitest";
import { killContract } from "./engine/kill.ts";
import { orderContract } from "./engine/order.ts";
import { parkContract } from "./engine/park.ts";
import { stepContract } from "./engine/steps.ts";
import { timeContract } from "./engine/time.ts";
import type { EngineFactory } from "./engine/world.ts";

export { propertyContract } from "./engine/property.ts";
export type { EngineFactory, Opened, OpenParts } from "./engine/world.ts";

export function engineContract(name: string, factory: EngineFactory): void {
  describe(`the ${name} engine`, () => {
    orderContract(factory);
    stepContract(factory);
    parkContract(factory);
    timeContract(factory);
    killContract(factory);
  });
}
