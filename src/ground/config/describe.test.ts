import { expect, test } from "vitest";
import { z } from "zod";
import { configSchemaJson, defineConfig, explain } from "./index.ts";

const schema = defineConfig({
  gateway: z.object({
    port: z.int().default(7717).describe("The port to listen on."),
    wait: z.number().describe("Seconds a caller waits.").meta({ example: 30 }).default(120),
    origins: z.array(z.string()).default([]).describe("Pages that may call."),
  }),
  agents: z
    .record(z.string(), z.object({ mode: z.enum(["ask", "record"]).optional().describe("How it acts.") }))
    .default({})
    .describe("Agents by name."),
  mail: z.object({ server: z.string().describe("Where mail is fetched.") }).optional(),
});

test("each key is told with type, default, sentence and example", () => {
  expect(explain(schema)).toEqual([
    { key: "gateway.port", type: "whole number", default: 7717, required: false, sentence: "The port to listen on." },
    {
      key: "gateway.wait",
      type: "number",
      default: 120,
      required: false,
      sentence: "Seconds a caller waits.",
      example: 30,
    },
    { key: "gateway.origins", type: "list of text", default: [], required: false, sentence: "Pages that may call." },
    { key: "agents", type: "map of names to section", default: {}, required: false, sentence: "Agents by name." },
    { key: "agents.<name>.mode", type: "one of ask, record", required: false, sentence: "How it acts." },
    { key: "mail.server", type: "text", required: true, sentence: "Where mail is fetched." },
  ]);
});

test("the JSON Schema is closed and has the descriptions", async () => {
  const json = await configSchemaJson(schema);
  expect(json).toMatchObject({
    type: "object",
    additionalProperties: false,
    properties: {
      gateway: {
        additionalProperties: false,
        properties: { port: { type: "integer", default: 7717, description: "The port to listen on." } },
      },
      agents: { additionalProperties: { properties: { mode: { enum: ["ask", "record"] } } } },
    },
  });
  expect(JSON.stringify(json)).not.toContain('"required":["port"');
});

test("a slice cannot have a name that reaches into JavaScript", () => {
  expect(() => defineConfig({ constructor: z.object({}) })).toThrow("constructor");
});
