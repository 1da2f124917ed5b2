/**
 * `lares secrets`: what commands need and nobody sees. A value is typed without being shown or comes from stdin, never from an
 * argument: those are kept in the shell's history and can be read by every process.
 */
import { isVariableName, NOT_A_SECRET_NAME, SECRET_NAME_HINT } from "../../../core/domain/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine } from "../format.ts";
import { Asker, Interrupted } from "../onboard/ask.ts";
import { table } from "../output.ts";
import { readAll } from "../read-all.ts";
import { commonWords } from "../words/common.ts";
import { secretWords as words } from "../words/set-up.ts";
import { reportDeclined } from "./sessions.ts";

export const list: Action = async ({ rpc, out, clock }) => {
  const { secrets, missing, where } = await rpc.call("secrets.list", {});
  out.items([
    ...secrets.map((one) => ({ kind: "secret", ...one })),
    ...missing.map((one) => ({ kind: "missing", ...one })),
  ]);
  const now = clock.now();
  const given = (agents: readonly string[]) =>
    agents.length ? words.forAgents(agents.map(oneLine).join(", ")) : words.forNoAgent;
  out.say(
    words.some(secrets.length),
    ...table(
      [
        ...secrets.map((one) => [one.name, given(one.agents), words.set(ago(one.setAt, now))]),
        ...missing.map((one) => [oneLine(one.name), given(one.agents), words.notInVault]),
      ],
      "  ",
    ),
  );
  out.note(out.ours(oneLine(where)));
  return EXIT.done;
};

export const set: Action = async (ctx, [name = ""]) => {
  const { rpc, out } = ctx;
  // Before a value is asked for: nobody should type a secret into a command that is bound to fail.
  if (!isVariableName(name)) throw usage(NOT_A_SECRET_NAME, SECRET_NAME_HINT);
  const value = await hidden(ctx, name);
  if (value === undefined) {
    out.note(commonWords.nothingChanged);
    return EXIT.interrupted;
  }
  if (!value) throw usage(words.noValue, words.noValueHint(name));
  const done = await rpc.call("secrets.set", { name, value });
  out.document(done);
  out.say(words.stored(done.name, done.replaced));
  out.note(out.ours(oneLine(done.where)), words.toGrant(out.hint, done.name));
  return EXIT.done;
};

export const remove: Action = async (ctx, [name = ""]) => {
  if (!(await confirmed(ctx, words.removeQuestion(oneLine(name))))) return reportDeclined(ctx);
  const done = await ctx.rpc.call("secrets.remove", { name });
  ctx.out.document(done);
  const from = done.agents.length ? words.noLongerGet(done.agents.map(oneLine).join(", "), done.agents.length) : "";
  ctx.out.say(done.removed ? words.removed(oneLine(name), from) : words.wasNotThere(oneLine(name), from));
  return done.removed ? EXIT.done : EXIT.notFound;
};

export const grant: Action = async ({ rpc, out }, [name = "", agent = ""]) => {
  const done = await rpc.call("secrets.grant", { name, agent });
  out.document(done);
  out.say(words.granted(done.agents.map(oneLine).join(", "), done.name));
  return EXIT.done;
};

export const revoke: Action = async ({ rpc, out }, [name = "", agent = ""]) => {
  const done = await rpc.call("secrets.revoke", { name, agent });
  out.document(done);
  const others = done.agents.length ? words.stillGranted(done.agents.map(oneLine).join(", ")) : words.noneLeft;
  out.say(words.revoked(oneLine(agent), oneLine(name), others));
  return EXIT.done;
};

export const keyring: Action = async ({ rpc, out }, [state]) => {
  if (state !== undefined && state !== "on" && state !== "off") throw usage(words.onOrOff(state));
  const { where } =
    state === undefined
      ? await rpc.call("secrets.list", {})
      : await rpc.call("secrets.keyring", { use: state === "on" });
  out.document({ where });
  out.say(out.ours(oneLine(where)));
  return EXIT.done;
};

async function hidden(ctx: Context, name: string): Promise<string | undefined> {
  // One line end at the end belongs to the file, not to the secret.
  return ctx.canAsk ? askSecret(ctx, words.ask(oneLine(name))) : (await readAll(ctx.ports.stdin)).replace(/\r?\n$/, "");
}

/** In a terminal only. `undefined`: the person stopped. */
export async function askSecret(ctx: Context, question: string): Promise<string | undefined> {
  const { stdin, stderr } = ctx.ports;
  const asker = new Asker(stdin, stderr);
  const off = ctx.onSignal("SIGINT", () => asker.interrupt());
  try {
    return await asker.secret(question);
  } catch (error) {
    if (error instanceof Interrupted) return undefined;
    throw error;
  } finally {
    off();
    asker.close();
  }
}
