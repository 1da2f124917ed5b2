import { expect, test } from "vitest";
import { isSteering } from "./steering-files.ts";

test.each([
  "/Makefile",
  "/sub/makefile",
  "/package.json",
  "/conftest.py",
  "/vitest.config.ts",
  "/tsconfig.build.json",
  "/BUILD",
  "/.eslintrc",
  "/.storybook/main.ts",
  "/go.mod",
])("%s tells programs what to run", (path) => expect(isSteering(path)).toBe(true));

test.each(["/notes.txt", "/build", "/src/app.ts", "/.gitignore", "/./a.md", "/data.json", "/Makefile.d/x.txt", ""])(
  "%s does not",
  (path) => expect(isSteering(path)).toBe(false),
);
