/** Functions of SQLite that our texts use, with the same meaning: one text serves both databases. */
export const FUNCTIONS: readonly string[] = [
  `CREATE OR REPLACE FUNCTION instr(whole text, part text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
   AS $$ SELECT strpos(whole, part) $$`,
  // SQLite changes the letters of ASCII only, and so does a search that compares both sides.
  `CREATE OR REPLACE FUNCTION lower_ascii(whole text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
   AS $$ SELECT lower(whole COLLATE "C") $$`,
  // '$.a.b[0]' as the path {a,b,0}.
  `CREATE OR REPLACE FUNCTION json_steps(path text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
   AS $$ SELECT string_to_array(ltrim(regexp_replace(substr(path, 2), '\\[(\\d+)\\]', '.\\1', 'g'), '.'), '.') $$`,
  // json and not jsonb: an escaped NUL in a field that nobody asks for is no error.
  `CREATE OR REPLACE FUNCTION json_extract(whole text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
   AS $$ SELECT whole::json #>> json_steps(path) $$`,
  // ROWS: lists that are handed in are short, and the planner takes an index then.
  `CREATE OR REPLACE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 20
   AS $$ SELECT json_array_elements_text(list::json) $$`,
  `CREATE OR REPLACE FUNCTION json_each(whole text, path text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
   ROWS 20 AS $$ SELECT json_array_elements_text(CASE json_typeof(found) WHEN 'array' THEN found END)
   FROM (SELECT whole::json #> json_steps(path) AS found) AS at_path $$`,
  `CREATE OR REPLACE FUNCTION json(whole text) RETURNS json LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT whole::json $$`,
];
