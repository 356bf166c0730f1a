-- sqlite3: 50 000 rows, joins, windows, a recursive query, a vacuum.
pragma journal_mode = wal;
create table item(id integer primary key, owner int, name text, price real);
create table owner(id integer primary key, name text unique);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
insert into owner select i, 'owner ' || i from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
insert into item select i, i * 7919 % 500 + 1, hex(i * 2654435761 % 4294967296),
    (i * 37 % 10007) / 100.0 from n;
commit;
create index by_owner on item(owner, price);
create index by_name on item(name);
select o.name, count(*), round(sum(i.price), 2), max(i.name) from item i
    join owner o on o.id = i.owner group by o.id order by 3 desc, 1 limit 20;
select count(*) from item a join item b on b.owner = a.owner and b.price = a.price
    where a.id < b.id;
with recursive path(id, depth, trail) as (select 1, 0, '1' union all
    select id * 2 % 997, depth + 1, trail || '>' || (id * 2 % 997) from path
    where depth < 400)
select max(length(trail)), count(distinct id) from path;
select id, sum(price) over (order by id rows between 9 preceding and current row)
    from item where id % 2500 = 0;
select json_group_array(json_object('n', name, 'p', price)) from
    (select name, price from item order by name limit 50);
update item set name = upper(name) || printf('%08d', id) where id % 3 = 0;
delete from item where id % 5 = 0;
vacuum;
select count(*), sum(length(name)), round(sum(price), 2) from item;
pragma integrity_check;
-- On another allocator: is it really there?
.shell test -z "$ALLOCATOR" || grep -o "lib$ALLOCATOR[a-z_]*" /proc/$PPID/maps | sort -u
select * from nosuchtable;
