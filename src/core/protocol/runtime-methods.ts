/** Methods about programs that can be an agent's body. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const name = z.string().min(1).max(100).describe("as in agents.<id>.runtime");

const skill = z.object({
  skill: z.string(),
  proof: z
    .enum(["proven", "claimed", "absent"])
    .describe("proven: Lares saw it work, with this version on this machine"),
  text: z.string(),
  note: z.string().optional(),
});

const runtime = z.object({
  name: z.string(),
  title: z.string(),
  state: z.enum(["ready", "needs-login", "missing", "broken"]),
  version: z.string().optional(),
  fix: z.string().optional().describe("what to do where it isn't ready"),
  program: z.string().optional().describe("where it is"),
  ours: z.boolean().optional().describe("installed by runtimes.install"),
  package: z.string().optional().describe("the npm package that runtimes.install takes"),
  script: z.string().optional().describe("the script of that package that has to run"),
  skills: z.array(skill),
  triedAt: z.number().optional().describe("when runtimes.probe saw this version at work here"),
  lacks: z.array(z.string()).describe("what a run here has to do without"),
  refused: z.string().optional().describe("why no run would start"),
  boundary: z.string().optional().describe("what is around a run here"),
  agents: z.array(z.string()).describe("whose body it is"),
});

export const RUNTIME_METHODS = {
  "runtimes.list": method({
    in: nothing,
    out: z.object({ runtimes: z.array(runtime) }),
    scope: "read",
    mutates: false,
    doc: "Programs that can be an agent's body: what is here, what it can do and how that is known, what it lacks. Asks each for its version and starts no run.",
  }),
  "runtimes.probe": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({
      runtime,
      seen: z.array(z.object({ skill: z.string(), worked: z.boolean(), note: z.string().optional() })),
    }),
    scope: "admin",
    mutates: true,
    doc: "Runs a runtime on a scripted model, which costs nothing, and records what was seen to work. Can take minutes.",
  }),
  "runtimes.install": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({
      version: z.string(),
      program: z.string(),
      script: z.string().optional().describe("the script of its package that had to run"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Installs a runtime's npm package into the home, and checks that its program starts. Scripts of packages don't run, except the one that the program needs.",
  }),
  "runtimes.login": method({
    in: z.strictObject({ name, agent: z.string().min(1).max(64).optional() }),
    out: z.object({ needed: z.boolean(), text: z.string(), command: z.string().optional() }),
    scope: "admin",
    mutates: false,
    doc: "Whether a runtime has to be logged in, and with which of its commands.",
  }),
  "runtimes.doctor": method({
    in: z.strictObject({ name: name.optional() }),
    out: z.object({
      runtimes: z.array(z.object({ name: z.string(), title: z.string(), problems: z.array(z.string()) })),
    }),
    scope: "read",
    mutates: false,
    doc: "What keeps a runtime from working here; without a name, those that agents have as their body.",
  }),
  "runtimes.runs": method({
    in: z.strictObject({ open: z.boolean().optional(), limit: z.number().int().min(1).max(200).optional() }),
    out: z.object({
      runs: z.array(
        z.object({
          turn: z.string(),
          session: z.string(),
          agent: z.string(),
          runtime: z.string(),
          attempt: z.number(),
          at: z.number(),
          endedAt: z.number().optional(),
          lacks: z.array(z.string()),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "Turns that another program carries out or carried out, newest first.",
  }),
} as const;
