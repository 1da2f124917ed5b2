/** `lares runtimes`: programs that can be an agent's body. */
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine } from "../format.ts";
import { type Output, table } from "../output.ts";
import { runtimeWords as words } from "../words/talk.ts";

type Runtime = Result<"runtimes.list">["runtimes"][number];

export const list: Action = async ({ rpc, out }) => {
  const { runtimes } = await rpc.call("runtimes.list", {});
  out.document({ runtimes });
  const ready = runtimes.filter(({ state }) => state === "ready");
  out.say(words.some(ready.length, runtimes.length), ...table(runtimes.map(row), "  "));
  for (const { title, fix, refused } of runtimes.filter(({ agents }) => agents.length > 0))
    if (fix ?? refused) out.note(words.wrong(oneLine(title), oneLine(fix ?? refused ?? "")));
  const untried = ready.find(({ triedAt }) => triedAt === undefined);
  if (untried) out.note(words.tryOne(out.hint, untried.name));
  return EXIT.done;
};

function row({ name, state, version, triedAt, agents }: Runtime): string[] {
  const tried = triedAt === undefined ? words.notTried : words.tried;
  return [
    name,
    words.states[state],
    oneLine(version ?? ""),
    state === "ready" ? tried : "",
    agents.length > 0 ? words.bodyOf(agents.map(oneLine)) : "",
  ];
}

export const probe: Action = async ({ rpc, out }, [name = ""]) => {
  out.note(words.trying(oneLine(name)));
  const done = await rpc.call("runtimes.probe", { name });
  out.document(done);
  const { runtime, seen } = done;
  const worked = seen.filter((one) => one.worked).length;
  out.say(words.seen(oneLine(runtime.title), oneLine(runtime.version ?? ""), worked, seen.length));
  out.say(...table(runtime.skills.map(skillRow), "  "));
  sayLacks(out, runtime);
  return worked === seen.length ? EXIT.done : EXIT.failed;
};

function skillRow({ proof, text, note }: Runtime["skills"][number]): string[] {
  const marks = { proven: "✓", claimed: "·", absent: "–" };
  const known = { proven: "", claimed: words.claimed, absent: words.absent };
  return [marks[proof], text, oneLine(note ?? known[proof])];
}

function sayLacks(out: Output, { lacks, refused }: Runtime): void {
  const sentences = refused === undefined ? lacks : [refused];
  if (sentences.length > 0) out.say(words.lacks, ...sentences.map((one) => `  ${oneLine(one)}`));
}

export const install: Action = async ({ rpc, out }, [name = ""]) => {
  out.note(words.installing(oneLine(name)));
  const done = await rpc.call("runtimes.install", { name });
  out.document(done);
  out.say(words.installed(oneLine(name), oneLine(done.version)), words.at(oneLine(done.program)));
  out.note(done.script === undefined ? words.noScript : words.ranScript(oneLine(done.script)));
  out.note(words.tryOne(out.hint, oneLine(name)));
  return EXIT.done;
};

export const login: Action = async ({ rpc, out, options }, [name = ""]) => {
  const agent = typeof options.agent === "string" ? options.agent : "";
  const done = await rpc.call("runtimes.login", { name, ...truthy({ agent }) });
  out.document(done);
  out.say(oneLine(done.text));
  if (done.command !== undefined) out.say(oneLine(done.command));
  return EXIT.done;
};

export const doctor: Action = async ({ rpc, out }, [name = ""]) => {
  const { runtimes } = await rpc.call("runtimes.doctor", truthy({ name }));
  out.document({ runtimes });
  if (runtimes.length === 0) {
    out.say(words.noneUsed);
    out.note(words.checkOne(out.hint));
  }
  for (const { title, problems } of runtimes) {
    if (problems.length === 0) out.say(words.fine(oneLine(title)));
    for (const problem of problems) out.say(words.wrong(oneLine(title), oneLine(problem)));
  }
  return runtimes.every(({ problems }) => problems.length === 0) ? EXIT.done : EXIT.failed;
};
