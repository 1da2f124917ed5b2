/** What is known of rooms: who is in them, people's names, and the last messages. Bounded; everything can be asked again. */
import { asObject, asText } from "../api.ts";
import type { MatrixClient } from "./client.ts";
import { plainBody, type RoomEvent, roomEvent } from "./events.ts";

const MOST_ROOMS = 1000;
const MOST_NAMES = 5000;
const MOST_MESSAGES = 1000;

export class Rooms {
  /** Names are for people to read and never identity (CH-01). */
  readonly names = new Map<string, string>();
  private readonly direct = new Map<string, boolean>();
  private readonly messages = new Map<string, { sender: string; text: string }>();
  private readonly client: MatrixClient;

  constructor(client: MatrixClient) {
    this.client = client;
  }

  note(room: string, event: RoomEvent): void {
    if (event.type === "m.room.member") {
      this.direct.delete(room);
      const name = asText(event.content.displayname);
      if (name && event.stateKey) keep(this.names, event.stateKey, name, MOST_NAMES);
    }
    if (event.type === "m.room.message") {
      keep(this.messages, event.id, { sender: event.sender, text: plainBody(event.content) }, MOST_MESSAGES);
    }
  }

  /** Two people are a direct chat, three are a group, whatever the room calls itself: rights hang on it (CH-05). */
  async isDirect(room: string, signal: AbortSignal): Promise<boolean> {
    const known = this.direct.get(room);
    if (known !== undefined) return known;
    const members = Object.entries(await this.client.joined(room, signal));
    for (const [user, { display_name: name }] of members.slice(0, 50)) {
      if (name) keep(this.names, user, name, MOST_NAMES);
    }
    keep(this.direct, room, members.length <= 2, MOST_ROOMS);
    return members.length <= 2;
  }

  async replied(room: string, id: string | undefined, signal: AbortSignal) {
    if (!id) return undefined;
    const known = this.messages.get(id);
    if (known) return known;
    const event = roomEvent(asObject(await this.client.event(room, id, signal)));
    if (!event) return undefined;
    this.note(room, event);
    return this.messages.get(id);
  }
}

function keep<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as string);
}
