/** `lares agents`: who can be talked to. */

import { defined } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, bytes, plural } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";
import { agentWords as words } from "../words/talk.ts";

type Agent = Result<"agents.get">;

export const list: Action = async ({ rpc, out }) => {
  const { agents } = await rpc.call("agents.list", {});
  out.items(agents);
  out.say(
    agents.length ? `${plural(agents.length, "agent")}.` : words.none(out.hint),
    ...table(
      agents.map((a) => [
        a.isDefault ? out.paint("●", "ok") : " ",
        a.agent,
        a.model ?? words.defaultModel,
        words.policy(a.policy),
        plural(a.sessions, "conversation"),
      ]),
      "  ",
    ),
  );
  if (agents.some((a) => a.isDefault)) out.note(words.defaultMark);
  return EXIT.done;
};

export const get: Action = async ({ rpc, out, clock, home }, [agent = ""]) => {
  const a = await rpc.call("agents.get", { agent });
  out.document(a);
  out.say(words.one(a.agent, a.isDefault, a.sessions));
  out.say(...table(facts(a), "  "));
  const files = a.files.map((f) => [f.name, bytes(f.bytes), ago(f.changedAt, clock.now())]);
  out.say(...(files.length ? ["", ...table(files, "  ")] : []));
  out.note(words.files(home, a.agent));
  return EXIT.done;
};

export const create: Action = async (ctx, [agent = ""]) => {
  const { rpc, out, options } = ctx;
  const soul = options.soul === undefined ? undefined : await readGiven(options.soul, ctx.ports.stdin, ctx.out.note);
  const a = await rpc.call("agents.create", { agent, ...defined({ soul }) });
  out.document(a);
  out.say(words.created(out.hint, a.agent), ...table(facts(a), "  "));
  return EXIT.done;
};

function facts(a: Agent): string[][] {
  return [
    ["model", a.model ?? words.theDefault],
    ["policy", a.policy],
  ];
}
