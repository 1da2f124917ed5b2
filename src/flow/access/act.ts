/** A caller acts only in conversations it may see: with the right `read` in all of them, without it in its own. */
import { AppError } from "../../core/domain/index.ts";
import type { Principal } from "../../core/protocol/index.ts";
import { isOwnKey, mayBegin } from "./reach.ts";

export interface ActParts {
  isAgent(name: string): boolean;
  hasSession(session: string): Promise<boolean>;
  findTurnSession(turn: string): Promise<string | undefined>;
  /** Whether somebody with this credential has spoken there. */
  hasSpokenIn(session: string, id: string): Promise<boolean>;
}

export interface ActTarget {
  session?: string | undefined;
  turn?: string | undefined;
  /** It may begin a conversation that does not exist yet. */
  begins: boolean;
}

/** Throws NOT_FOUND unless the caller may act there. */
export async function mustReach(parts: ActParts, principal: Principal, target: ActTarget): Promise<void> {
  const { session, turn, begins } = target;
  const seesAll = principal.scopes.has("read") || principal.scopes.has("admin");
  if (session !== undefined && (begins || !seesAll) && !(await mayActIn(parts, principal, session, begins)))
    throw notThere(`conversation "${session}"`, "To begin one of your own, give a name as user instead of session.");
  if (turn === undefined || seesAll) return;
  const at = await parts.findTurnSession(turn);
  if (at === undefined || !(await isOwn(parts, principal, at))) throw notThere(`turn "${turn}"`);
}

async function mayActIn(parts: ActParts, principal: Principal, session: string, begins: boolean): Promise<boolean> {
  if (!(await parts.hasSession(session))) {
    return begins && mayBegin(session, principal, (name) => parts.isAgent(name));
  }
  const { scopes } = principal;
  return scopes.has("read") || scopes.has("admin") || isOwn(parts, principal, session);
}

async function isOwn(parts: ActParts, principal: Principal, session: string): Promise<boolean> {
  return isOwnKey(session, principal) || parts.hasSpokenIn(session, principal.id);
}

/** Refused and not there look the same: a token learns nothing about conversations it may not see. */
function notThere(what: string, more = ""): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no ${what}, or this token may not act in it.`,
    hint: `Leave it out to talk in your own. ${more}`.trim(),
  });
}
