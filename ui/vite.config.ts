/** Builds the Control UI into `dist/ui`: hashed assets, one chunk per page, each with its compressed twins beside it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const out = resolve(import.meta.dirname, "../dist/ui");
/** Where the gateway runs while the page is developed: `LARES_DEV=http://127.0.0.1:7717 npm run dev --workspace ui`. */
const gateway = process.env.LARES_DEV ?? "http://127.0.0.1:7717";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), squeeze()],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows neither inline scripts nor data addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One style file is smaller than the sum of its parts and asked for once.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What only pages with text of models need.
            {
              name: "text",
              priority: 1,
              test: /core[\\/]render[\\/]|lib[\\/]markdown|parts[\\/](Markdown|CodeBlock)\./,
            },
            // Small parts that most pages share: one request instead of fifteen.
            {
              name: "shell",
              priority: 2,
              test: /node_modules[\\/]svelte|ui[\\/]src[\\/](lib[\\/](?!markdown|timeline|when)|App)|parts[\\/](State|Ghost|Empty|ErrorNote|Icon|Login|Hello|TurnRow|ActivityTabs|ApprovalCard|Diff|Dialog)\./,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/rpc", "/ws", "/login", "/logout", "/attachments", "/healthz", "/program"].map((path) => [
        path,
        { target: gateway, ws: path === "/ws", changeOrigin: true, headers: { origin: gateway } },
      ]),
    ),
  },
});

/** Writes `.gz` and `.br` next to every text asset, so that the gateway never compresses at run time. */
function squeeze(): Plugin {
  return {
    name: "squeeze",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}
