/** Whether a new fact may take the place of an old one, and where it then belongs. Pure. */

import { defined } from "../../core/kit/index.ts";
import type { NewMemory, Remembered, Viewer } from "./kinds.ts";
import { listScopes, PUBLIC, scopeFor } from "./kinds.ts";

export type Replacing = { fact: Pick<NewMemory, "scope" | "person" | "agent" | "supersedes"> } | { why: string };

/**
 * The new fact goes where the old one was, as with a correction: otherwise both would hold. Only the owner's session reaches
 * beyond its own scope, and nothing said in a session gets published because it corrects a public fact.
 */
export function replacing(old: Remembered | undefined, viewer: Viewer): Replacing {
  if (!old || !listScopes(viewer).includes(old.scope)) return { why: "there is no such fact here" };
  if (old.kind === "document") return { why: "it is part of an indexed document" };
  if (old.state !== "live") return { why: "it is no longer current" };
  const { id, scope, person, agent } = old;
  const own = scopeFor(viewer.person === undefined ? viewer : { person: viewer.person });
  if (scope !== own && scope === PUBLIC)
    return { why: `everybody can see it, so change it yourself: lares memory correct ${id}` };
  if (scope !== own && !viewer.owner) return { why: "only the owner can change it" };
  return {
    fact: {
      scope,
      supersedes: [id],
      ...defined({ person, agent }),
    },
  };
}
