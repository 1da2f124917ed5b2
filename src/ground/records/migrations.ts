/**
 * Every table, as numbered migrations: forward only, never edited once released. `PRAGMA user_version` is the number of the
 * last one applied. A long catalogue on purpose: this is where "what is stored?" is answered.
 */
export const MIGRATIONS: readonly string[] = [
  `
  -- Who owns the file: the boot epoch is checked in each commit, so a process that lost its claim cannot write (I11).
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO meta VALUES ('epoch', '0');

  -- Engine: one row a turn. status: open | parked | ended | attention. ord is the order of acknowledgement.
  CREATE TABLE engine_turn (
    id TEXT PRIMARY KEY,
    accept_id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    lane TEXT NOT NULL,
    ord INTEGER NOT NULL,
    status TEXT NOT NULL,
    body TEXT NOT NULL,
    segment INTEGER NOT NULL DEFAULT 0,
    wake TEXT NOT NULL,
    park_on TEXT,
    deadline INTEGER,
    state TEXT,
    state_version INTEGER,
    holds INTEGER NOT NULL DEFAULT 0,
    app_version TEXT,
    result TEXT,
    accepted_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Partial: 10,000 ended turns must not slow the few that are open or parked.
  CREATE INDEX engine_turn_open ON engine_turn (ord) WHERE status = 'open';
  CREATE INDEX engine_turn_deadline ON engine_turn (deadline) WHERE status = 'parked' AND deadline IS NOT NULL;
  CREATE INDEX engine_turn_holds ON engine_turn (session) WHERE status = 'parked' AND holds = 1;
  CREATE INDEX engine_turn_session ON engine_turn (session, ord);

  -- Engine: what a segment did. state: intent | done | unknown.
  CREATE TABLE engine_journal (
    turn TEXT NOT NULL,
    segment INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    attempt TEXT NOT NULL,
    payload TEXT,
    at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (turn, segment, idx)
  ) WITHOUT ROWID;

  -- Engine: events for a turn. One per name: the first wins.
  CREATE TABLE engine_event (
    turn TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    used INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL,
    PRIMARY KEY (turn, name)
  ) WITHOUT ROWID;

  -- Engine: one due slot per schedule.
  CREATE TABLE engine_slot (
    id TEXT PRIMARY KEY,
    due INTEGER NOT NULL,
    session TEXT NOT NULL,
    body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX engine_slot_due ON engine_slot (due);

  -- A conversation. context_from: messages before it are no longer shown to the model (reset, or the window moved on).
  CREATE TABLE session (
    key TEXT PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'local',
    agent TEXT NOT NULL,
    person TEXT,
    title TEXT,
    prompt TEXT,
    model TEXT,
    context_from INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX session_updated ON session (updated_at);

  -- The system prompt and tool list a session was started with: byte-stable for its life.
  CREATE TABLE prompt (
    hash TEXT PRIMARY KEY,
    system TEXT NOT NULL,
    tools TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- The history, one row a message. (turn, segment, idx, part) makes a repeated write the same row.
  CREATE TABLE message (
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    person TEXT,
    tokens INTEGER NOT NULL DEFAULT 0,
    meta TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
  ) WITHOUT ROWID;
  CREATE INDEX message_turn ON message (turn);

  -- The inbox: admitted messages. taken_by: the turn whose recorded model request contains it, and which request.
  CREATE TABLE inbox (
    ord INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    route TEXT NOT NULL,
    person TEXT,
    mode TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    taken_by TEXT,
    taken_call INTEGER
  );
  CREATE INDEX inbox_waiting ON inbox (session, ord) WHERE taken_by IS NULL;

  -- A turn as people look at it.
  CREATE TABLE turn (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'local',
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    person TEXT,
    accept_id TEXT NOT NULL,
    route TEXT NOT NULL,
    lane TEXT NOT NULL,
    state TEXT NOT NULL,
    result TEXT,
    accepted_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX turn_session ON turn (session, accepted_at);
  CREATE INDEX turn_accept ON turn (accept_id);
  CREATE INDEX turn_open ON turn (state) WHERE ended_at IS NULL;

  CREATE TABLE approval (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'local',
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    call TEXT NOT NULL,
    shown TEXT NOT NULL,
    because TEXT NOT NULL,
    action TEXT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    answered_at INTEGER,
    answered_by TEXT,
    decision TEXT,
    reason TEXT
  ) WITHOUT ROWID;
  CREATE INDEX approval_pending ON approval (asked_at) WHERE state = 'pending';
  CREATE INDEX approval_turn ON approval (turn);

  -- "Allow always": the exact rule that was shown, per agent.
  CREATE TABLE remembered (
    agent TEXT NOT NULL,
    rule TEXT NOT NULL,
    approval TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (agent, rule)
  ) WITHOUT ROWID;

  -- The outbox. state: intended | sending | sent | uncertain | expired | failed.
  CREATE TABLE delivery (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'local',
    answer TEXT NOT NULL,
    part INTEGER NOT NULL,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    route TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    platform_id TEXT,
    error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (next_at) WHERE state IN ('intended', 'sending');
  CREATE INDEX delivery_turn ON delivery (turn);

  -- One row a model call: the ledger of tokens and money.
  CREATE TABLE usage (
    turn TEXT NOT NULL,
    call INTEGER NOT NULL,
    tenant TEXT NOT NULL DEFAULT 'local',
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost REAL,
    ms INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (turn, call)
  ) WITHOUT ROWID;
  CREATE INDEX usage_at ON usage (at);

  -- Jobs: what the agent does without being asked. spec: the whole job as JSON (core/domain Job).
  CREATE TABLE job (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'local',
    name TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    spec TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    declared INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    signature TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Slots, made ahead. state: pending | running | done | failed | skipped | missed, the last three with a reason.
  CREATE TABLE slot (
    job TEXT NOT NULL,
    due INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    turn TEXT,
    started_at INTEGER,
    ended_at INTEGER,
    PRIMARY KEY (job, due)
  ) WITHOUT ROWID;
  CREATE INDEX slot_turn ON slot (turn) WHERE turn IS NOT NULL;
  CREATE INDEX slot_open ON slot (due) WHERE state IN ('pending', 'running');
  `,
  `
  -- Scoped tokens. Only the hash is kept; the token is shown once.
  CREATE TABLE access_token (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER
  ) WITHOUT ROWID;

  -- Browser logins. principal and source: whose rights it has and the credential it rests on.
  CREATE TABLE access_login (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    source TEXT NOT NULL,
    agent TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Idempotency keys of methods: the same key gets the same result.
  CREATE TABLE replay (
    principal TEXT NOT NULL,
    method TEXT NOT NULL,
    key TEXT NOT NULL,
    params TEXT NOT NULL,
    result TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (principal, method, key)
  ) WITHOUT ROWID;
  CREATE INDEX replay_at ON replay (at);
  `,
];
