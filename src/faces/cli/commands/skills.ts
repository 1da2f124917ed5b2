/** `lares skills`: what an agent can read up on, and what is wrong with the rest. */

import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { bytes } from "../format.ts";
import { table } from "../output.ts";
import { skillWords as words } from "../words/set-up.ts";

type Skill = Result<"skills.list">["skills"][number];

export const list: Action = async ({ rpc, out, home, options }) => {
  const { agent, skills } = await rpc.call("skills.list", options.agent ? { agent: options.agent } : {});
  out.items(skills);
  const ready = skills.filter((one) => one.state === "ready");
  const others = skills.filter((one) => one.state !== "ready");
  out.say(
    skills.length ? words.some(ready.length, agent, others.length) : none(home, agent),
    ...table(
      [...ready, ...others].map((one) => [
        mark(one, out),
        one.name,
        source(one),
        one.why ? out.ours(one.why) : short(one.description),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const show: Action = async ({ rpc, out, options }, [name = ""]) => {
  const one = await rpc.call("skills.get", {
    name,
    ...truthy({ agent: options.agent, file: options.file }),
  });
  out.document(one);
  if (options.file) {
    // Somebody's file, verbatim: commands in it are not ours to rename.
    if (!out.json) out.raw(`${one.text.trimEnd()}\n`);
    return EXIT.done;
  }
  const facts = [
    ["state", one.why ? `${one.state}: ${out.ours(one.why)}` : one.state],
    ["from", source(one)],
    ["text", one.state === "unusable" ? undefined : showTrust(one)],
    ["folder", one.folder],
    ["license", one.license],
    ["needs", one.compatibility],
    ["tools", one.allowedTools?.join(", ")],
  ].filter((fact): fact is [string, string] => fact[1] !== undefined);
  out.say(`${one.name}${one.description ? `: ${one.description}` : ""}`, ...table(facts, "  "));
  if (one.files.length)
    out.say(
      "",
      ...table(
        one.files.map((file) => [file.path, bytes(file.bytes)]),
        "  ",
      ),
    );
  if (one.text && !out.json) out.raw(`\n${one.text.trimEnd()}\n`);
  for (const note of one.notes) out.note(note);
  return EXIT.done;
};

function mark({ state }: Skill, out: Context["out"]): string {
  if (state === "ready") return out.paint("✓", "ok");
  return state === "unusable" ? out.paint("✕", "fail") : "–";
}

function source({ of, imported }: Pick<Skill, "of" | "imported">): string {
  return words.source(of, imported);
}

function showTrust({ own }: { own: boolean }): string {
  return own ? words.yours : words.outside;
}

function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function none(home: string, agent: string): string {
  return words.none(home, agent);
}
