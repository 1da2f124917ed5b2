import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import {
  acceptIds,
  accountPrefix,
  agentInSession,
  answerIds,
  approvalAskedIn,
  attentionCursor,
  attentionIdSql,
  attentionIds,
  attentionKind,
  commandLane,
  compactLane,
  copiedTurn,
  countScopeRange,
  countScopes,
  creatorKeys,
  deliveryId,
  EDITOR_MARK,
  editKeyRange,
  eventKeys,
  heartbeatName,
  idempotencyKeys,
  importedTurn,
  isAboutApproval,
  isAgentScope,
  isAgentSession,
  isApprovalId,
  isAskedAnswer,
  isChildOf,
  isChildSession,
  isEscapedPart,
  isNote,
  isReplyId,
  isSingleTask,
  isSpawnKey,
  isTurnAnswer,
  jobBehindSession,
  keptSign,
  messageIds,
  noticeIds,
  readAccountName,
  readAgentSession,
  readAttentionCursor,
  readChildSession,
  readEditorSession,
  readInputId,
  readJobSource,
  readReplyId,
  readRunSession,
  readScope,
  readSessionPlace,
  readSessionSource,
  runSessionRange,
  scopeKeys,
  senderAt,
  sessionKeys,
  sourceKeys,
  timerIds,
  toAccountName,
  toApprovalId,
  withoutCommandLane,
  withoutCompactLane,
} from "./keys.ts";

/** Ids of ours: agents, jobs, turns, approvals. */
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);
/** What a platform calls something. */
const anything = fc.string({ minLength: 1, maxLength: 20 });
const count = fc.nat();
const slashless = anything.filter((part) => !part.includes("/"));
const account = fc.record({ channel: slashless, account: slashless });
/** Any session that sub-agents can be asked for from. */
const session = fc.oneof(
  fc.tuple(name, name).map(([agent, place]) => sessionKeys.at(agent, place)),
  fc.tuple(name, count).map(([job, due]) => sessionKeys.run(job, due)),
  name.map(sessionKeys.goal),
);

describe("a key is read as it was made", () => {
  const holds = <T>(what: fc.Arbitrary<T>, check: (value: T) => void) => fc.assert(fc.property(what, check));

  test("an account, and nothing that only resembles one", () => {
    holds(account, (at) => {
      expect(readAccountName(toAccountName(at))).toEqual(at);
    });
    holds(fc.string(), (name) => {
      const read = readAccountName(name);
      if (read) expect(toAccountName(read)).toBe(name);
      else expect(name.split("/").filter(Boolean).length === 2 && name.split("/").length === 2).toBe(false);
    });
    expect(["telegram", "telegram/", "/main", "a/b/c", ""].map(readAccountName)).toEqual(Array(5).fill(undefined));
  });

  test("what is counted within an account, and nothing of one whose name begins alike", () => {
    holds(fc.record({ at: account, person: anything }), ({ at, person }) => {
      const scope = scopeKeys.account(at);
      const { from, to } = countScopeRange(scope);
      const isWithin = (key: string) => key >= from && key < to;
      expect(isWithin(countScopes.within(scope, person))).toBe(true);
      expect(isWithin(scopeKeys.account({ ...at, account: `${at.account}2` }))).toBe(false);
    });
  });

  test("an agent's session", () => {
    holds(fc.record({ agent: name, parts: fc.array(name, { minLength: 1 }) }), ({ agent, parts }) => {
      const key = sessionKeys.at(agent, ...parts);
      expect(readAgentSession(key)).toEqual({ agent, parts });
      expect(agentInSession(key)).toBe(agent);
      expect(isAgentSession(key)).toBe(true);
    });
  });

  test("an agent's session whose parts come from a platform: as many parts, none of which says more than it should", () => {
    holds(fc.record({ agent: name, parts: fc.array(anything, { minLength: 1 }) }), ({ agent, parts }) => {
      const read = readAgentSession(sessionKeys.at(agent, ...parts));
      expect(read?.agent).toBe(agent);
      expect(read?.parts.map((part) => decodeURIComponent(part.replace(/%(?![0-9A-F]{2})/g, "%25")))).toEqual(parts);
      expect(read?.parts.every(isEscapedPart)).toBe(true);
    });
  });

  test("a sub-agent's session, however deep", () => {
    holds(fc.tuple(session, fc.array(name, { minLength: 1, maxLength: 4 })), ([top, marks]) => {
      let parent: string = top;
      for (const mark of marks) {
        const key = sessionKeys.child(parent, mark);
        expect(readChildSession(key)).toEqual({ parent, mark });
        expect(isChildOf(key, parent)).toBe(true);
        expect([isChildSession(key), isSingleTask(key)]).toEqual([true, true]);
        expect(jobBehindSession(key)).toBe(readRunSession(top)?.job);
        parent = key;
      }
      expect(readChildSession(top)).toBeUndefined();
    });
  });

  test("a run of a job, which lies among the job's runs", () => {
    holds(fc.record({ job: name, due: count }), ({ job, due }) => {
      const key = sessionKeys.run(job, due);
      expect(readRunSession(key)).toEqual({ job, due });
      expect(jobBehindSession(key)).toBe(job);
      expect([isSingleTask(key), isSingleTask(sessionKeys.job(job)), isSingleTask(sessionKeys.main(job))]).toEqual([
        true,
        false,
        false,
      ]);
      const { from, to } = runSessionRange(job);
      expect(key >= from && key < to).toBe(true);
      expect(readRunSession(sessionKeys.job(job))).toBeUndefined();
      const own: string = sessionKeys.job(job);
      expect(own >= from && own < to).toBe(false);
    });
  });

  test("a lane beside a session", () => {
    holds(session, (key) => {
      expect(withoutCommandLane(commandLane(key))).toBe(key);
      expect(withoutCompactLane(compactLane(key))).toBe(key);
      expect(withoutCommandLane(key)).toBe(key);
      expect(withoutCompactLane(key)).toBe(key);
    });
  });

  test("a reply", () => {
    holds(fc.record({ turn: name, segment: count, call: count }), (given) => {
      const id = messageIds.reply(given.turn, given.segment, given.call);
      expect(readReplyId(id)).toEqual(given);
      expect(isReplyId(id)).toBe(true);
      expect(readReplyId(messageIds.results(given.turn, given.segment, given.call))).toBeUndefined();
    });
  });

  test("a question, its reminders and its answer", () => {
    holds(fc.record({ turn: name, approval: name, n: count }), ({ turn, approval, n }) => {
      const asked = answerIds.ask(turn, approval);
      expect(approvalAskedIn(asked)).toBe(approval);
      expect(isAboutApproval(asked, approval)).toBe(true);
      expect(isAboutApproval(answerIds.remind(turn, approval, n), approval)).toBe(true);
      const after = answerIds.asked(turn, approval);
      expect([isAskedAnswer(after), approvalAskedIn(after), isAboutApproval(after, approval)]).toEqual([
        true,
        undefined,
        false,
      ]);
      expect(isAskedAnswer(asked)).toBe(false);
      expect(isTurnAnswer(answerIds.answer(turn))).toBe(true);
      expect(isNote(answerIds.note(deliveryId(asked, n)))).toBe(true);
    });
  });

  test("a conversation on the page, and a sub-agent's below it: both are held there", () => {
    holds(fc.tuple(name, name, name), ([agent, chat, mark]) => {
      const key = sessionKeys.web(agent, chat);
      expect(readAgentSession(key)).toEqual({ agent, parts: ["web", chat] });
      expect(readSessionPlace(key)).toBe("web");
      expect(readSessionPlace(sessionKeys.child(key, mark))).toBe("web");
      expect(readSessionPlace(sessionKeys.at(agent, "telegram", "bot", chat))).toBe("telegram");
      expect(readSessionPlace(sessionKeys.run(chat, 1))).toBeUndefined();
    });
  });

  test("the message that a turn was made for", () => {
    holds(name, (turn) => {
      expect(readInputId(messageIds.input(turn))).toBe(turn);
      expect(readInputId(messageIds.given(turn))).toBeUndefined();
    });
  });

  test("where something comes from", () => {
    holds(anything, (from) => {
      expect(readJobSource(sourceKeys.job(from))).toBe(from);
      expect(readSessionSource(sourceKeys.session(from))).toBe(from);
      expect([readJobSource(sourceKeys.session(from)), readSessionSource(sourceKeys.job(from))]).toEqual([
        undefined,
        undefined,
      ]);
    });
  });

  test("whose something is", () => {
    holds(fc.string(), (of) => {
      for (const kind of ["agent", "team", "person"] as const) {
        expect(readScope(scopeKeys[kind](of))).toEqual({ kind, name: of });
      }
    });
    holds(account, (at) => {
      expect(readScope(scopeKeys.account(at))).toEqual({ kind: "account", name: toAccountName(at) });
    });
    expect([readScope("shared"), readScope("public"), readScope("")]).toEqual([undefined, undefined, undefined]);
  });

  test("where a page of the attention list goes on", () => {
    holds(fc.record({ at: count, id: anything }), (from) => {
      expect(readAttentionCursor(attentionCursor(from))).toEqual(from);
    });
  });

  test("an account's messages begin alike, and an edit lies behind its message", () => {
    const at = fc.record({ channel: name, account: name, chat: anything });
    holds(fc.tuple(at, anything, anything), ([place, message, edit]) => {
      const id = acceptIds.message(place, message);
      expect(id.startsWith(acceptIds.allMessages(place))).toBe(true);
      const edited = acceptIds.message(place, `${message}:${edit}`);
      const { from, to } = editKeyRange(id);
      expect(edited > from && edited < to).toBe(true);
    });
  });
});

test("the stored forms never change: databases hold them", () => {
  const at = { channel: "telegram", account: "bot", chat: "-1:2" };
  expect({
    main: sessionKeys.main("main"),
    chat: sessionKeys.at("main", "telegram", "bot", "a:b #c%"),
    imported: sessionKeys.imported("main", "hermes", "x"),
    child: sessionKeys.child("agent:main:main", "c1"),
    job: sessionKeys.job("j_1"),
    run: sessionKeys.run("j_1", 12),
    goal: sessionKeys.goal("g_1"),
    hook: sessionKeys.hook("ci", "ab"),
    watch: sessionKeys.watch("feed", "ab"),
    web: sessionKeys.web("main", "x1"),
    editor: sessionKeys.editor("main", "/srv/my app", "ed_1"),
    goalTimer: sessionKeys.goalTimer("g_1"),
    childTimer: sessionKeys.childTimer("t_1"),
    night: sessionKeys.night("main"),
    command: commandLane("agent:main:main"),
    compact: compactLane("agent:main:main"),
  }).toEqual({
    main: "agent:main:main",
    chat: "agent:main:telegram:bot:a%3Ab%20%23c%25",
    imported: "agent:main:import:hermes:x",
    child: "sub:agent:main:main:c1",
    job: "cron:j_1",
    run: "cron:j_1:run:12",
    goal: "goal:g_1",
    hook: "hook:ci:ab",
    watch: "watch:feed:ab",
    web: "agent:main:web:x1",
    editor: "agent:main:editor:/srv/my%20app:ed_1",
    goalTimer: "judge:g_1",
    childTimer: "child:t_1",
    night: "memory:main",
    command: "agent:main:main#command",
    compact: "agent:main:main#compact",
  });
  expect([timerIds.goal("g_1"), timerIds.child("t_1"), timerIds.night("main")]).toEqual([
    "goal:g_1",
    "child:t_1",
    "memory-night:main",
  ]);
  expect([
    acceptIds.message(at, "7"),
    acceptIds.allMessages(at),
    acceptIds.idempotent(at, "k"),
    acceptIds.timer("j_1", 12),
    acceptIds.compaction("s", 1, 2, 3),
    acceptIds.forgotten("t_1"),
  ]).toEqual([
    "msg:telegram:bot:-1:2:7",
    "msg:telegram:bot:",
    "key:telegram:bot:k",
    "schedule:j_1:12",
    "compact:s:1:2:3",
    "forgotten:t_1",
  ]);
  expect([
    idempotencyKeys.slot("j_1", 12),
    idempotencyKeys.spawn("k"),
    idempotencyKeys.send("k"),
    idempotencyKeys.correct("t_1"),
    idempotencyKeys.goal("g_1", 2),
  ]).toEqual(["slot:j_1:12", "spawn:k", "send:k", "fix:t_1", "goal:g_1:2"]);
  expect([isSpawnKey(idempotencyKeys.spawn("k")), isSpawnKey(idempotencyKeys.send("k"))]).toEqual([true, false]);
  expect([
    eventKeys.hook("ci", "ab"),
    eventKeys.watch("feed", "ab", "cd"),
    eventKeys.wake("owner", "k"),
    eventKeys.process("p_1"),
    eventKeys.child("t_1"),
    eventKeys.stalled("t_1"),
    heartbeatName("main"),
  ]).toEqual([
    "hook:ci:ab",
    "watch:feed:ab:cd",
    "wake:owner:k",
    "process:p_1",
    "child:t_1",
    "stall:t_1",
    "heartbeat:main",
  ]);
  expect([
    messageIds.input("t_1"),
    messageIds.reply("t_1", 0, 2),
    messageIds.results("t_1", 0, 2),
    messageIds.given("t_1"),
    messageIds.said("t_1"),
    messageIds.outcome("t_1", 1, "ap_1"),
    messageIds.after("t_1", 1, "c1"),
    messageIds.copied("s", "t_1:in"),
    messageIds.imported("hermes", "ab", 3),
    importedTurn("x"),
  ]).toEqual([
    "t_1:in",
    "t_1:0:2:reply",
    "t_1:0:2:results",
    "t_1:given",
    "t_1:said",
    "t_1:1:outcome:ap_1",
    "t_1:1:after:c1",
    "s/t_1:in",
    "imp:hermes:ab:3",
    "imp:x",
  ]);
  expect([
    answerIds.answer("t_1"),
    answerIds.sent("t_1", "k"),
    answerIds.ask("t_1", "ap_1"),
    answerIds.asked("t_1", "ap_1"),
    answerIds.remind("t_1", "ap_1", 2),
    answerIds.held("t_1", "ap_1"),
    answerIds.draft("t_1"),
    answerIds.beat("t_1"),
    answerIds.alert("j_1", 12),
    answerIds.goal("g_1", 2, "done"),
    answerIds.note(deliveryId(answerIds.answer("t_1"), 1)),
  ]).toEqual([
    "t_1:answer",
    "t_1:message:k",
    "t_1:ask:ap_1",
    "t_1:asked:ap_1",
    "t_1:remind:ap_1:2",
    "t_1:held:ap_1",
    "t_1:draft",
    "t_1:beat",
    "j_1:12:alert",
    "g_1:2:done",
    "t_1:answer/001:note",
  ]);
  expect([
    scopeKeys.agent("a"),
    scopeKeys.team("t"),
    scopeKeys.person("p"),
    scopeKeys.account({ channel: "x", account: "y" }),
  ]).toEqual(["agent:a", "team:t", "person:p", "account:x/y"]);
  expect([isAgentScope(scopeKeys.agent("a")), isAgentScope(scopeKeys.account({ channel: "a", account: "b" }))]).toEqual(
    [true, false],
  );
  expect([
    sourceKeys.hook("ci"),
    sourceKeys.watch("feed"),
    sourceKeys.wake("owner"),
    sourceKeys.goal("g_1"),
    sourceKeys.job("daily"),
    sourceKeys.process("p_1"),
    sourceKeys.session("s"),
  ]).toEqual(["hook:ci", "watch:feed", "wake:owner", "goal:g_1", "schedule:daily", "process:p_1", "session:s"]);
});

test("the stored forms of what is said without a turn, is counted or needs a person never change", () => {
  const at = { channel: "telegram", account: "bot" };
  expect([
    noticeIds.refused("7"),
    noticeIds.loop("c", 3),
    noticeIds.limit({ scope: "agent:main", hours: 24, window: 5, chat: "c" }),
    noticeIds.pairing("AB"),
    noticeIds.paired("AB"),
    noticeIds.trial("m_1"),
    countScopes.person(at, "telegram:7"),
    countScopes.chat(at, "c"),
    countScopes.refused(at, "7"),
    keptSign("t_1"),
    creatorKeys.chat(at, "7"),
    idempotencyKeys.snooze("owner", 12),
    senderAt(at, "7"),
    idempotencyKeys.command("s", "7"),
    copiedTurn("t_1"),
  ]).toEqual([
    "refused:7",
    "loop:c:3",
    "limit:agent:main:24:5:c",
    "pairing:AB",
    "paired:AB",
    "test:m_1",
    "default:telegram/bot/telegram:7",
    "chat:telegram/bot/c",
    "refused:telegram/bot/7",
    "#ack:t_1",
    "chat telegram/bot 7",
    "owner 12",
    "telegram:bot:7",
    "s:7",
    "imported:t_1",
  ]);
  expect([
    attentionIds.approval("ap_1"),
    attentionIds.problem(0),
    attentionIds.channel(at),
    attentionIds.watch("feed"),
    attentionIdSql("turn", "t.id"),
    attentionIdSql("effect", "j.turn", "j.segment"),
  ]).toEqual([
    "approval:ap_1",
    "problem:0",
    "channel:telegram/bot",
    "watch:feed",
    "'turn:' || t.id",
    "'effect:' || j.turn || ':' || j.segment",
  ]);
  expect(attentionKind(attentionIds.channel(at))).toBe("channel");
});

test("the sessions that an agent has with an account begin alike", () => {
  const web = { channel: "http", account: "owner" };
  expect(accountPrefix("agent:main:http:owner:chat", web)).toBe("agent:main:http:owner:");
  expect(accountPrefix("agent:main:main", web)).toBeUndefined();
});

test.each(["agent:main", "agent::x", "sub:agent:main:main:c", "cron:j:run:1", "main", ""])(
  "%s is no conversation of an agent's",
  (key) => expect(agentInSession(key)).toBeUndefined(),
);

test.each(["cron:j", "cron::run:1", "cron:j:ran:1", "agent:main:cron:j:run:1", "sub:cron"])(
  "%s is no run of a job",
  (key) => {
    expect(readRunSession(key)).toBeUndefined();
    expect(jobBehindSession(key)).toBeUndefined();
  },
);

test("an editor's session says which folder it is about, and so do its sub-agents'", () => {
  const key = sessionKeys.editor("main", "/srv/a b:c%#", "ed_1");
  const read = { agent: "main", folder: "/srv/a b:c%#", id: "ed_1" };
  expect(readEditorSession(key)).toEqual(read);
  expect(readEditorSession(sessionKeys.child(sessionKeys.child(key, "c1"), "c2"))).toEqual(read);
  expect(key).toContain(EDITOR_MARK);
  for (const other of ["agent:main:editor", "agent:main:editor:/srv", "agent:main:web:/srv:x", "agent:main:main", ""])
    expect(readEditorSession(other)).toBeUndefined();
});

test("a question's id is known by its looks, so that one answered long ago can be asked for", () => {
  expect(isApprovalId(toApprovalId("0123abc"))).toBe(true);
  for (const other of ["0123abc", "map_0123abc", ""]) expect(isApprovalId(other)).toBe(false);
});
