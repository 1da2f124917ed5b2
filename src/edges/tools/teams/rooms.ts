/** Tools on the room of one's team: say something there, read what was said. */
import { z } from "zod";
import type { Tool, ToolPlace } from "../../../core/contracts/index.ts";
import type { JsonObject, Origin } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";
import { NOTHING_NEW, posted, postIn, READ_ROOM, showPosts } from "./words.ts";

/** What these tools need from the rest of Lares. Each throws TOOL_INPUT when the caller is in no such team. */
export interface RoomPort {
  /** `key` again is the same post. */
  post(given: {
    key: string;
    team?: string;
    text: string;
    caller: ToolPlace["caller"];
  }): Promise<{ team: string; seq: number }>;
  /** What the caller has not read yet, or what came after a number. */
  read(given: { team?: string; after?: number; caller: ToolPlace["caller"] }): Promise<{
    team: string;
    posts: { seq: number; kind: string; name: string; text: string; at: number }[];
    origin: Origin;
  }>;
}

const team = z.string().min(1).max(64).optional();
const postInput = z.strictObject({ text: z.string().min(1).max(16_000), team });
const readInput = z.strictObject({ after: z.number().int().min(0).optional(), team });
const said = (description: string): JsonObject => ({ type: "string", description });
const whichTeam = said("only if you are in several");

export function createRoomTools(port: RoomPort): Tool[] {
  return [post(port), read(port)];
}

function post(port: RoomPort): Tool {
  return {
    spec: {
      name: "room_post",
      description:
        "Write in your team's room, where all members and people of the team read it. @name asks that member for an answer.",
      input: { type: "object", properties: { text: said("what to say"), team: whichTeam }, required: ["text"] },
    },
    repeat: "with-key",
    words: { result: "own", failure: "own" },
    async plan(input) {
      const given = parseInput("room_post", postInput, input);
      // Nobody outside the team reads it, and what members do about it is judged when they do it.
      return {
        tool: "room_post",
        risk: "read",
        targets: [given.team ?? ""],
        shown: postIn(given.team, visible(given.text)),
        binding: given as JsonObject,
      };
    },
    async run(input, place, key) {
      const given = parseInput("room_post", postInput, input);
      const { team, seq } = await port.post({
        key,
        text: given.text,
        caller: place.caller,
        ...defined({ team: given.team }),
      });
      return { text: posted(team, seq), meta: { team, seq } };
    },
  };
}

function read(port: RoomPort): Tool {
  return {
    spec: {
      name: "room_read",
      description: "Read your team's room: what is new to you, or everything after a post's number.",
      input: {
        type: "object",
        properties: { after: { type: "number", description: "a post's number" }, team: whichTeam },
      },
    },
    repeat: "safe",
    words: { result: "outside", failure: "own" },
    async plan(input) {
      const given = parseInput("room_read", readInput, input);
      return {
        tool: "room_read",
        risk: "read",
        targets: [given.team ?? ""],
        shown: READ_ROOM,
        binding: given as JsonObject,
      };
    },
    async run(input, place) {
      const { after, team } = parseInput("room_read", readInput, input);
      const found = await port.read({ caller: place.caller, ...defined({ after, team }) });
      if (found.posts.length === 0) return { text: NOTHING_NEW, origin: "own" };
      return { text: showPosts(found.team, found.posts), origin: found.origin };
    },
  };
}
