/** `lares channels pending|approve|…`: who may talk. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine } from "../format.ts";
import { table } from "../output.ts";
import { peopleWords as words } from "../words/channels.ts";

export const pending: Action = async ({ rpc, out, clock }) => {
  const { pending } = await rpc.call("channels.pending", {});
  out.items(pending);
  out.say(
    pending.length ? words.waiting(out.hint, pending.length) : words.noneWaiting,
    ...table(
      pending.map((p) => [
        p.code,
        p.name,
        oneLine(p.calledThemselves ?? ""),
        oneLine(p.sender),
        words.minutesLeft(Math.max(1, Math.round((p.expiresAt - clock.now()) / 60_000))),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const approve: Action = async ({ rpc, out, options }, [code = ""]) => {
  const done = await rpc.call("channels.approve", { code, role: options.owner ? "owner" : "known" });
  out.document(done);
  out.say(words.accepted(oneLine(done.sender), done.name, done.role === "owner"));
  return EXIT.done;
};

export const refuse: Action = async ({ rpc, out }, [code = ""]) => {
  const done = await rpc.call("channels.refuse", { code });
  out.document(done);
  out.say(words.declined(oneLine(done.sender)));
  return EXIT.done;
};

export const people: Action = async ({ rpc, out }) => {
  const { people } = await rpc.call("channels.people", {});
  out.items(people);
  out.say(
    people.length ? words.some(people.length) : words.none,
    ...table(
      people.map((p) => [
        p.name,
        oneLine(p.calledThemselves ?? ""),
        oneLine(p.sender),
        p.context === "direct" ? "direct" : words.group(oneLine(p.context)),
        p.role,
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const revoke: Action = async ({ rpc, out, options }, [name = "", sender = ""]) => {
  const done = await rpc.call("channels.revoke", { name, sender, context: options.chat ?? "direct" });
  out.document(done);
  out.say(words.revoked(oneLine(sender), name));
  return EXIT.done;
};
