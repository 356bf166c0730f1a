-- tests/bench/loads/stations.sql - for sqlite3 :memory: inserts, joins, a recursion.
CREATE TABLE station(id INTEGER PRIMARY KEY, name TEXT, place TEXT);
CREATE TABLE reading(station INTEGER, moment INTEGER, value REAL, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO station SELECT i, 'station number ' || i, hex(i * 7919) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 320000)
INSERT INTO reading SELECT i % 2000 + 1, i, (i * 37 % 1000) / 10.0, 'note ' || hex(i) FROM n;
CREATE INDEX reading_station ON reading(station, moment);
SELECT place, count(*), avg(value), max(note) FROM reading JOIN station ON station.id = reading.station
GROUP BY place ORDER BY place LIMIT 5;
SELECT substr(note, 1, 7) AS head, count(*), group_concat(moment) FROM reading
GROUP BY head ORDER BY count(*) DESC, head LIMIT 3;
SELECT upper(replace(name, 'number', 'no.')), length(group_concat(note)) FROM reading
JOIN station ON station.id = reading.station GROUP BY name ORDER BY name LIMIT 5;
