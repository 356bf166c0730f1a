# postgresql: a server that forks, run by another user than ours, and pgbench's tables.
bin=/usr/lib/postgresql/15/bin
chmod 755 . .. ../tmp && chmod 777 ../tmp
mkdir data && chown postgres data
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
as $bin/initdb -D data -A trust -N --locale=C >initdb.log 2>&1 || exit 1
as $bin/pg_ctl -D data -s -w -l data/log -o "-k $PWD/data -c listen_addresses='' -F" start || exit 2
export PGHOST=$PWD/data PGUSER=postgres PGDATABASE=postgres
$bin/psql -X -q <<'END'
create table t as select i, md5(i::text) as h, i % 100 as g from generate_series(1, 50000) i;
create index on t (g, h);
select g, count(*), min(h), max(h) from t group by g order by g limit 10;
select count(*) from t a join t b using (h) where a.g < 50;
with recursive r(n) as (select 1 union all select n + 1 from r where n < 1000)
select sum(n) from r;
do $$ begin for i in 1 .. 1000 loop perform format('%s', i); end loop; end $$;
select nothing;
END
$bin/pgbench -i -q -s 1 >pgbench.log 2>&1
$bin/pgbench -n -c 2 -j 2 -t 200 >>pgbench.log 2>&1
$bin/psql -X -q -c 'select count(*) from pgbench_history'
as $bin/pg_ctl -D data -s -w stop
echo "stopped $?"
