/**
 * Cuts a text into messages a platform takes. Prefers paragraph, then line, then word ends; a code fence that is cut is closed
 * and opened again in the next piece.
 */
export function chunk(text: string, limit: number): string[] {
  if (text.length <= limit) return [text];
  const pieces: string[] = [];
  let rest = text;
  let fence: string | undefined;
  while (rest.length > 0) {
    const head = fence ? `${fence}\n` : "";
    // Room for closing a fence: newline and three characters.
    const room = Math.max(limit - head.length - 4, 1);
    const cut = rest.length <= room ? rest.length : cutAt(rest, room);
    const body = rest.slice(0, cut);
    fence = openFence(body, fence);
    pieces.push(head + body.trimEnd() + (fence ? "\n```" : ""));
    // The boundary itself goes; inside a fence only the line's end, since blank lines and indents are code there.
    rest = rest.slice(cut).replace(fence ? /^\n/ : /^(\n+| )/, "");
  }
  return pieces;
}

function cutAt(text: string, room: number): number {
  for (const end of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(end, room);
    // A boundary in the first third would make many small messages.
    if (at > room / 3) return at;
  }
  // Never between the two halves of one sign.
  const code = text.charCodeAt(room - 1);
  return code >= 0xd800 && code <= 0xdbff && room > 1 ? room - 1 : room;
}

/** The fence line still open at the end of this piece. */
function openFence(body: string, before: string | undefined): string | undefined {
  let open = before;
  for (const line of body.split("\n")) if (line.startsWith("```")) open = open ? undefined : line;
  return open;
}
