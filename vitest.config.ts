import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // One more than there are cores where CI runs: much of what the program's tests do is wait for it.
    maxWorkers: 3,
    // A test that hangs is a test that fails; one that starts the program five times on a busy machine is not.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // A worker keeps the modules it has read from file to file: a test that leaves something behind in one is a bad test.
    isolate: false,
  },
});
