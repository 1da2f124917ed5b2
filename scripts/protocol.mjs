/** Prints docs/PROTOCOL.md and docs/protocol.schema.json from the method registry: npx tsx scripts/protocol.mjs */
import { writeFileSync } from "node:fs";
import { printMarkdown, printSchema } from "../src/core/protocol/print.ts";

const docs = new URL("../docs/", import.meta.url);
writeFileSync(new URL("PROTOCOL.md", docs), printMarkdown());
writeFileSync(new URL("protocol.schema.json", docs), printSchema());
