#pragma once

/// The tables of a message log, as FORMAT.md explains them.
namespace thalweg::journal {

inline constexpr int format_version = 1;

/// Of a file that is being written. No index: row ids rise with time, and an index would double the work.
inline constexpr const char* segment_schema = R"sql(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS actors (actor INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kinds (kind INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS types (type INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT OR REPLACE INTO types VALUES (1, 'message'), (2, 'decision'), (3, 'wait'), (4, 'waiting'), (5, 'dropped');
INSERT OR REPLACE INTO meta VALUES ('format', '1');
CREATE TABLE IF NOT EXISTS records (
  n INTEGER PRIMARY KEY, type INTEGER NOT NULL, hlc INTEGER NOT NULL, at_ns INTEGER NOT NULL,
  actor INTEGER NOT NULL, kind INTEGER NOT NULL, id INTEGER NOT NULL, cause INTEGER NOT NULL,
  term INTEGER NOT NULL, incarnation INTEGER NOT NULL,
  round INTEGER, version INTEGER, iteration INTEGER, samples INTEGER, bytes INTEGER, span_ns INTEGER,
  queue_us INTEGER, took_ns INTEGER, reason TEXT, whom TEXT);
CREATE VIEW IF NOT EXISTS log AS
  SELECT n, types.name AS type, datetime((hlc >> 12) / 1000000, 'unixepoch') AS wall, at_ns / 1e9 AS at_s,
         coalesce(actors.name, 'a' || records.actor) AS actor, kinds.name AS kind,
         printf('n%d.a%d.%d', (id >> 48) & 65535, (id >> 36) & 4095, id & 68719476735) AS id,
         round, version, iteration, samples, bytes, span_ns / 1e9 AS span_s, queue_us / 1e6 AS queue_s,
         took_ns / 1e9 AS took_s, whom, reason
  FROM records LEFT JOIN types USING (type) LEFT JOIN kinds USING (kind) LEFT JOIN actors USING (actor);
CREATE VIEW IF NOT EXISTS messages AS SELECT * FROM log WHERE type = 'message';
CREATE VIEW IF NOT EXISTS decisions AS SELECT * FROM log WHERE type = 'decision';
CREATE VIEW IF NOT EXISTS waits AS SELECT * FROM log WHERE type IN ('wait', 'waiting');
)sql";

inline constexpr const char* insert_record =
    "INSERT INTO records (type, hlc, at_ns, actor, kind, id, cause, term, incarnation, round, version, "
    "iteration, samples, bytes, span_ns, queue_us, took_ns, reason, whom) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Of all nodes of a run together, with indexes: made at the first reading.
inline constexpr const char* merged_schema = R"sql(
CREATE TABLE IF NOT EXISTS sources (file TEXT PRIMARY KEY, life INTEGER NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lives (
  life INTEGER PRIMARY KEY, node INTEGER NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL,
  run TEXT, term INTEGER, pid INTEGER, release TEXT, UNIQUE (node, incarnation, name));
CREATE TABLE IF NOT EXISTS actors (life INTEGER, actor INTEGER, name TEXT NOT NULL, PRIMARY KEY (life, actor)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kinds (kind INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS types (type INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT OR REPLACE INTO types VALUES (1, 'message'), (2, 'decision'), (3, 'wait'), (4, 'waiting'), (5, 'dropped');
CREATE TABLE IF NOT EXISTS records (
  n INTEGER PRIMARY KEY, life INTEGER NOT NULL, type INTEGER NOT NULL, hlc INTEGER NOT NULL, at_ns INTEGER NOT NULL,
  actor INTEGER NOT NULL, kind INTEGER NOT NULL, id INTEGER NOT NULL, cause INTEGER NOT NULL,
  term INTEGER NOT NULL, incarnation INTEGER NOT NULL,
  round INTEGER, version INTEGER, iteration INTEGER, samples INTEGER, bytes INTEGER, span_ns INTEGER,
  queue_us INTEGER, took_ns INTEGER, reason TEXT, whom TEXT);
CREATE INDEX IF NOT EXISTS records_hlc ON records (hlc);
CREATE INDEX IF NOT EXISTS records_id ON records (id);
CREATE INDEX IF NOT EXISTS records_cause ON records (cause);
CREATE INDEX IF NOT EXISTS records_round ON records (round);
CREATE VIEW IF NOT EXISTS log AS
  SELECT records.n AS n, records.hlc AS hlc, types.name AS type,
         strftime('%Y-%m-%d %H:%M:%f', ((records.hlc >> 12) / 1000) / 1000.0, 'unixepoch') AS wall,
         ((records.hlc >> 12) - (SELECT min(hlc) >> 12 FROM records)) / 1e6 AS at_s,
         lives.name AS node, coalesce(actors.name, 'a' || records.actor) AS actor,
         coalesce(senders.name, CASE WHEN records.id = 0 THEN NULL ELSE 'a' || ((records.id >> 36) & 4095) END) AS sender,
         kinds.name AS kind,
         printf('n%d.a%d.%d', (id >> 48) & 65535, (id >> 36) & 4095, id & 68719476735) AS id,
         printf('n%d.a%d.%d', (cause >> 48) & 65535, (cause >> 36) & 4095, cause & 68719476735) AS cause,
         records.term AS term, round, version, iteration, samples, bytes, span_ns / 1e9 AS span_s,
         queue_us / 1e6 AS queue_s, took_ns / 1e9 AS took_s, whom, reason
  FROM records JOIN lives ON lives.life = records.life LEFT JOIN types ON types.type = records.type
       LEFT JOIN kinds ON kinds.kind = records.kind
       LEFT JOIN actors ON actors.life = records.life AND actors.actor = records.actor
       LEFT JOIN lives AS sending ON sending.node = (records.id >> 48) & 65535 AND sending.incarnation = records.incarnation
       LEFT JOIN actors AS senders ON senders.life = sending.life AND senders.actor = (records.id >> 36) & 4095;
CREATE VIEW IF NOT EXISTS messages AS SELECT * FROM log WHERE type = 'message';
CREATE VIEW IF NOT EXISTS decisions AS SELECT * FROM log WHERE type = 'decision';
CREATE VIEW IF NOT EXISTS waits AS SELECT * FROM log WHERE type IN ('wait', 'waiting');
)sql";

}  // namespace thalweg::journal
