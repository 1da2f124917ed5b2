import type { ModelMessage } from "../../core/domain/index.ts";

/** What a picture costs at most providers, whatever its size: they shrink it first. In letters, four a token. */
const IMAGE_LETTERS = 1500 * 4;

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
      case "image":
        chars += IMAGE_LETTERS;
        break;
      case "tool-call":
        chars += part.name.length + JSON.stringify(part.input).length;
        break;
    }
  }
  return Math.ceil(chars / 4) + 4;
}
