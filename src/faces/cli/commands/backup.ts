/** `lares backup`: copies of the home. Works on files, so that a home that doesn't start can be copied and restored, too. */
import { resolve } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, bytes, oneLine } from "../format.ts";
import { Asker } from "../onboard/ask.ts";
import { table } from "../output.ts";
import type { BackupPlace, BackupPort } from "../ports.ts";
import { readGiven } from "../read-all.ts";
import { backupWords as words } from "../words/run.ts";
import { reportDeclined } from "./sessions.ts";

export const create: Action = async (ctx) => {
  const { out, options } = ctx;
  const made = await ask(ctx, options.to, (port, at) => port.create(at));
  out.document(made);
  out.say(
    words.made(made.id, made.files, bytes(made.bytes)),
    words.stored(bytes(made.added), made.folder, made.isEncrypted),
  );
  const { unreadable, removed } = made;
  if (unreadable.length) out.note(words.unreadable(unreadable.slice(0, 5).map(oneLine).join(", "), unreadable.length));
  if (removed.length) out.note(words.removed(removed.length));
  if (!made.hasKeys) out.note(out.ours(words.withoutKeys));
  return EXIT.done;
};

export const list: Action = async (ctx) => {
  const { out, clock, options } = ctx;
  const { backups, broken, folder, isEncrypted } = await ask(ctx, options.from, (port, at) => port.list(at));
  out.items([...backups, ...broken.map((id) => ({ id, broken: true }))]);
  const now = clock.now();
  out.say(
    words.some(backups.length, folder, isEncrypted),
    ...table(
      backups.map((one) => [
        one.id,
        ago(one.madeAt, now),
        words.files(one.files),
        bytes(one.bytes),
        `+${bytes(one.added)}`,
      ]),
      "  ",
    ),
    ...broken.map((id) => `  ${out.paint(words.broken(id), "fail")}`),
  );
  return broken.length ? EXIT.failed : EXIT.done;
};

export const verify: Action = async (ctx, [id]) => {
  const { out, options } = ctx;
  const results = await ask(ctx, options.from, async (port, at) => {
    const ids = options.all ? await allIds(port, at) : [id];
    const found: { id: string; whole: boolean; why?: string }[] = [];
    for (const one of ids) {
      try {
        found.push({ id: (await port.verify(at, one)).id, whole: true });
      } catch (error) {
        // Without one to name, the reason says it all.
        if (one === undefined || !(error instanceof AppError) || !options.all) throw error;
        found.push({ id: one, whole: false, why: error.message });
      }
    }
    return found;
  });
  out.items(results);
  out.say(...results.map((one) => (one.whole ? words.verified(one.id) : words.bad(one.id, one.why ?? ""))));
  return results.every(({ whole }) => whole) ? EXIT.done : EXIT.failed;
};

async function allIds(port: BackupPort, at: BackupPlace): Promise<string[]> {
  const { backups, broken } = await port.list(at);
  return [...backups.map(({ id }) => id), ...broken];
}

export const restore: Action = async (ctx, [id]) => {
  const { out, options, home } = ctx;
  const to = options.to === undefined ? home : resolve(options.to);
  if (options.replace) {
    out.note(words.willReplace(to));
    if (!(await confirmed(ctx, words.question))) return reportDeclined(ctx);
  }
  const how = { to, replace: options.replace ?? false, ...defined({ id }) };
  const done = await ask(ctx, options.from, (port, at) => port.restore(at, how));
  out.document(done);
  out.say(words.restored(done.id, done.home));
  out.note(...(options.replace ? [words.aside(done.aside)] : []), ...(done.hasKeys ? [] : [out.ours(words.noKeys)]));
  out.note(words.tokens(out.hint), words.whatIsOpen(out.hint));
  return EXIT.done;
};

/** Asks for the passphrase when it turns out that one is needed and somebody is there. */
async function ask<T>(
  ctx: Context,
  folder: string | undefined,
  run: (port: BackupPort, at: BackupPlace) => Promise<T>,
): Promise<T> {
  const { home, options, ports, out } = ctx;
  const port = await ports.backups();
  const note = (line: string) => out.note(line);
  const given =
    options.passphraseFile === undefined
      ? undefined
      : (await readGiven(options.passphraseFile, ports.stdin, note)).replace(/\r?\n$/, "");
  const at = { home, ...defined({ folder: folder === undefined ? undefined : resolve(folder), passphrase: given }) };
  try {
    return await run(port, at);
  } catch (error) {
    const isSealed = error instanceof AppError && error.code === "BACKUP_SEALED";
    if (!isSealed || given !== undefined || !ctx.canAsk) throw error;
    const asker = new Asker(ports.stdin, ports.stderr);
    try {
      return await run(port, { ...at, passphrase: await asker.secret(words.passphrase) });
    } finally {
      asker.close();
    }
  }
}
