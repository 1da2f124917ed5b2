/** Words for the board and the team's room. */
import { END, type PracticeRule, row, unquote } from "./words.ts";

const TASK = String.raw`(?:the )?task #?(?<task>\d{1,9})`;

export const BOARD: readonly PracticeRule[] = [
  row(
    "board_list",
    "what's on the board?",
    `(?:(?:show|list)(?: me)? the (?:board|tasks)|what(?:'s| is) on the board)${END}`,
    () => ({}),
  ),
  row("board_get", "show task 1", `(?:show|read|open)(?: me)? ${TASK}${END}`, ({ task }) => ({ task: task! })),
  row("board_comment", "comment on task 1: it's urgent", String.raw`comment on ${TASK}:\s*(?<text>.+)`, (found) => ({
    task: found.task!,
    text: unquote(found.text!),
  })),
  row(
    "board_create",
    "add a task: water the plants",
    String.raw`add a task(?: to the board)?:\s*(?<title>.+?)${END}`,
    (found) => ({
      title: unquote(found.title!).slice(0, 200),
    }),
  ),
  row(
    "board_hand_in",
    "hand in the task: the plants are watered",
    String.raw`hand in(?: the task| it)?:\s*(?<result>.+)`,
    (found) => ({
      result: unquote(found.result!),
    }),
  ),
  row(
    "room_post",
    "write in the room: dinner is ready",
    String.raw`(?:write|post|say) in the (?:team's )?room:\s*(?<text>.+)`,
    (found) => ({
      text: unquote(found.text!),
    }),
  ),
  row(
    "room_read",
    "what's new in the room?",
    `(?:what(?:'s| is) new in the (?:team's )?room|read the (?:team's )?room)${END}`,
    () => ({}),
  ),
];
