/** A run's events as people who look on see them: the same as for any turn. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { stepNames } from "../../../core/domain/index.ts";
import type { TurnParts } from "../ports.ts";
import type { TurnRun } from "../run.ts";

/** Shows one event after the other. `hidden`: a hook may still hold the answer back, so nobody sees it grow. */
export function makeShow(parts: TurnParts, run: TurnRun, hidden: boolean): (event: RunEventBody) => void {
  const { bus } = parts;
  const { turn, session, p } = run;
  const names = new Map<string, string>();
  const of = { session, turn };
  bus.emit({ event: "turn.step", ...of, step: stepNames.model(p.call) });
  return (event) => {
    switch (event.type) {
      case "run_started":
        // An attempt that was cut off may have left words on the screen; one that was taken up goes on with them.
        if (!event.takenUp) p.call++;
        return;
      case "text":
        if (!hidden) bus.emit({ event: "turn.delta", ...of, call: p.call, text: event.text });
        return;
      case "thinking":
        if (!hidden) bus.emit({ event: "turn.thinking", ...of, call: p.call, text: event.text });
        return;
      case "tool_call": {
        names.set(event.call, event.name);
        p.toolCalls++;
        // Words after a deed are a new answer, not the end of the one before.
        p.call++;
        bus.emit({ event: "tool.call", ...of, id: event.call, name: event.name, input: event.input });
        return;
      }
      case "tool_progress":
        bus.emit({
          event: "tool.progress",
          ...of,
          id: event.call,
          name: names.get(event.call) ?? "",
          text: clean(parts, event.text),
        });
        return;
      case "tool_result": {
        p.tainted = true;
        const { call: id, text, isError } = event;
        bus.emit({ event: "tool.result", ...of, id, name: names.get(id) ?? "", text: clean(parts, text), isError });
        return;
      }
      case "notice":
        if (!p.notices.includes(event.text)) p.notices.push(event.text);
        return;
      default:
        // The rest is in the records, and nobody waits for it.
        return;
    }
  };
}

function clean(parts: TurnParts, text: string): string {
  return String(parts.scrub(text));
}
