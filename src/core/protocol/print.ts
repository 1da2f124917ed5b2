/** The registry as documents: docs/PROTOCOL.md for people, docs/protocol.schema.json for programs. Not part of the room's index. */
import { z } from "zod";
import { ERROR_CODES } from "../domain/errors.ts";
import { EVENTS } from "./events.ts";
import type { Method } from "./method.ts";
import { METHODS } from "./methods.ts";
import { COMPLETION_FIELDS, printFields, RESPONSE_FIELDS } from "./openai-fields.ts";

type Schema = Record<string, unknown>;

export function printSchema(): string {
  const methods = Object.fromEntries(
    Object.entries(METHODS as Record<string, Method>).map(([name, m]) => [
      name,
      { doc: m.doc, scope: m.scope, mutates: m.mutates, params: plain(m.in, "input"), result: plain(m.out, "output") },
    ]),
  );
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Lares protocol",
    methods,
    events: EVENTS,
    errors: ERROR_CODES,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

export function printMarkdown(): string {
  const names = Object.keys(METHODS) as (keyof typeof METHODS)[];
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const noun = name.includes(".") ? name.slice(0, name.indexOf(".")) : "instance";
    groups.set(noun, [...(groups.get(noun) ?? []), printMethod(name, METHODS[name] as Method)]);
  }
  const events = Object.entries(EVENTS).map(([name, doc]) => `| \`${name}\` | ${doc} |`);
  const errors = Object.entries(ERROR_CODES).map(([code, status]) => `| \`${code}\` | ${status} |`);
  return [
    HEAD,
    "## Methods\n",
    ...[...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([noun, list]) => `### ${noun}\n\n${list.join("\n")}`),
    `## Events\n\n| event | says |\n|---|---|\n${events.join("\n")}\n`,
    `## Error codes\n\n| code | HTTP status |\n|---|---|\n${errors.join("\n")}\n`,
  ].join("\n");
}

function printMethod(name: string, m: Method): string {
  const marks = [`right: ${m.scope}`, ...(m.mutates ? ["changes something: takes `idempotencyKey`"] : [])];
  const params = fields(plain(m.in, "input")).filter((line) => !line.startsWith("  - `idempotencyKey?`"));
  const result = fields(plain(m.out, "output"));
  return [
    `#### \`${name}\`\n`,
    `${m.doc} (${marks.join("; ")})\n`,
    params.length ? `- takes\n${params.join("\n")}` : "- takes nothing",
    `- gives\n${result.join("\n")}\n`,
  ].join("\n");
}

function plain(schema: z.ZodType, io: "input" | "output"): Schema {
  const {
    $schema: _,
    $defs: _defs,
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Schema;
  return withoutRefs(rest) as Schema;
}

/** The only thing that refers to itself is "any JSON", which is the empty schema. */
function withoutRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRefs);
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutRefs(item)]));
}

function fields(schema: Schema): string[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = (schema.required ?? []) as string[];
  return Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? "" : "?";
    const says = field.description ? `: ${String(field.description)}` : "";
    return `  - \`${name}${optional}\` ${typeWords(field)}${says}`;
  });
}

function typeWords(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `"${String(value)}"`).join(" \\| ");
  if (Array.isArray(schema.anyOf) || Array.isArray(schema.oneOf)) {
    const words = ((schema.anyOf ?? schema.oneOf) as Schema[]).map(typeWords);
    return [...new Set(words)].join(" or ");
  }
  if (schema.type === "array") return `list of ${typeWords((schema.items ?? {}) as Schema)}`;
  if (schema.type === "object") {
    const inside = Object.keys((schema.properties ?? {}) as object);
    return inside.length ? `{${inside.join(", ")}}` : "object";
  }
  if (schema.type === "string") return "text";
  return typeof schema.type === "string" ? schema.type : "any JSON";
}

/** Written by hand: doors, credentials and events are the same for all methods, so no schema says them. */
const HEAD = `# Protocol

Printed from the method registry by \`npx tsx scripts/protocol.mjs\`; a test fails when this page is stale. The same as JSON
Schema: [protocol.schema.json](protocol.schema.json).

## Doors

- **HTTP** \`POST /rpc/<method>\` with the parameters as JSON body. The answer is the result, or
  \`{"error": {code, message, hint?, retry, details?}}\`. The header \`Idempotency-Key\` can be used instead of \`idempotencyKey\`.
- **WebSocket** \`/ws\`. Frames: \`{"type":"req",id,method,params,key?}\` → \`{"type":"res",id,ok,payload|error}\`, and
  \`{"type":"event",event,payload,seq}\` pushed by the server. \`key\` can be used instead of \`idempotencyKey\`.
- **Attachments** \`POST /attachments\`: a file as the raw body, up to 20 MB, its name percent-encoded in \`x-lares-name\` (right:
  write) → 201 \`{id, name, mediaType, bytes, kind: image|text|file}\`. PNG, JPEG, GIF, WebP, PDF and text in UTF-8, known by their
  bytes. Name the id in \`chat.send\`; unused files are deleted after a day. \`GET /attachments/<id>\` returns the bytes (right: read).
- **Simple chat** \`POST /chat {"user_id","message"}\`. **OpenAI-compatible** \`GET /v1/models\`, \`POST /v1/chat/completions\`,
  \`POST /v1/responses\`. **Figures** \`GET /metrics\` (Prometheus). **Health** \`GET /healthz\`, \`GET /readyz\`. **Name** \`GET /program\`: how to call
  this program where hints say \`lares\`.
- **Face** A client that a person uses sends \`x-lares-face: terminal\`, so that the model knows a person is at the terminal. Without it, the caller counts as a program over HTTP.
- **\`/v1\`** \`model\` is \`lares\`, \`lares/<agent>\`, \`provider/model\` or a model's bare name; others are a 404 that lists the known names.
  The fields are in a table below; one that isn't supported is a 400 that names it. The
  answer's \`model\` is the one that answered; \`lares\` has turn, session, state, notices and \`practice\`, on streams in the last chunk.
  Streams wait for the model before they send headers, at most 20 s, so that \`x-lares-model\` is there and every chunk names the
  model; when a fallback takes over midway, later chunks name that one. A turn that fails before that is an ordinary error
  with its status; one that fails later ends the stream with \`{"error": {message, type, code, param}}\`, without a
  \`finish_reason\` and without \`[DONE]\` (\`/v1/responses\`: \`response.failed\`). The practice model answers \`json_object\` as
  \`{"answer", "practice"}\` and refuses \`json_schema\` with 400. The content is what
  the model said: notices (a fallback, a setting it doesn't take) are in \`lares.notices\` and, on whole answers, percent-encoded in
  \`x-lares-notice\`. Only the practice model's label is in the words, and in \`x-lares-practice\`. An answer that was asked for as
  JSON is checked, without \`pattern\`: one that isn't in the format ends with 502 or the stream's error, code \`answer_format\`;
  JSON in a fenced block is unwrapped, and a schema that can't be checked is a 400. Without \`user\` a separate conversation, deleted \`retention.callHours\` (24) after its last use; until then
  \`previous_response_id\` continues it.

## Credentials

- A token: \`Authorization: Bearer <token>\`, on every request and on the upgrade of \`/ws\`; or as the first frame of a socket,
  \`{"type":"req","id":"1","method":"connect","params":{"token":"…"}}\`. Rights are computed by the server from the token:
  \`read\`, \`write\`, \`approvals\`, \`admin\`. Nothing is taken from a query.
- A browser: the link of \`login.code\` (\`lares dashboard\`) opens \`/login\`, whose script posts the one-time code.
  \`POST /login {"code"}\` sets an HttpOnly, SameSite=Strict cookie and answers \`{ok, proof}\`. A login is both: browsers send a
  host's cookies to all its ports, so every request with the cookie also carries \`x-lares-proof: <proof>\`, and the first frame
  on \`/ws\` is \`connect {"proof"}\`. The page keeps the proof in its origin's storage; it is not sent again. A code is valid
  once and for ten minutes; a login lasts 30 days from its last use. \`POST /logout\` ends it. \`GET /session\` →
  \`{signedIn, name?, scopes?, wasIn?}\`.
- Requests with a foreign Host, Origin or Sec-Fetch-Site are refused, and so are those that send Host, Origin or a credential
  twice. After twenty wrong credentials in a minute from one place, further wrong ones are answered with 429; the right one is
  always accepted. Revoking a credential closes its sockets.

## Idempotency

Every method that changes something takes an \`idempotencyKey\`. The same key of the same caller returns the same result,
also after a restart, for 24 hours; the same key with other parameters is a \`CONFLICT\`. Keys of \`chat.send\`,
\`/chat\` and \`/v1\` name the turn and are known forever; with another text, user or conversation they are a \`CONFLICT\` (409).

## Conversations

\`chat.send {session}\` (also \`/chat\`) names a conversation. A caller acts only in those it may see: with the right \`read\` in all,
without it in its own, which are those named after its id and those it has spoken in. Everything else is \`NOT_FOUND\`, whether it
exists or not. A key that does not exist starts a conversation only if it is \`agent:<agent>:web:<name>\` (right: read) or
\`agent:<agent>:<name>\` (right: admin; \`main\` is one). To start your own, send \`user\` instead of \`session\`: any name; the
same name continues the same conversation. Only Lares itself makes keys of chats, jobs and sub-agents.

## Events and coming back

Events are numbered by \`seq\`; the greeting \`hello {boot, seq}\` comes first. A client that comes back sends
\`connect {boot, lastSeq}\` and gets the control events it missed, or \`reload\` when they are no longer available (another \`boot\`, or
too long ago). Streamed text (\`turn.delta\`, \`turn.thinking\`) and \`log\` are not repeated: \`chat.live\` returns what running turns
have said so far, with the \`seq\` up to which that counts. A slow client gets streamed text merged into larger pieces; once it is 8 MB
behind, it is closed with 4008. Close codes: 4001 no credential in time · 4002 not a frame · 4003 wrong credential or none ·
4004 credential revoked · 4008 too slow · 4009 frame too large before login · 4010 the channel ended · 4029 too many wrong credentials · 1001 stopping.

## Programs that are channels

A program of yours can speak for an account under \`channels.external\`: its first frame on \`/ws\` is
\`{"type":"req","id":"1","method":"connect","params":{"role":"channel","channelId":"<account>","token":"<the account's token>"}}\`.
Such a socket has no methods and no events, only these frames:

- \`{"type":"inbound_message","id","userId","content","channelId"?,"userName"?,"chatId"?,"threadId"?,"group"?,"addressed"?,"forwarded"?,"voice"?,"media"?:[{name,mediaType,data}],"timestamp"?}\`
  → \`{"type":"ack","id","outcome","turn"?}\` once it is committed. \`outcome\`: admitted, known (seen before), refused or ignored. Send it
  again, with the same \`id\`, until the ack comes: it counts once. \`data\` is base64; a frame has at most 1 MB.
- \`{"type":"outbound_message","id","channelId","target","threadId"?,"content"}\` ← is sent again until \`{"type":"ack","id"}\` comes, one after
  another for each target, also after a kill on either side. Acknowledge an \`id\` you have seen before without showing it again.
- \`{"type":"error","id"?,"error"}\` for a frame that can't be understood.

One program speaks for an account; a second one closes the first (4010). Example: \`examples/channel.py\`.

## OpenAI-compatible API

\`model\`: \`lares\` (the default agent), \`lares/<agent>\`, or \`provider/model\` for the default agent on that model. \`user\` chooses
the session; without it a request is a separate conversation with the messages it carries. Tools in the request are
offered instead of Lares' own and returned as tool calls; such a request is always a separate conversation (chat completions) or
continues with \`previous_response_id\` (responses). \`tool_choice\` other than \`auto\` and \`none\` is explained to the model in words. A parked
turn answers 200 with a sentence that names the approval and \`x-lares-state: parked\`; its usage is what it has used so far.

Every field of OpenAI's schemas is *honoured*, *refused* with a 400 that names it, or *ignored* because it doesn't change the answer.
When a model doesn't take a setting that was passed on, a notice says so. Fields that OpenAI doesn't have are ignored.

\`POST /v1/chat/completions\`:

${printFields(COMPLETION_FIELDS)}
\`POST /v1/responses\`:

${printFields(RESPONSE_FIELDS)}`;
