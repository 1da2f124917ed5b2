/** Ids are branded: a session key cannot be passed where a turn id is wanted. */
declare const brand: unique symbol;
export type Id<Name extends string> = string & { readonly [brand]: Name };

export type TurnId = Id<"turn">;
export type SessionKey = Id<"session">;
export type AgentId = Id<"agent">;
export type PersonId = Id<"person">;
export type ApprovalId = Id<"approval">;
export type DeliveryId = Id<"delivery">;
export type ScheduleId = Id<"schedule">;

/** The one place where a plain string becomes an id. Use it at a door, after checking what came in. */
export function asId<T extends Id<string>>(text: string): T {
  return text as T;
}
