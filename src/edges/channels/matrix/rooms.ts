/** What is known about rooms: who is in them, people's names, and the last messages. Bounded; all of it can be asked for again. */
import { asObject, asText } from "../../../core/domain/index.ts";
import { RecentMap } from "../recent.ts";
import type { MatrixApi } from "./api.ts";
import { plainBody, type RoomEvent, roomEvent } from "./events.ts";

const MOST_ROOMS = 1000;
const MOST_NAMES = 5000;
const MOST_MESSAGES = 1000;

export class Rooms {
  /** Names are for people to read and never identity (CH-01). */
  readonly names = new RecentMap<string>(MOST_NAMES);
  private readonly direct = new RecentMap<boolean>(MOST_ROOMS);
  private readonly messages = new RecentMap<{ sender: string; text: string }>(MOST_MESSAGES);
  private readonly api: MatrixApi;

  constructor(api: MatrixApi) {
    this.api = api;
  }

  note(room: string, event: RoomEvent): void {
    if (event.type === "m.room.member") {
      this.direct.delete(room);
      const name = asText(event.content.displayname);
      if (name && event.stateKey) this.names.set(event.stateKey, name);
    }
    if (event.type === "m.room.message") {
      this.messages.set(event.id, { sender: event.sender, text: plainBody(event.content) });
    }
  }

  /** Two people are a direct chat, three are a group, no matter what the room calls itself: rights depend on it (CH-05). */
  async isDirect(room: string, signal: AbortSignal): Promise<boolean> {
    const known = this.direct.get(room);
    if (known !== undefined) return known;
    const members = Object.entries(await this.api.joined(room, signal));
    for (const [user, { display_name: name }] of members.slice(0, 50)) {
      if (name) this.names.set(user, name);
    }
    this.direct.set(room, members.length <= 2);
    return members.length <= 2;
  }

  /** The message with that id, for one that answers it. */
  async replied(room: string, id: string | undefined, signal: AbortSignal) {
    if (!id) return undefined;
    const known = this.messages.get(id);
    if (known) return known;
    const event = roomEvent(asObject(await this.api.event(room, id, signal)));
    if (!event) return undefined;
    this.note(room, event);
    return this.messages.get(id);
  }
}
