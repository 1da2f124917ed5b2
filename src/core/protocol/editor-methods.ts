/** Methods of a code editor's conversations (`lares acp`): each is about one folder, and a client may make it stricter. */
import { z } from "zod";
import { POLICY_MODES } from "../domain/index.ts";
import { method, withIdempotencyKey } from "./method.ts";
import { agentId, sessionKey } from "./shapes.ts";

const mode = z.enum(POLICY_MODES);
const place = z.object({
  session: z.string(),
  agent: z.string(),
  folder: z.string().describe("where relative paths and commands start; a real path on the gateway's machine"),
  mode: mode.describe("the policy's mode in this conversation"),
  modes: z.array(mode).describe("the modes it can have: none that lets more through than the agent's policy"),
  model: z.string().describe("the model asked first"),
  chosen: z.boolean().describe("the model was chosen for this conversation"),
});

export const EDITOR_METHODS = {
  // The folder must be one the agent may work in already: an editor can't give it more.
  "editor.open": method({
    in: z.strictObject({
      folder: z.string().min(1).max(4096).describe("inside the agent's workspace or one of its roots"),
      session: sessionKey.optional().describe("one that editor.open began; by default a new one"),
      agent: agentId.optional(),
      ...withIdempotencyKey,
    }),
    out: place,
    scope: "write",
    mutates: true,
    doc: "Begins a code editor's conversation in a folder, or goes on with one there.",
  }),
  "editor.tune": method({
    in: z.strictObject({
      session: sessionKey,
      mode: mode.optional(),
      model: z.string().min(1).max(256).nullable().optional().describe("null: the agent's own"),
      ...withIdempotencyKey,
    }),
    out: place,
    scope: "write",
    mutates: true,
    doc: "Sets the model of an editor's conversation, or its policy mode, which can only be stricter than the agent's.",
  }),
} as const;
