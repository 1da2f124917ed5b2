export { listTaskMembers, type Team } from "./definition.ts";
export { TeamFolders } from "./folders.ts";
export { TeamRooms } from "./rooms.ts";
export type { TeamPost } from "./store.ts";
export { makeRoomToolPort } from "./tool-port.ts";
export { describeTeam } from "./words.ts";
