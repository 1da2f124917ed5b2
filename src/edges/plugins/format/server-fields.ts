/** Fields that a plugin's own code and the servers of its `mcp.json` share. */
import { z } from "zod";
import { steersPrograms } from "../../../core/kit/index.ts";

/** One token: a bare name that is looked up, or a file of the plugin's own. */
export const programToken = z
  .string()
  .min(1)
  .max(4096)
  .refine((command) => !/[\s\0]/.test(command), "must be one word; arguments belong into args")
  .refine(
    (command) => (command.startsWith("./") ? staysInside(command) : !/[\\/]/.test(command)),
    "must be a bare program name, or begin with ./ and stay in the plugin",
  );

export const argument = z.string().max(16_384);

export const variables = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "isn't a variable's name"), argument)
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (name === "PLUGIN_ROOT" || name === "PLUGIN_DATA")
        context.addIssue({ code: "custom", message: `${name} is set by Lares` });
      else if (steersPrograms(name))
        context.addIssue({
          code: "custom",
          message: `${name} changes which code a program runs, so no plugin sets it`,
        });
    }
  });

/** By its letters; what links lead to is looked at when the files are there. */
export function staysInside(path: string): boolean {
  let depth = 0;
  for (const name of path.split(/[\\/]/)) {
    if (name === "..") depth--;
    else if (name !== "." && name !== "") depth++;
    if (depth < 0) return false;
  }
  return true;
}

/** The two places a plugin may name, in one pass: what is put in isn't looked at again. */
export function expandPlaces(given: string, places: { root: string; data: string }): string {
  return given.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_all, which) => (which === "ROOT" ? places.root : places.data));
}
