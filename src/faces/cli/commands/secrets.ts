/**
 * `lares secrets`: what commands need and nobody sees. A value is typed without being shown or comes from stdin, never from an
 * argument: those are kept in the shell's history and can be read by every process.
 */
import { isVariableName, NOT_A_SECRET_NAME, SECRET_NAME_HINT } from "../../../core/domain/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { Asker, Interrupted } from "../onboard/ask.ts";
import { table } from "../output.ts";
import { readAll } from "../read-all.ts";

export const list: Action = async ({ rpc, out, clock }) => {
  const { secrets, missing, where } = await rpc.call("secrets.list", {});
  out.items([
    ...secrets.map((one) => ({ kind: "secret", ...one })),
    ...missing.map((one) => ({ kind: "missing", ...one })),
  ]);
  const now = clock.now();
  const given = (agents: readonly string[]) =>
    agents.length ? `for ${agents.map(oneLine).join(", ")}` : "for no agent";
  out.say(
    `${plural(secrets.length, "secret")} in the vault.`,
    ...table(
      [
        ...secrets.map((one) => [one.name, given(one.agents), `set ${ago(one.setAt, now)}`]),
        ...missing.map((one) => [oneLine(one.name), given(one.agents), "granted, but not in the vault"]),
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
    out.note("Nothing was changed.");
    return EXIT.interrupted;
  }
  if (!value) throw usage("No value was given.", `Type it when asked, or: lares secrets set ${name} < FILE`);
  const done = await rpc.call("secrets.set", { name, value });
  out.document(done);
  out.say(`${done.name} ${done.replaced ? "has a new value" : "is now in the vault"}.`);
  out.note(
    out.ours(oneLine(done.where)),
    out.hint`To let an agent's commands use it: lares secrets grant ${done.name} AGENT`,
  );
  return EXIT.done;
};

export const remove: Action = async (ctx, [name = ""]) => {
  if (!(await confirmed(ctx, `Remove ${oneLine(name)} from the vault? Its value can't be recovered.`)))
    return EXIT.declined;
  const done = await ctx.rpc.call("secrets.remove", { name });
  ctx.out.document(done);
  const from = done.agents.length
    ? ` ${done.agents.map(oneLine).join(", ")} no longer ${done.agents.length === 1 ? "gets" : "get"} it.`
    : "";
  ctx.out.say(done.removed ? `Removed ${oneLine(name)}.${from}` : `${oneLine(name)} wasn't in the vault.${from}`);
  return done.removed ? EXIT.done : EXIT.notFound;
};

export const grant: Action = async ({ rpc, out }, [name = "", agent = ""]) => {
  const done = await rpc.call("secrets.grant", { name, agent });
  out.document(done);
  out.say(
    `Commands run by ${done.agents.map(oneLine).join(", ")} get ${done.name} as a variable. Its value is hidden in their output.`,
  );
  return EXIT.done;
};

export const revoke: Action = async ({ rpc, out }, [name = "", agent = ""]) => {
  const done = await rpc.call("secrets.revoke", { name, agent });
  out.document(done);
  const others = done.agents.length
    ? `Still granted to: ${done.agents.map(oneLine).join(", ")}.`
    : "No agent gets it now.";
  out.say(`Commands run by ${oneLine(agent)} no longer get ${oneLine(name)}. ${others}`);
  return EXIT.done;
};

export const keyring: Action = async ({ rpc, out }, [wish]) => {
  if (wish !== undefined && wish !== "on" && wish !== "off") throw usage(`"${wish}" is neither on nor off.`);
  const { where } =
    wish === undefined ? await rpc.call("secrets.list", {}) : await rpc.call("secrets.keyring", { use: wish === "on" });
  out.document({ where });
  out.say(out.ours(oneLine(where)));
  return EXIT.done;
};

/** `undefined`: the person stopped. */
async function hidden(ctx: Context, name: string): Promise<string | undefined> {
  const { stdin, stderr } = ctx.ports;
  // One line end at the end belongs to the file, not to the secret.
  if (!ctx.canAsk) return (await readAll(stdin)).replace(/\r?\n$/, "");
  const asker = new Asker(stdin, stderr);
  const off = ctx.onSignal("SIGINT", () => asker.interrupt());
  try {
    return await asker.secret(`${oneLine(name)} (not shown):`);
  } catch (error) {
    if (error instanceof Interrupted) return undefined;
    throw error;
  } finally {
    off();
    asker.close();
  }
}
