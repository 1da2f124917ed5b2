/** Stands between Lares and PostgreSQL. Told to, it passes a COMMIT on and is gone before the answer: nobody can know what became of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SOCKET = ".s.PGSQL.5432";

export class SilentProxy {
  readonly dir = mkdtempSync(join(tmpdir(), "lares-proxy-"));
  /** How many commits lose their answer from now on, and whether the server hears of them. */
  swallow = { commits: 0, reaches: true };
  private readonly server: Server;
  private readonly open = new Set<Socket>();

  private constructor(target: string) {
    this.server = createServer((near) => {
      const far = dial(join(target, SOCKET));
      for (const socket of [near, far]) {
        this.open.add(socket);
        socket.on("error", () => {}).on("close", () => this.open.delete(socket));
      }
      near.on("data", (bytes) => {
        if (this.swallow.commits === 0 || !bytes.includes("COMMIT\0")) return void far.write(bytes);
        this.swallow.commits--;
        const { reaches } = this.swallow;
        near.destroy();
        // Its end is heard when the answer has come: by then the transaction is committed over there.
        if (reaches) far.write(bytes, () => far.once("data", () => far.destroy()));
        else far.destroy();
      });
      far.on("data", (bytes) => near.write(bytes));
      near.on("end", () => far.end());
      far.on("end", () => near.end());
    });
  }

  static async start(target: string): Promise<SilentProxy> {
    const proxy = new SilentProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(join(proxy.dir, SOCKET), resolve));
    return proxy;
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.dir, { recursive: true, force: true });
  }
}
