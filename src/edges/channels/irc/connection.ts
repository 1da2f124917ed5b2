/**
 * One IRC connection, over our own socket: some 200 lines instead of the 55 packages of the usual library.
 *
 * A server acknowledges nothing, but it works through our lines in order: a PING behind a message is answered after the message
 * was taken or refused.
 */
import { connect as plain, type Socket } from "node:net";
import { connect as secure } from "node:tls";
import { SendUncertain } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { refused, unreached, whyUnreached } from "../sending.ts";
import type { IrcAccount } from "./config.ts";
import { type IrcLine, lower, type Person, parseLine } from "./line.ts";

const PATIENCE_MS = 20_000;
/** A line has at most 512 bytes, plus 8 KB of tags. */
const MOST_LINE = 16_384;
const WANTED = ["message-tags", "account-tag", "server-time", "sasl"];
/** Numerics that refuse a message: no such nick, no such channel, cannot send, and similar. */
const NO = new Set([
  "401",
  "402",
  "403",
  "404",
  "407",
  "411",
  "412",
  "413",
  "414",
  "415",
  "442",
  "477",
  "489",
  "531",
  "716",
]);

export class IrcConnection {
  nick: string;
  /** Whether the server says who is logged in. */
  knowsAccounts = false;
  readonly closed: Promise<Error>;
  private readonly config: IrcAccount;
  private readonly socket: Socket;
  private readonly watchers = new Set<(line: IrcLine) => void>();
  private end: (error: Error) => void = () => {};
  private pings = 0;

  constructor(config: IrcAccount, onLine: (line: IrcLine) => void, signal: AbortSignal) {
    this.config = config;
    this.nick = config.nick;
    this.watchers.add(onLine);
    this.closed = new Promise((resolve) => {
      this.end = resolve;
    });
    const { host, port } = config;
    this.socket = config.tls ? secure({ host, port, servername: host }) : plain({ host, port });
    this.socket.on("error", (error) => this.end(unconnected(config, error)));
    this.socket.on("close", () => this.end(refused("The IRC server closed the connection.", "later")));
    signal.addEventListener("abort", () => this.close(), { once: true });
    this.read();
  }

  close(): void {
    if (!this.socket.destroyed && this.socket.writable) this.socket.end("QUIT\r\n");
    this.socket.destroy();
  }

  /** Logs in; resolves when the server has welcomed us. */
  async register(): Promise<void> {
    const { password, user, accountPassword, nick } = this.config;
    await this.opened();
    const wantsSasl = user !== undefined && accountPassword !== undefined;
    this.write("CAP", "LS", "302");
    if (password) this.write("PASS", password);
    this.write("NICK", this.nick);
    this.write("USER", nick, "0", "*", nick);
    const offered: string[] = [];
    await this.wait("the server's welcome", (line) => {
      const [, sub, ...rest] = line.params;
      if (line.command === "CAP" && sub === "LS") {
        offered.push(...(rest.at(-1) ?? "").split(" ").map((one) => one.split("=")[0]!));
        if (rest[0] === "*" && rest.length > 1) return undefined;
        if (wantsSasl && !offered.includes("sasl")) throw noSasl();
        const wanted = WANTED.filter((one) => offered.includes(one) && (one !== "sasl" || wantsSasl));
        if (wanted.length) this.write("CAP", "REQ", wanted.join(" "));
        else this.write("CAP", "END");
      } else if (line.command === "CAP" && (sub === "ACK" || sub === "NAK")) {
        const taken = sub === "ACK" ? (rest.at(-1) ?? "").trim().split(/\s+/) : [];
        this.knowsAccounts = taken.includes("account-tag");
        if (wantsSasl && taken.includes("sasl")) this.write("AUTHENTICATE", "PLAIN");
        else if (wantsSasl) throw noSasl();
        else this.write("CAP", "END");
      } else if (line.command === "AUTHENTICATE") this.authenticate(`\0${user}\0${accountPassword}`);
      else if (line.command === "903") this.write("CAP", "END");
      else if (/^90[24567]$/.test(line.command)) throw badLogin(line);
      else if (line.command === "464") throw badLogin(line);
      else if (line.command === "433" || line.command === "436") {
        // Perhaps our own last connection, whose end the server hasn't noticed yet.
        this.nick = `${this.nick.slice(0, 28)}_`;
        if (this.nick.endsWith("____")) throw refused("The nick is taken, and so are its variants.", "later");
        this.write("NICK", this.nick);
      } else if (line.command === "432") throw badLogin(line);
      else if (line.command === "ERROR") throw refused(`The IRC server: ${line.params.at(-1) ?? "no"}`, "later");
      else if (line.command === "001") {
        this.nick = line.params[0] ?? this.nick;
        return true;
      }
      return undefined;
    });
  }

  join(channel: string): void {
    this.write("JOIN", channel);
  }

  ping(): void {
    // Our own last connection may be gone by now, and the nick free again.
    if (this.nick !== this.config.nick) this.write("NICK", this.config.nick);
    this.write("PING", `lares${++this.pings}`);
  }

  /** Resolves when the server has processed it. */
  async say(target: string, text: string): Promise<void> {
    const token = `lares${++this.pings}`;
    const written = this.write("PRIVMSG", target, text) && this.write("PING", token);
    if (!written) throw refused("Not connected to the IRC server.", "later");
    await this.wait("the server's answer", (line) => {
      if (NO.has(line.command) && lower(line.params[1] ?? "") === lower(target)) {
        const isAway = line.command === "401";
        throw refused(`IRC: ${line.params.at(-1)}`, isAway ? "later" : "never");
      }
      return line.command === "PONG" && line.params.at(-1) === token ? true : undefined;
    }).catch((error: unknown) => {
      if (error instanceof AppError && this.socket.writable && !this.socket.destroyed) throw error;
      throw new SendUncertain("The connection broke before the IRC server answered.", { cause: error });
    });
  }

  /** Who has that nick now. */
  async whois(nick: string): Promise<Person | undefined> {
    let found: Person | undefined;
    if (!this.write("WHOIS", nick)) throw refused("Not connected to the IRC server.", "later");
    const isIts = (line: IrcLine) => lower(line.params[1] ?? "") === lower(nick);
    await this.wait("the answer to WHOIS", (line) => {
      if (!isIts(line)) return undefined;
      const [, name = "", first = "", second = ""] = line.params;
      if (line.command === "311") found = { nick: name, at: `${first}@${second}` };
      if (line.command === "330" && found) found = { ...found, account: first };
      return line.command === "318" ? true : undefined;
    });
    return found;
  }

  private write(command: string, ...params: string[]): boolean {
    // A line break inside a parameter would be a separate command.
    const safe = params.map((one) => one.replace(/[\r\n\0]/g, " "));
    const last = safe.pop() ?? "";
    const tail = last === "" || last.includes(" ") || last.startsWith(":") || command === "PRIVMSG" ? `:${last}` : last;
    if (this.socket.destroyed || !this.socket.writable) return false;
    this.socket.write(`${[command, ...safe, tail].join(" ")}\r\n`);
    return true;
  }

  /** SASL sends the secret in pieces of 400 characters, followed by an empty one if the last was full. */
  private authenticate(secret: string): void {
    const text = Buffer.from(secret).toString("base64");
    for (let i = 0; i <= text.length; i += 400) this.write("AUTHENTICATE", text.slice(i, i + 400) || "+");
  }

  private opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once(this.config.tls ? "secureConnect" : "connect", () => resolve());
      void this.closed.then(reject);
      setTimeout(() => reject(refused("The IRC server doesn't answer.", "later")), PATIENCE_MS).unref();
    });
  }

  private wait<T>(what: string, look: (line: IrcLine) => T | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const done = (act: () => void) => {
        clearTimeout(timer);
        this.watchers.delete(watch);
        act();
      };
      const watch = (line: IrcLine) => {
        try {
          const found = look(line);
          if (found !== undefined) done(() => resolve(found));
        } catch (error) {
          done(() => reject(error));
        }
      };
      const late = () => done(() => reject(new Error(`${what} did not come`)));
      const timer = setTimeout(late, PATIENCE_MS);
      this.watchers.add(watch);
      void this.closed.then((error) => done(() => reject(error)));
    });
  }

  private read(): void {
    let text = "";
    const decoder = new TextDecoder();
    this.socket.on("data", (chunk: Buffer) => {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split(/\r?\n/);
      text = lines.pop() ?? "";
      if (text.length > MOST_LINE) this.socket.destroy(new Error("a line without an end"));
      for (const raw of lines) {
        const line = parseLine(raw);
        if (!line) continue;
        if (line.command === "PING") this.write("PONG", line.params.at(-1) ?? "");
        if (line.command === "NICK" && line.from.split("!")[0] === this.nick) this.nick = line.params[0] ?? this.nick;
        for (const watch of [...this.watchers]) watch(line);
      }
    });
  }
}

function unconnected({ host, port, tls }: IrcAccount, error: NodeJS.ErrnoException): AppError {
  const isPlain = tls && (error.code === "EPROTO" || whyUnreached(error)?.includes("TLS"));
  const hint = isPlain
    ? "Use the server's port for TLS (often 6697), or set tls to false for this account."
    : "Check the host and the port, then try again.";
  return unreached(`the IRC server ${host}:${port}`, error, hint);
}

function badLogin(line: IrcLine): AppError {
  return new AppError("CHANNEL_SEND", {
    message: `The IRC server refused the login: ${line.params.at(-1) ?? line.command}`,
    hint: "Check nick, user and passwords: lares channels add irc",
    retry: "later",
  });
}

function noSasl(): AppError {
  return new AppError("CHANNEL_SEND", {
    message: "The IRC server doesn't offer SASL.",
    hint: "Remove `user` and `accountPassword` from the account, or choose another server.",
    retry: "later",
  });
}
