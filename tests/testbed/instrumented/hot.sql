-- A few rows that everybody changes, each guarded by a version. An attempt reads the version, computes for some 2 ms, waits
-- for 20 ms and writes, unless somebody else wrote meanwhile; then it begins again. The more changes run at once, the more
-- attempts are in vain, and the longer they compute. The setting sluice.wait_s of a database has another wait, in seconds.
DROP TABLE IF EXISTS hot;
CREATE TABLE hot (id int PRIMARY KEY, version bigint NOT NULL);
INSERT INTO hot SELECT id, 0 FROM generate_series(1, 8) AS id;

CREATE OR REPLACE FUNCTION change(wanted int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  known bigint;
  digest text := '';
  attempts int := 0;
BEGIN
  LOOP
    attempts := attempts + 1;
    SELECT version INTO known FROM hot WHERE id = wanted;
    FOR round IN 1..4000 LOOP
      digest := md5(digest || known);
    END LOOP;
    PERFORM pg_sleep(coalesce(nullif(current_setting('sluice.wait_s', true), '')::float, 0.02));
    UPDATE hot SET version = version + 1 WHERE id = wanted AND version = known;
    IF FOUND THEN
      RETURN attempts;
    END IF;
  END LOOP;
END $$;
