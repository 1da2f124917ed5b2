import { describe, expect, test } from "vitest";
import { type ApprovalId, asId, type JsonObject } from "../../core/domain/index.ts";
import { questionText, questionTextWithButtons } from "./words.ts";

const id = asId<ApprovalId>("ap_000000k7qw2m");
const question = (form: JsonObject) => ({
  id,
  shown: "sky asks:\n> How long?",
  because: "The call can't go on without your answer.",
  action: { form },
});
const days = { name: "days", kind: "integer", required: true };

describe("a question of an MCP server in a chat", () => {
  test("says who asks, how to fill in each field, and how to decline", () => {
    const text = questionText(
      question({ from: "sky", fields: [days, { name: "sure", kind: "yes-no", required: true }] }),
    );
    expect(text).toContain(
      "The MCP server sky asks you something. It gets your answer, so don't send passwords or keys.",
    );
    expect(text).toContain("Answer with: answer k7qw2m days: NUMBER; sure: yes|no. To decline: deny k7qw2m.");
  });

  test("where everything has a default, a button takes it and words still work", () => {
    const text = questionTextWithButtons(question({ from: "sky", fields: [{ ...days, required: false }] }));
    expect(text).toContain(
      "answer k7qw2m NUMBER. To leave everything as it is: approve k7qw2m. To decline: deny k7qw2m.",
    );
  });
});
