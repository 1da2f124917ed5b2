/**
 * Every table, as numbered migrations: forward only, never edited once released. `PRAGMA user_version` is the number of the
 * last one applied. A long catalogue on purpose: this is where "what is stored?" is answered.
 *
 * The text is SQLite's, and by rule PostgreSQL's: types, keys and the tenant follow from it. What each database needs of its own comes
 * after it.
 */
type Migration = string | { both: string; sqlite: string; postgres: string };

const STEPS: readonly Migration[] = [
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
    thinking TEXT,
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
    outside INTEGER NOT NULL DEFAULT 0,
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
    authority TEXT NOT NULL DEFAULT 'outside',
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

  -- Sub-agents: one row a child run. told: its result is in the parent's inbox.
  CREATE TABLE child (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    parent_turn TEXT NOT NULL,
    parent_session TEXT NOT NULL,
    parent_route TEXT NOT NULL,
    parent_agent TEXT NOT NULL,
    agent TEXT NOT NULL,
    task TEXT NOT NULL,
    depth INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    told INTEGER NOT NULL,
    made_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX child_untold ON child (parent_session) WHERE told = 0;
  CREATE INDEX child_parent ON child (parent_session, made_at);
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
  `
  -- What was spent, summed as it is settled, so that asking costs no more on a busy day. kind: all | agent | session | schedule;
  -- name: which one; day: the local day, empty for a session, which is counted over its life. warned_at: told once.
  CREATE TABLE budget_spent (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    day TEXT NOT NULL,
    dollars REAL NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    warned_at INTEGER,
    PRIMARY KEY (kind, name, day)
  ) WITHOUT ROWID;

  -- One row a model call under way: what was set aside for it, and what it surely costs once it was sent.
  CREATE TABLE budget_hold (
    turn TEXT NOT NULL,
    call INTEGER NOT NULL,
    scopes TEXT NOT NULL,
    dollars REAL NOT NULL,
    tokens INTEGER NOT NULL,
    sent_dollars REAL NOT NULL,
    sent_tokens INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (turn, call)
  ) WITHOUT ROWID;

  -- Resource locks that are held, one row a call and path. A row of an earlier epoch is work that a crash cut off.
  CREATE TABLE resource_lock (
    path TEXT NOT NULL,
    fence INTEGER NOT NULL,
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    since INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (path, fence)
  ) WITHOUT ROWID;
  -- The newest fencing number ever given. Its own row: numbers never repeat, also when no lock is held.
  CREATE TABLE resource_fence (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL);
  INSERT INTO resource_fence VALUES (1, 0);
  -- Nothing can be put here: an insert that finds a lock lost fails, and its whole transaction with it (I11).
  CREATE TABLE resource_lost (path TEXT NOT NULL CHECK (0));
  `,
  {
    both: `
  -- Memory: one row a thing remembered; seq is the order of adding. state: live | pending | superseded. scope: who may see it.
  -- topic: subject and relation of a fact that has one value at a time. thread: items that follow each other in one
  -- conversation or document. words: what of it is in the index, kept because taking it out needs the same words.
  CREATE TABLE memory (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL DEFAULT 'local',
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    person TEXT,
    agent TEXT,
    source TEXT,
    place TEXT,
    trust TEXT NOT NULL,
    state TEXT NOT NULL,
    topic TEXT,
    superseded_by TEXT,
    thread TEXT,
    speaker TEXT,
    words TEXT NOT NULL,
    at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER,
    uses INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER
  );
  CREATE INDEX memory_topic ON memory (scope, topic) WHERE topic IS NOT NULL AND state = 'live';
  CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
  CREATE INDEX memory_pending ON memory (seq) WHERE state = 'pending';
  CREATE INDEX memory_expiry ON memory (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX memory_source ON memory (source) WHERE kind = 'document';
  -- One vector a live row, of the embedder named; bytes: signed 8-bit steps of a vector of length 1.
  CREATE TABLE memory_vector (seq INTEGER PRIMARY KEY, model TEXT NOT NULL, bytes BLOB NOT NULL);
  -- The entity graph: names, which rows speak of them (observations), and typed relations with the row that says so.
  CREATE TABLE memory_entity (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    norm TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (scope, norm)
  );
  CREATE TABLE memory_mention (
    entity INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (entity, seq)
  ) WITHOUT ROWID;
  CREATE INDEX memory_mention_seq ON memory_mention (seq);
  CREATE TABLE memory_relation (
    scope TEXT NOT NULL,
    relation TEXT NOT NULL,
    subject TEXT NOT NULL,
    object TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, relation, subject, object, seq)
  ) WITHOUT ROWID;
  CREATE INDEX memory_relation_seq ON memory_relation (seq);
  -- Files of indexed folders: what of them is in memory.
  CREATE TABLE memory_file (
    path TEXT NOT NULL,
    scope TEXT NOT NULL,
    folder TEXT NOT NULL,
    mtime INTEGER NOT NULL,
    size INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (scope, path)
  ) WITHOUT ROWID;

  -- Sessions as the index of their messages sees them. n * 2^24 + seq is a message's number in the index; messages after
  -- indexed up to top wait for the background pass.
  CREATE TABLE message_shelf (
    n INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    indexed INTEGER NOT NULL DEFAULT 0,
    top INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX message_shelf_waiting ON message_shelf (n) WHERE indexed < top;
  CREATE INDEX session_person ON session (person) WHERE person IS NOT NULL;
  INSERT INTO message_shelf (session, top) SELECT session, MAX(seq) FROM message GROUP BY session ORDER BY MIN(at);
  `,
    sqlite: `
  -- The words are analysed before they come here: this is only the way from a word to rows. Deleting really deletes.
  CREATE VIRTUAL TABLE memory_fts USING fts5(
    words, content = '', detail = none, columnsize = 0,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
  );
  INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1);
  CREATE VIRTUAL TABLE memory_fts_word USING fts5vocab(memory_fts, row);
  CREATE VIRTUAL TABLE message_fts USING fts5(
    words, content = '', contentless_delete = 1, detail = none,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
  );
  CREATE TRIGGER message_shelved AFTER INSERT ON message BEGIN
    INSERT INTO message_shelf (session, top) VALUES (new.session, new.seq)
    ON CONFLICT (session) DO UPDATE SET top = MAX(top, excluded.top);
  END;
  CREATE TRIGGER message_unshelved AFTER DELETE ON message BEGIN
    DELETE FROM message_fts WHERE rowid =
      (SELECT n * 16777216 + old.seq FROM message_shelf WHERE session = old.session AND indexed >= old.seq);
  END;
  `,
    postgres: `
  -- The words are analysed before they come here, so nothing stems or drops them: the same words are found on both databases.
  CREATE FUNCTION analysed(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_tsvector(coalesce(array_agg(word), '{}'))
    FROM unnest(string_to_array(words, ' ')) AS word WHERE word <> '' AND octet_length(word) <= 2046 $$;
  CREATE TABLE memory_fts (
    rowid BIGINT NOT NULL, words TEXT COLLATE "C" NOT NULL, found tsvector GENERATED ALWAYS AS (analysed(words)) STORED,
    tenant TEXT COLLATE "C" NOT NULL DEFAULT current_setting('lares.tenant'), PRIMARY KEY (rowid, tenant)
  );
  CREATE INDEX memory_fts_found ON memory_fts USING gin (found);
  CREATE TABLE message_fts (
    rowid BIGINT NOT NULL, words TEXT COLLATE "C" NOT NULL, found tsvector GENERATED ALWAYS AS (analysed(words)) STORED,
    tenant TEXT COLLATE "C" NOT NULL DEFAULT current_setting('lares.tenant'), PRIMARY KEY (rowid, tenant)
  );
  CREATE INDEX message_fts_found ON message_fts USING gin (found);
  CREATE FUNCTION message_shelved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO message_shelf (session, top) VALUES (new.session, new.seq)
    ON CONFLICT (session, tenant) DO UPDATE SET top = GREATEST(message_shelf.top, excluded.top);
    RETURN NULL;
  END $$;
  CREATE TRIGGER message_shelved AFTER INSERT ON message FOR EACH ROW EXECUTE FUNCTION message_shelved();
  CREATE FUNCTION message_unshelved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM message_fts WHERE rowid =
      (SELECT n * 16777216 + old.seq FROM message_shelf WHERE session = old.session AND indexed >= old.seq);
    RETURN NULL;
  END $$;
  CREATE TRIGGER message_unshelved AFTER DELETE ON message FOR EACH ROW EXECUTE FUNCTION message_unshelved();
  `,
  },
  `
  -- Background processes. state: starting | running | exited | killed | lost. started tells a process from another with its
  -- pid; told: its session knows of its end.
  CREATE TABLE process (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    route TEXT NOT NULL,
    command TEXT NOT NULL,
    pid INTEGER,
    started TEXT,
    stop TEXT,
    state TEXT NOT NULL,
    exit INTEGER,
    told INTEGER NOT NULL DEFAULT 0,
    made_at INTEGER NOT NULL,
    ended_at INTEGER
  );
  CREATE INDEX process_session ON process (session, made_at);
  CREATE INDEX process_untold ON process (made_at) WHERE told = 0;
  `,
  `
  -- Checkpoints: one row a call and file it changed, in order. turn: or the id of an undo. before, after: sha256 of the content, '-' for
  -- no file, '?' when nobody looked; after is NULL while the call works, leaves is what it will leave when that is known.
  -- path '' stands for a command itself, with a note on what of its doing is not known.
  CREATE TABLE checkpoint (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    path TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    before TEXT NOT NULL,
    mode INTEGER,
    after TEXT,
    leaves TEXT,
    note TEXT,
    at INTEGER NOT NULL,
    UNIQUE (turn, call, path)
  );
  CREATE INDEX checkpoint_before ON checkpoint (before);
  CREATE INDEX checkpoint_session ON checkpoint (session, seq);
  CREATE INDEX checkpoint_at ON checkpoint (at);
  -- The contents in the home's checkpoints/, by hash.
  CREATE TABLE checkpoint_blob (hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  -- Undos; one without an end was cut off and is finished by the same undo again or the next start.
  CREATE TABLE undo (
    id TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    at INTEGER NOT NULL,
    ended_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX undo_turn ON undo (turn, at);

  -- When a question nobody answered is said again, and how often it was.
  ALTER TABLE approval ADD COLUMN reminded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE approval ADD COLUMN remind_at INTEGER;
  CREATE INDEX approval_remind ON approval (remind_at) WHERE state = 'pending' AND remind_at IS NOT NULL;
  CREATE INDEX approval_session ON approval (session, asked_at);
  -- The code people type is an id's ending.
  CREATE INDEX approval_code ON approval (substr(id, -6));
  `,
  `
  -- Files people send along; the bytes lie in the home's attachments folder under the id. session: null until a message names
  -- it; unused ones go after a day.
  CREATE TABLE attachment (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    session TEXT
  ) WITHOUT ROWID;
  CREATE INDEX attachment_unused ON attachment (made_by, made_at) WHERE session IS NULL;
  CREATE INDEX attachment_session ON attachment (session) WHERE session IS NOT NULL;
  -- What was attached to the message, as parts of it: pictures by reference, text files as text.
  ALTER TABLE inbox ADD COLUMN attached TEXT;
  `,
  `
  -- What happened without anybody saying it, on its way to a session's inbox. text: label and body, null when only counted or
  -- told. told: the turn whose message carries it. keep_until: until when the key is remembered; null for ever.
  CREATE TABLE system_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    route TEXT NOT NULL,
    authority TEXT NOT NULL,
    outside INTEGER NOT NULL,
    lane TEXT NOT NULL,
    text TEXT,
    at INTEGER NOT NULL,
    keep_ms INTEGER,
    told TEXT,
    keep_until INTEGER
  );
  CREATE INDEX system_event_waiting ON system_event (session, seq) WHERE told IS NULL;
  CREATE INDEX system_event_told ON system_event (session, seq) WHERE told IS NOT NULL;
  CREATE INDEX system_event_keep ON system_event (keep_until) WHERE keep_until IS NOT NULL;
  -- Events a parked turn waits for: they come to it and not as a message. wait: the name it is parked on.
  CREATE TABLE event_claim (key TEXT PRIMARY KEY, turn TEXT NOT NULL, wait TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX event_claim_turn ON event_claim (turn);
  -- The message carries text from outside although its sender is known.
  ALTER TABLE inbox ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Starts of Lares that found a turn open, and when the turn went on. For the timeline.
  CREATE TABLE turn_restart (
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    resumed_at INTEGER NOT NULL,
    PRIMARY KEY (turn, at)
  ) WITHOUT ROWID;
  `,
  `
  -- What a channel's account keeps over restarts: its position ('#cursor', written with the last message heard) and its own things.
  CREATE TABLE channel_kept (
    channel TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (channel, account, name)
  ) WITHOUT ROWID;
  -- Who may talk besides those the file lists. context: 'direct' or a group's chat id. role: known | owner.
  CREATE TABLE channel_grant (
    channel TEXT NOT NULL,
    account TEXT NOT NULL,
    sender TEXT NOT NULL,
    context TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT,
    by TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (channel, account, sender, context)
  ) WITHOUT ROWID;
  -- Strangers who wait to be let in.
  CREATE TABLE pairing (
    channel TEXT NOT NULL,
    account TEXT NOT NULL,
    sender TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    name TEXT,
    route TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (channel, account, sender)
  ) WITHOUT ROWID;
  -- What a button on a platform stands for; the platform only ever sees the id.
  CREATE TABLE button (
    id TEXT PRIMARY KEY,
    approval TEXT NOT NULL,
    decision TEXT NOT NULL,
    made_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Messages per scope and window, for the limits of channels, people and agents.
  CREATE TABLE message_count (
    scope TEXT NOT NULL,
    at INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (scope, at)
  ) WITHOUT ROWID;
  -- A live answer on a platform: the message that is edited while the turn runs, and becomes the answer.
  CREATE TABLE draft (
    turn TEXT PRIMARY KEY,
    platform_id TEXT NOT NULL,
    route TEXT NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Forms besides the text (rich text, buttons, files), and which earlier delivery this one rewrites.
  ALTER TABLE delivery ADD COLUMN extra TEXT;
  CREATE INDEX delivery_answer ON delivery (answer);
  CREATE INDEX delivery_platform ON delivery (platform_id) WHERE platform_id IS NOT NULL;
  `,
  `
  -- What a run said, cut: another job may go on from it, and it outlives the run's session.
  ALTER TABLE slot ADD COLUMN output TEXT;
  -- What a watched file was at the last run.
  ALTER TABLE job ADD COLUMN seen TEXT;
  -- Whoever asks for the same job again, after a crash, is known by what made it.
  CREATE INDEX job_made ON job (json_extract(spec, '$.createdBy'));
  -- Sessions of single runs, and until when they are kept.
  CREATE TABLE run_session (session TEXT PRIMARY KEY, job TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX run_session_until ON run_session (until);

  -- An agent's heartbeat: what it has seen, what it last said, how often in a row it had nothing to say.
  CREATE TABLE beat (
    agent TEXT PRIMARY KEY,
    seen TEXT NOT NULL,
    useless INTEGER NOT NULL DEFAULT 0,
    paused TEXT,
    last_at INTEGER,
    last_said TEXT
  ) WITHOUT ROWID;
  CREATE TABLE beat_said (agent TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (agent, hash)) WITHOUT ROWID;
  `,
  `
  -- An edited message takes the place of the old one and of what followed: those stay here and are not shown to models.
  ALTER TABLE message ADD COLUMN replaced_by TEXT;
  `,
  `
  -- Sub-agents again: a session may be given more to do, so it may have several runs. root: the first run of one task; its
  -- corrections have the same. result: the JSON Schema its answer must fit. stalled: the parent was told that it is quiet.
  CREATE TABLE child_run (
    turn TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    session TEXT NOT NULL,
    parent_turn TEXT NOT NULL,
    parent_session TEXT NOT NULL,
    parent_route TEXT NOT NULL,
    parent_agent TEXT NOT NULL,
    agent TEXT NOT NULL,
    task TEXT NOT NULL,
    depth INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    told INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    result TEXT,
    corrected INTEGER NOT NULL DEFAULT 0,
    stalled INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  INSERT INTO child_run (turn, root, session, parent_turn, parent_session, parent_route, parent_agent, agent, task, depth,
    deadline, told, made_at)
    SELECT turn, turn, session, parent_turn, parent_session, parent_route, parent_agent, agent, task, depth, deadline, told,
    made_at FROM child;
  DROP TABLE child;
  CREATE INDEX child_run_untold ON child_run (parent_session) WHERE told = 0;
  CREATE INDEX child_run_parent ON child_run (parent_session, made_at);
  CREATE INDEX child_run_session ON child_run (session, made_at);
  `,
  `
  -- Compactions: the messages from from_seq up to to_seq are no longer shown; the carry-over stands in their place. They stay.
  -- session.compaction is the one in force; undoing goes back to previous. snapshot: what of memory this session reads.
  CREATE TABLE compaction (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    previous TEXT,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    carry TEXT NOT NULL,
    how TEXT NOT NULL,
    model TEXT,
    focus TEXT,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    tainted INTEGER NOT NULL,
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    undone_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX compaction_session ON compaction (session, at);
  ALTER TABLE session ADD COLUMN compaction TEXT;
  ALTER TABLE session ADD COLUMN snapshot TEXT;
  `,
  `
  -- What the beat under way has seen; it counts when the beat ended well.
  ALTER TABLE beat ADD COLUMN pending TEXT;
  `,
  `
  -- What is watched: how far it was seen. about: what the cursor belongs to. failures: looks in a row that failed.
  CREATE TABLE watch (
    name TEXT PRIMARY KEY,
    about TEXT NOT NULL,
    cursor TEXT,
    looked_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    error TEXT
  ) WITHOUT ROWID;
  `,
  `
  -- Memory in the background. why: the reason a pending one waits. memory_capture: how far a session was looked through.
  ALTER TABLE memory ADD COLUMN why TEXT;
  CREATE INDEX memory_shown ON memory (scope, seq) WHERE state = 'live' AND kind NOT IN ('episode', 'document');
  CREATE INDEX memory_learned ON memory (created_at) WHERE trust = 'agent';
  CREATE TABLE memory_capture (
    session TEXT PRIMARY KEY,
    upto INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Hashes of what people had forgotten, so that nothing automatic brings it back.
  CREATE TABLE memory_forgotten (hash TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  -- The human view: each file as it was last in step with the facts, with the fact behind each item. next_*: what is about to be
  -- written, durable before the file is.
  CREATE TABLE memory_view (
    agent TEXT NOT NULL,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    items TEXT NOT NULL,
    next_text TEXT,
    next_items TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (agent, file)
  ) WITHOUT ROWID;
  -- One run of the nightly pass: the file before and after, what it added and superseded, when it was undone.
  CREATE TABLE memory_condensation (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    at INTEGER NOT NULL,
    by_model TEXT,
    file_before TEXT NOT NULL,
    file_after TEXT,
    changes TEXT NOT NULL,
    undone_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX memory_condensation_at ON memory_condensation (agent, at);
  -- Folders people added: their documents are kept in step.
  CREATE TABLE memory_folder (
    dir TEXT NOT NULL,
    scope TEXT NOT NULL,
    at INTEGER NOT NULL,
    report TEXT,
    PRIMARY KEY (dir, scope)
  ) WITHOUT ROWID;
  `,
  `
  -- Standing goals. state: active | paused | done | blocked | limit | cancelled. turn, round: the turn worked on last.
  CREATE TABLE goal (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    route TEXT NOT NULL,
    outcome TEXT NOT NULL,
    proof TEXT,
    stop TEXT,
    state TEXT NOT NULL,
    why TEXT,
    turn TEXT,
    round INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    most_turns INTEGER NOT NULL,
    most_dollars REAL,
    most_tokens INTEGER,
    dollars REAL NOT NULL,
    tokens INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX goal_turn ON goal (turn) WHERE state = 'active';
  CREATE INDEX goal_session ON goal (session, made_at);
  `,
  `
  -- Vectors of two embedders at once: the old ones answer until the new ones are all there.
  ALTER TABLE memory_vector RENAME TO memory_vector_one;
  CREATE TABLE memory_vector (model TEXT NOT NULL, seq INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (model, seq));
  INSERT INTO memory_vector (model, seq, bytes) SELECT model, seq, bytes FROM memory_vector_one;
  DROP TABLE memory_vector_one;
  CREATE INDEX memory_vector_seq ON memory_vector (seq);
  `,
  `
  -- How whoever started a turn stands to the house (owner | known | outside | event), and whether several people read along.
  ALTER TABLE turn ADD COLUMN speaker TEXT;
  ALTER TABLE turn ADD COLUMN is_group INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- At a start: what was given up while nobody was told; and the whole tree below a turn that is stopped.
  CREATE INDEX delivery_lost ON delivery (updated_at) WHERE state IN ('failed', 'expired');
  CREATE INDEX child_run_turn ON child_run (parent_turn);
  `,
  `
  -- Heartbeats are found among ten thousand jobs without reading them.
  ALTER TABLE job ADD COLUMN kind TEXT GENERATED ALWAYS AS (coalesce(json_extract(spec, '$.kind'), 'work')) VIRTUAL;
  CREATE INDEX job_kind ON job (kind, name);
  `,
  `
  -- Lares' own line before a message: computed once at admission, so that no replay or change of zone alters a byte.
  ALTER TABLE inbox ADD COLUMN envelope TEXT;
  -- The group's title as the platform last gave it, and how the speaker wants to be called; for people, never identity.
  ALTER TABLE turn ADD COLUMN title TEXT;
  ALTER TABLE turn ADD COLUMN name TEXT;
  `,
  `
  -- A login is a cookie and a proof that only the page's origin can read. Logins made before have no proof: they end here.
  DELETE FROM access_login;
  ALTER TABLE access_login ADD COLUMN proof TEXT NOT NULL DEFAULT '';
  `,
  `
  -- What was asked with an idempotency key: the same key with something else is a conflict.
  ALTER TABLE turn ADD COLUMN fingerprint TEXT;
  `,
  `
  -- What each remembered rule has allowed so far.
  ALTER TABLE remembered ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE remembered ADD COLUMN used_at INTEGER;
  `,
  `
  -- Sessions in which a stranger spoke.
  CREATE INDEX inbox_stranger ON inbox (session) WHERE authority = 'stranger';
  `,
  `
  -- A person's own time zone, set with /timezone. Without a row: time.zone of the settings.
  CREATE TABLE person_zone (person TEXT PRIMARY KEY, zone TEXT NOT NULL, set_at INTEGER NOT NULL);
  `,
  `
  -- A conversation made for one call of a program: deleted some time after its last use.
  ALTER TABLE session ADD COLUMN brief INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX session_brief ON session (updated_at) WHERE brief = 1;
  `,
  `
  -- What was on the attention list and somebody took off it.
  CREATE TABLE attention_dismissed (id TEXT PRIMARY KEY, by TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  -- Failures are found among millions of good turns without reading them.
  CREATE INDEX turn_failed ON turn (ended_at) WHERE state IN ('failed', 'attention', 'declined');
  CREATE INDEX journal_unknown ON engine_journal (at) WHERE state = 'unknown';
  CREATE INDEX delivery_unsure ON delivery (updated_at) WHERE state IN ('failed', 'expired', 'uncertain');
  CREATE INDEX job_failing ON job (name) WHERE failures > 0;
  `,
  `
  -- How often tools may have changed something in an agent's folder.
  CREATE TABLE tool_change (folder TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- What an event's message is about, as a field (JSON: kind, text, of): people see it beside the message, models in its envelope.
  ALTER TABLE inbox ADD COLUMN label TEXT;
  `,
  `
  -- Attachments as files of an agent's workspace: path is below it. They go with the attachment, if nobody changed them.
  CREATE TABLE inbox_file (
    attachment TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX inbox_file_path ON inbox_file (agent, path);
  -- How much of the instructions is the same for all chats of the agent in this situation; null: not known.
  ALTER TABLE prompt ADD COLUMN shared INTEGER;
  `,
  `
  -- Results that stand in for a call's own while it waits (message: the row they are in). open: no model has read it, and the real
  -- one takes its place; seen: one has, and the real one comes as a later message; placed: it has taken its place.
  CREATE TABLE interim_result (
    message TEXT NOT NULL, call TEXT NOT NULL, session TEXT NOT NULL, turn TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
    PRIMARY KEY (message, call)
  ) WITHOUT ROWID;
  CREATE INDEX interim_open ON interim_result (session) WHERE state = 'open';
  CREATE INDEX interim_turn ON interim_result (turn);
  `,
  `
  -- The date and offset a reader has in mind after a message's own line (JSON), and where the model's view began (context_from):
  -- once that is another place, the date may be out of view and is given again.
  ALTER TABLE inbox ADD COLUMN shown TEXT;
  ALTER TABLE inbox ADD COLUMN shown_view INTEGER;
  `,
  `
  -- Where a person typed a message that came in by a door programs use too: terminal, page. Null: a program, or a platform.
  ALTER TABLE turn ADD COLUMN face TEXT;
  `,
  `
  -- Lines that people wrote into USER.md and MEMORY.md: all of them stand there, so they are read without a limit.
  CREATE INDEX memory_by_hand ON memory (scope, seq) WHERE state = 'live' AND kind NOT IN ('episode', 'document')
    AND source IN ('file:USER.md', 'file:MEMORY.md');
  `,
  `
  -- MCP servers: what is remembered of each (its era, its tools), the tools that were accepted, and programs that run. A pin's
  -- seen_at is null while no person has looked at the tool: it was there when the server was first listed.
  CREATE TABLE mcp_server (name TEXT PRIMARY KEY, memory TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE mcp_pin (
    server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, shown TEXT NOT NULL, seen_at INTEGER,
    PRIMARY KEY (server, tool)
  ) WITHOUT ROWID;
  CREATE TABLE mcp_run (key TEXT PRIMARY KEY, server TEXT NOT NULL) WITHOUT ROWID;
  `,
  `
  -- Set when people had a message forgotten: models read a mark in its place. The turn that was asked to, or empty for a person.
  ALTER TABLE message ADD COLUMN forgotten TEXT;
  `,
  `
  -- Other agents (A2A). a2a_hop: how many agents asked each other before a conversation with one of them.
  CREATE TABLE a2a_hop (session TEXT PRIMARY KEY, hops INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- What happened, for hooks that observe it, as long as one of them hasn't heard it; written only while somebody observes. And how
  -- far each observer has come.
  CREATE TABLE hook_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event TEXT NOT NULL, session TEXT, at INTEGER NOT NULL,
    facts TEXT NOT NULL
  );
  CREATE INDEX hook_event_session ON hook_event (session) WHERE session IS NOT NULL;
  CREATE TABLE hook_place (source TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- Agents of others that ours ask (A2A): the card that was accepted of each, and the tasks they were given. A hire is sending until the
  -- peer has said that it has the message, open while it works, told when its last word is in the session or its inbox, dropped
  -- when it is no longer wanted.
  CREATE TABLE a2a_card (peer TEXT PRIMARY KEY, digest TEXT NOT NULL, shown TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE a2a_hire (
    id TEXT PRIMARY KEY, peer TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, turn TEXT NOT NULL, route TEXT NOT NULL,
    authority TEXT NOT NULL, message TEXT NOT NULL, state TEXT NOT NULL, task TEXT, context TEXT, text TEXT, asked TEXT,
    at INTEGER NOT NULL, until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX a2a_hire_open ON a2a_hire (at) WHERE state = 'open';
  CREATE INDEX a2a_hire_session ON a2a_hire (session, peer, at);
  `,
  `
  -- How strictly a conversation is judged, where somebody made it stricter than its agent's policy. Null: as the policy says.
  ALTER TABLE session ADD COLUMN mode TEXT;
  `,
  `
  -- Names in memory. 0: the word may be one, as the first word of a sentence, and counts once it is sure somewhere else.
  ALTER TABLE memory_entity ADD COLUMN sure INTEGER NOT NULL DEFAULT 1;
  `,
  `
  -- Calls that an MCP server has turned into tasks: open while it works, asks while it wants to know something, ended when what came of
  -- it is known, done when its turn has that, dropped when it is no longer wanted. outcome is what came of it, or what it asks, as JSON.
  CREATE TABLE mcp_task (
    key TEXT PRIMARY KEY, server TEXT NOT NULL, tool TEXT NOT NULL, definition TEXT NOT NULL, task TEXT NOT NULL,
    session TEXT NOT NULL, turn TEXT NOT NULL, call TEXT, name TEXT, wait TEXT NOT NULL, round INTEGER NOT NULL,
    answered TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT, at INTEGER NOT NULL, until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX mcp_task_open ON mcp_task (at) WHERE state IN ('open', 'asks', 'ended');
  CREATE INDEX mcp_task_turn ON mcp_task (turn, wait);
  `,
  `
  -- Model calls that runtimes make through the proxy: who made a call, and how its cost is known (billed, priced or guessed). caller:
  -- what the ledger needs for a call that was cut off by a crash; null for our own calls, which are made again.
  ALTER TABLE usage ADD COLUMN runtime TEXT NOT NULL DEFAULT 'native';
  ALTER TABLE usage ADD COLUMN basis TEXT NOT NULL DEFAULT 'priced';
  ALTER TABLE budget_hold ADD COLUMN caller TEXT;
  `,
  `
  -- Whether the text from outside in a compacted part was sent in, and not only fetched by the agent's own tools. Nobody knows that of
  -- older ones.
  ALTER TABLE compaction ADD COLUMN sent_in INTEGER NOT NULL DEFAULT 0;
  UPDATE compaction SET sent_in = tainted;
  `,
  `
  -- Memory back ends of plugins. memory_place: up to which fact each was told what is remembered; -1 before it was told to start from
  -- nothing. memory_told: what each has: wanted until it was told, told, unwanted from when the fact no longer holds until it took that.
  CREATE TABLE memory_place (backend TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE memory_told (backend TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (backend, id)) WITHOUT ROWID;
  CREATE INDEX memory_told_id ON memory_told (id);
  CREATE INDEX memory_told_open ON memory_told (backend, state, id) WHERE state <> 'told';
  `,
  `
  -- Dollars that count at an assumed price: how many of what was spent, and whether those that are set aside do.
  ALTER TABLE budget_spent ADD COLUMN assumed REAL NOT NULL DEFAULT 0;
  ALTER TABLE budget_hold ADD COLUMN assumed INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- 1: the agent showed another card than the accepted one when it was last looked at.
  ALTER TABLE a2a_card ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Turns that another runtime carries out. attempt: raised before anything of a new one starts, so that nothing of an older one is
  -- taken. token: what finds the runtime's own conversation; null once that is over. plan: how it is driven and what is missing, as
  -- JSON. Then what the runtime said and did, and what people said to it meanwhile.
  CREATE TABLE run (
    turn TEXT PRIMARY KEY, session TEXT NOT NULL, agent TEXT NOT NULL, runtime TEXT NOT NULL,
    attempt INTEGER NOT NULL, seq INTEGER NOT NULL, plan TEXT, token TEXT, at INTEGER NOT NULL, ended_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX run_by_session ON run (session, runtime, at);
  CREATE INDEX run_open ON run (at) WHERE ended_at IS NULL;
  CREATE TABLE run_event (
    turn TEXT NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (turn, seq)
  ) WITHOUT ROWID;
  CREATE TABLE run_said (
    turn TEXT NOT NULL, message TEXT NOT NULL, text TEXT NOT NULL, authority TEXT NOT NULL, PRIMARY KEY (turn, message)
  ) WITHOUT ROWID;
  `,
  `
  -- What carries out a sub-agent instead of its agent's own body; null: that body.
  ALTER TABLE child_run ADD COLUMN runtime TEXT;
  `,
  `
  -- What runtimes were seen to do, each with this version on this machine; another version or machine counts as not seen. Then the trials
  -- that are under way, for ending what a crash leaves of them.
  CREATE TABLE runtime_proof (
    runtime TEXT NOT NULL, skill TEXT NOT NULL, version TEXT NOT NULL, machine TEXT NOT NULL, worked INTEGER NOT NULL,
    note TEXT, at INTEGER NOT NULL, PRIMARY KEY (runtime, skill)
  ) WITHOUT ROWID;
  CREATE TABLE runtime_trial (run TEXT PRIMARY KEY, runtime TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- The board. A task's number is what people call it. acceptance: what proves it done, as JSON; its hash was taken when the task was
  -- made. attempt: raised by each claim, and a write of an older one is refused. holder, turn: who has it, and the turn of that attempt.
  -- waits_for: who must act now, as JSON. change: raised by each move, names it. clock_at: since when it waits to be escalated.
  CREATE TABLE board_task (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, description TEXT NOT NULL,
    acceptance TEXT NOT NULL, acceptance_hash TEXT NOT NULL, parent TEXT, depth INTEGER NOT NULL, team TEXT, mission TEXT,
    assignee_kind TEXT, assignee TEXT, runtime TEXT, priority INTEGER NOT NULL, most_dollars REAL, most_tokens INTEGER,
    repository TEXT, attachments TEXT NOT NULL, review INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL, why TEXT, waits_for TEXT, change INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0, most_attempts INTEGER NOT NULL, spent_attempts INTEGER NOT NULL DEFAULT 0,
    holder TEXT, turn TEXT, verdict INTEGER, not_before INTEGER NOT NULL DEFAULT 0, clock_at INTEGER, escalations INTEGER NOT NULL DEFAULT 0,
    made_by TEXT NOT NULL, made_kind TEXT NOT NULL, made_session TEXT, made_agent TEXT, route TEXT, authority TEXT NOT NULL,
    outside INTEGER NOT NULL, made_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, state_at INTEGER NOT NULL,
    CHECK (state <> 'done' OR verdict IS NOT NULL)
  );
  CREATE INDEX board_task_state ON board_task (state, priority DESC, number);
  CREATE INDEX board_task_parent ON board_task (parent) WHERE parent IS NOT NULL;
  CREATE INDEX board_task_turn ON board_task (turn) WHERE turn IS NOT NULL;
  CREATE INDEX board_task_made ON board_task (made_at);
  CREATE INDEX board_task_clock ON board_task (clock_at) WHERE clock_at IS NOT NULL;
  CREATE TABLE board_link (task TEXT NOT NULL, needs TEXT NOT NULL, PRIMARY KEY (task, needs)) WITHOUT ROWID;
  CREATE INDEX board_link_needs ON board_link (needs);
  CREATE TABLE board_run (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, member TEXT NOT NULL, agent TEXT, runtime TEXT, session TEXT, turn TEXT,
    place TEXT, started_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT, why TEXT, result TEXT, dollars REAL, tokens INTEGER,
    check_turn TEXT, checks INTEGER NOT NULL DEFAULT 0, review_turn TEXT, reviews INTEGER NOT NULL DEFAULT 0, print TEXT,
    PRIMARY KEY (task, attempt)
  ) WITHOUT ROWID;
  CREATE INDEX board_run_turn ON board_run (turn) WHERE turn IS NOT NULL;
  CREATE INDEX board_run_check ON board_run (check_turn) WHERE check_turn IS NOT NULL;
  CREATE INDEX board_run_review ON board_run (review_turn) WHERE review_turn IS NOT NULL;
  CREATE TABLE board_handoff (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, record TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (task, attempt)
  ) WITHOUT ROWID;
  CREATE TABLE board_comment (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL, author_kind TEXT NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL,
    at INTEGER NOT NULL, key TEXT UNIQUE
  );
  CREATE INDEX board_comment_task ON board_comment (task, seq);
  CREATE TABLE board_move (
    task TEXT NOT NULL, change INTEGER NOT NULL, move TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL, who TEXT NOT NULL,
    name TEXT NOT NULL, why TEXT, at INTEGER NOT NULL, PRIMARY KEY (task, change)
  ) WITHOUT ROWID;
  CREATE TABLE board_verdict (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL, attempt INTEGER NOT NULL, clean INTEGER NOT NULL, judge TEXT NOT NULL,
    why TEXT NOT NULL, at INTEGER NOT NULL
  );
  CREATE INDEX board_verdict_task ON board_verdict (task, seq);
  CREATE TABLE board_evidence (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL, verdict INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL
  );
  CREATE INDEX board_evidence_verdict ON board_evidence (verdict);
  -- Whoever inserts here means to refuse the whole transaction, and why.
  CREATE TABLE board_refused (
    why TEXT NOT NULL, CONSTRAINT board_stale CHECK (why <> 'stale'), CONSTRAINT board_cycle CHECK (why <> 'cycle'),
    CONSTRAINT board_full CHECK (why <> 'full')
  );
  `,
  {
    // Done without evidence can't be stored, whatever the code does.
    both: "",
    sqlite: `
  CREATE TRIGGER board_done BEFORE UPDATE OF state ON board_task
    WHEN NEW.state = 'done' AND NOT EXISTS (
      SELECT 1 FROM board_verdict v JOIN board_evidence e ON e.verdict = v.seq
      WHERE v.seq = NEW.verdict AND v.task = NEW.id AND v.clean = 1)
    BEGIN SELECT RAISE(ABORT, 'a task is done only with evidence'); END;
  CREATE TRIGGER board_born BEFORE INSERT ON board_task WHEN NEW.state NOT IN ('draft', 'ready')
    BEGIN SELECT RAISE(ABORT, 'a task begins as draft or ready'); END;
  `,
    postgres: `
  CREATE FUNCTION board_done() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.state = 'done' AND NOT EXISTS (
      SELECT 1 FROM board_verdict v JOIN board_evidence e ON e.verdict = v.seq
      WHERE v.seq = NEW.verdict AND v.task = NEW.id AND v.clean = 1)
    THEN RAISE EXCEPTION 'a task is done only with evidence'; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER board_done BEFORE UPDATE OF state ON board_task FOR EACH ROW EXECUTE FUNCTION board_done();
  CREATE FUNCTION board_born() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.state NOT IN ('draft', 'ready') THEN RAISE EXCEPTION 'a task begins as draft or ready'; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER board_born BEFORE INSERT ON board_task FOR EACH ROW EXECUTE FUNCTION board_born();
  `,
  },
  `
  -- Worktrees of repositories, each for one piece of work. name: of its folder below the home, and in the repository. settings: digests
  -- of the repository's settings and hooks when it was made. report: what came of it.
  CREATE TABLE worktree (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, agent TEXT NOT NULL, name TEXT NOT NULL, repository TEXT NOT NULL,
    common_dir TEXT NOT NULL, branch TEXT NOT NULL, continued INTEGER NOT NULL, base TEXT NOT NULL, settings TEXT NOT NULL,
    notes TEXT NOT NULL, state TEXT NOT NULL, report TEXT, at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX worktree_open ON worktree (owner, at) WHERE state IN ('making', 'open', 'committed');
  -- The repository that a sub-agent's work is about; null: none.
  ALTER TABLE child_run ADD COLUMN repository TEXT;
  `,
  `
  -- Rooms of teams. team_post: what was said, numbered within the team. team_debt: who was addressed and has not answered; turn: the
  -- one that answers it. team_reader: up to which post a member has read. team_exchange: what was used since a person last wrote.
  CREATE TABLE team_post (
    post_key TEXT PRIMARY KEY, team TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, author TEXT NOT NULL, name TEXT NOT NULL,
    text TEXT NOT NULL, authority TEXT NOT NULL, outside INTEGER NOT NULL, at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX team_post_by_team ON team_post (team, seq);
  CREATE TABLE team_debt (
    team TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL, member TEXT NOT NULL, turn TEXT,
    settled INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (team, seq, member)
  ) WITHOUT ROWID;
  CREATE INDEX team_debt_by_turn ON team_debt (turn);
  CREATE INDEX team_debt_open ON team_debt (team, seq, place) WHERE settled = 0;
  CREATE TABLE team_reader (team TEXT NOT NULL, member TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (team, member)) WITHOUT ROWID;
  CREATE TABLE team_exchange (team TEXT PRIMARY KEY, turns INTEGER NOT NULL, dollars REAL NOT NULL) WITHOUT ROWID;
  `,
  {
    both: `
  -- The code people type, without counting from the end, which databases do differently.
  DROP INDEX approval_code;
  CREATE INDEX approval_code ON approval (substr(id, length(id) - 5));
  -- Lists, starts and tidying that read whole tables.
  CREATE INDEX approval_asked ON approval (asked_at, id);
  CREATE INDEX process_running ON process (agent) WHERE state IN ('starting', 'running');
  CREATE INDEX process_ended ON process (ended_at) WHERE told = 1;
  CREATE INDEX undo_open ON undo (at) WHERE ended_at IS NULL;
  CREATE INDEX job_declared ON job (name) WHERE declared = 1;
  `,
    // One home deletes a conversation rarely enough to read a table for it, and every turn would pay for these.
    sqlite: "",
    postgres: `
  CREATE INDEX inbox_session ON inbox (session);
  CREATE INDEX usage_session ON usage (session);
  CREATE INDEX delivery_session ON delivery (session);
  CREATE INDEX session_prompt ON session (prompt) WHERE prompt IS NOT NULL;
  CREATE INDEX turn_listed ON turn (accepted_at, id);
  CREATE INDEX slot_ended ON slot (ended_at);
  CREATE INDEX system_event_agent ON system_event (agent, at);
  `,
  },
  `
  -- The last change of a task that the one that asked for it has heard of.
  ALTER TABLE board_task ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX board_run_session ON board_run (session) WHERE session IS NOT NULL;
  `,
];

/** As SQLite runs them. */
export const MIGRATIONS: readonly string[] = STEPS.map((step) =>
  typeof step === "string" ? step : step.both + step.sqlite,
);
/** For PostgreSQL: what follows from the text by rule, and what doesn't. */
export const POSTGRES_MIGRATIONS: readonly { byRule: string; own: string }[] = STEPS.map((step) =>
  typeof step === "string" ? { byRule: step, own: "" } : { byRule: step.both, own: step.postgres },
);
