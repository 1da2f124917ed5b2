import { expect, test } from "vitest";
import { stateWords } from "./words.ts";

test.each([
  [{ tool: "schedule_add", changes: "schedule" }, "add a schedule"],
  [{ tool: "memory_forget" }, "delete memories"],
  [{ tool: "mcp_x", changes: "rights" }, "change who is allowed to do what"],
  [{ tool: "constructor" }, "change something Lares stores"],
] as const)("%j would %s", (plan, words) => expect(stateWords(plan)).toBe(words));
