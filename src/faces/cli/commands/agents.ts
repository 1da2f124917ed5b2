/** `lares agents`: who can be talked to. */

import { defined } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, bytes, plural } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";

type Agent = Result<"agents.get">;

export const list: Action = async ({ rpc, out }) => {
  const { agents } = await rpc.call("agents.list", {});
  out.items(agents);
  out.say(
    agents.length
      ? `${plural(agents.length, "agent")}.`
      : out.hint`No agents yet. Create one: lares agents create NAME`,
    ...table(
      agents.map((a) => [
        a.isDefault ? out.paint("●", "ok") : " ",
        a.agent,
        a.model ?? "the default model",
        `policy ${a.policy}`,
        plural(a.sessions, "conversation"),
      ]),
      "  ",
    ),
  );
  if (agents.some((a) => a.isDefault)) out.note("● is the default agent.");
  return EXIT.done;
};

export const get: Action = async ({ rpc, out, clock, home }, [agent = ""]) => {
  const a = await rpc.call("agents.get", { agent });
  out.document(a);
  out.say(`${a.agent}${a.isDefault ? ", the default agent" : ""}: ${plural(a.sessions, "conversation")}.`);
  out.say(...table(facts(a), "  "));
  const files = a.files.map((f) => [f.name, bytes(f.bytes), ago(f.changedAt, clock.now())]);
  out.say(...(files.length ? ["", ...table(files, "  ")] : []));
  out.note(`Its files are in ${home}/agents/${a.agent}.`);
  return EXIT.done;
};

export const create: Action = async (ctx, [agent = ""]) => {
  const { rpc, out, options } = ctx;
  const soul = options.soul === undefined ? undefined : await readGiven(options.soul, ctx.ports.stdin, ctx.out.note);
  const a = await rpc.call("agents.create", { agent, ...defined({ soul }) });
  out.document(a);
  out.say(out.hint`Created ${a.agent}. Talk to it: lares chat --agent ${a.agent}`, ...table(facts(a), "  "));
  return EXIT.done;
};

function facts(a: Agent): string[][] {
  return [
    ["model", a.model ?? "the default"],
    ["policy", a.policy],
  ];
}
