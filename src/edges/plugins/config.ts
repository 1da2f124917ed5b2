/** The slice `plugins` of the configuration. */
import { z } from "zod";
import { pluginName } from "./format/manifest.ts";

export const pluginsConfig = z
  .strictObject({
    config: z
      .record(pluginName, z.record(z.string(), z.unknown()))
      .default({})
      .describe("What each plugin is configured with, by its name. Example: {weather: {unit: celsius}}"),
    memoryMb: z.number().int().min(64).max(16_384).default(512).describe("Memory for each process of a plugin."),
    dataMb: z
      .number()
      .int()
      .min(1)
      .max(1_048_576)
      .default(1024)
      .describe("What each plugin may store in its data folder."),
    registry: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("The package registry that plugins named npm:NAME come from. Without it they can't be installed."),
  })
  .prefault({})
  .describe("Plugins: folders of others with skills, tools and hooks. See EXTENDING.md.");
