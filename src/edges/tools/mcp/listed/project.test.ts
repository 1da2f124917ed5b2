import { test } from "vitest";
import { expectLinear } from "../../../../../test/support/growth.ts";
import { projectSchema } from "./project.ts";

test("a chain of references that many fields follow takes linear time at most (MC-17, MCP-31)", () => {
  const times = <T>(count: number, make: (n: number) => [string, T]) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => make(n)));
  expectLinear((size) => {
    const chain = times(size, (n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]);
    const properties = times(size / 4, (n) => [`p${n}`, { $ref: "#/$defs/d0" }]);
    projectSchema({ type: "object", properties, $defs: { ...chain, [`d${size}`]: { type: "string" } } });
  }, 1600);
});
