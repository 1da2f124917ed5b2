/** `lares channels pending|approve|…`: who may talk. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, plural } from "../format.ts";
import { table } from "../output.ts";

export const pending: Action = async ({ rpc, out, clock }) => {
  const { pending } = await rpc.call("channels.pending", {});
  out.items(pending);
  out.say(
    pending.length
      ? out.hint`${plural(pending.length, "person", "people")} waiting. Accept one: lares channels approve CODE`
      : "No one is waiting.",
    ...table(
      pending.map((p) => [
        p.code,
        p.name,
        oneLine(p.calledThemselves ?? ""),
        oneLine(p.sender),
        `${Math.max(1, Math.round((p.expiresAt - clock.now()) / 60_000))} min left`,
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const approve: Action = async ({ rpc, out, options }, [code = ""]) => {
  const done = await rpc.call("channels.approve", { code, role: options.owner ? "owner" : "known" });
  out.document(done);
  out.say(
    `${oneLine(done.sender)} can now message ${done.name}${done.role === "owner" ? ", and answer approvals" : ""}.`,
  );
  return EXIT.done;
};

export const refuse: Action = async ({ rpc, out }, [code = ""]) => {
  const done = await rpc.call("channels.refuse", { code });
  out.document(done);
  out.say(`Declined ${oneLine(done.sender)}.`);
  return EXIT.done;
};

export const people: Action = async ({ rpc, out }) => {
  const { people } = await rpc.call("channels.people", {});
  out.items(people);
  out.say(
    people.length
      ? `${plural(people.length, "person", "people")} accepted.`
      : "No one has been accepted here. Allow lists are in lares.yaml.",
    ...table(
      people.map((p) => [
        p.name,
        oneLine(p.calledThemselves ?? ""),
        oneLine(p.sender),
        p.context === "direct" ? "direct" : `group ${oneLine(p.context)}`,
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
  out.say(`${oneLine(sender)} can no longer message ${name}.`);
  return EXIT.done;
};
