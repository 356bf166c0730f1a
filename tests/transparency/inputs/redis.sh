# redis: a server on a socket of its own, a benchmark bounded in count, its data set.
redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --hz 10 \
    --logfile server.log --io-threads 2 --dir . &
server=$!
for i in $(seq 600); do
    redis-cli -s socket ping 2>/dev/null | grep -q PONG && break
    sleep 0.1
done
redis-benchmark -s socket -q -n 5000 -c 20 -t set,get,incr,lpush,rpop,hset,zadd \
    >benchmark.txt 2>&1
echo "benchmark $?"
for i in $(seq 50); do
    echo "set key:$i $(seq -s , 1 $i)"
    echo "rpush list $i"
    echo "zadd board $((i * 37 % 100)) member:$i"
done | redis-cli -s socket >/dev/null
redis-cli -s socket get key:50
redis-cli -s socket lrange list 0 -1 | sha256sum
redis-cli -s socket zrange board 0 -1 withscores | sha256sum
redis-cli -s socket eval 'local s = 0; for i = 1, 1e5 do s = s + i end; return s' 0
redis-cli -s socket get counter:__rand_int__
redis-cli -s socket dbsize
redis-cli -s socket save
redis-cli -s socket shutdown nosave
wait $server
echo "server $?"
