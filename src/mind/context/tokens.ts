import type { ModelMessage } from "../../core/domain/index.ts";

/** An estimate, used only where the provider has not reported: four characters a token, plus a frame per message. */
export function estimateTokens(content: ModelMessage["content"]): number {
  let chars = 0;
  for (const part of content) {
    switch (part.type) {
      case "text":
      case "thinking":
      case "tool-result":
        chars += part.text.length;
        break;
      case "tool-call":
        chars += part.name.length + JSON.stringify(part.input).length;
        break;
    }
  }
  return Math.ceil(chars / 4) + 4;
}
