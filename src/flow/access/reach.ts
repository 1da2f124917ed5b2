/**
 * Which conversations a caller may start by naming one. Pure: the key and the caller decide.
 *
 * | shape of the key                                | who may begin it                             |
 * | ----------------------------------------------- | -------------------------------------------- |
 * | `agent:<agent>:http:<id>:<chat>…`, also `ws`    | nobody: `user` begins these, so a name that doesn't exist is a slip |
 * | `agent:<agent>:web:<name>`                      | anyone who may read conversations: the page |
 * | `agent:<agent>:main`, `agent:<agent>:<name>`    | anyone with the right `admin` |
 *
 * ACCESS-7: every other key is created by Lares itself (channel chats, jobs, sub-agents): it exists or it is refused.
 */
import { isEscapedPart, readAgentSession } from "../../core/domain/index.ts";
import type { Principal } from "../../core/protocol/index.ts";

const NAME = /^[A-Za-z0-9._-]+$/;
const DOORS: readonly string[] = ["http", "ws"];

export function mayBegin(session: string, { scopes }: Principal, isAgent: (name: string) => boolean): boolean {
  const read = readAgentSession(session);
  if (!read || !isAgent(read.agent) || !read.parts.every((part) => part && isEscapedPart(part))) return false;
  const [place = "", ...rest] = read.parts;
  if (DOORS.includes(place)) return false;
  if (place === "web") return rest.length === 1 && NAME.test(rest[0]!) && scopes.has("read");
  return rest.length === 0 && NAME.test(place) && scopes.has("admin");
}

/** Whether a session is the caller's own, which it may use even without the right to read others'. */
export function isOwnKey(session: string, { id }: Principal): boolean {
  const [place = "", account] = readAgentSession(session)?.parts ?? [];
  return DOORS.includes(place) && account === id;
}
