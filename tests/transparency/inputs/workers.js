// node: buffers, JSON, worker threads, child processes, streams and compression.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { execFileSync, spawn } = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');

function sum(text) {
  return crypto.createHash('sha256').update(text).digest('hex');
}

function load(seed) {
  const rows = [];
  for (let i = 0; i < 20000; i++)
    rows.push({ id: i, name: 'row ' + (i * seed) % 7919, tags: [i % 3, i % 5, String(i)] });
  return JSON.parse(JSON.stringify(rows));
}

async function main() {
  const results = await Promise.all([1, 2, 3, 4].map((seed) => new Promise((done, failed) => {
    const worker = new Worker(__filename, { workerData: seed });
    worker.on('message', done);
    worker.on('error', failed);
  })));
  console.log(results.join('\n'));

  const parts = [];
  for (let i = 0; i < 2000; i++) parts.push(Buffer.alloc(100 + i, i % 251));
  const whole = Buffer.concat(parts);
  const packed = zlib.gzipSync(whole, { level: 9 });
  const brotli = zlib.brotliCompressSync(whole.subarray(0, 200000));
  console.log(whole.length, packed.length, sum(zlib.gunzipSync(packed)), sum(brotli));
  fs.writeFileSync('packed.gz', packed);

  for (let i = 0; i < 8; i++)
    console.log(execFileSync('sh', ['-c', `echo child ${i}; echo ${i} | tr 0-9 a-j`]).toString());
  const child = spawn(process.execPath, ['-e', 'process.stdin.pipe(process.stdout); ' +
    'process.on("exit", () => process.exit(6))']);
  child.stdin.end('through a child');
  child.stdout.on('data', (data) => console.log(data.toString()));
  await new Promise((done) => child.on('exit', (code) => { console.log('code', code); done(); }));

  let typed = new Float64Array(100000).map((_, i) => Math.sqrt(i));
  typed = typed.sort((a, b) => b - a);
  console.log(typed[0].toFixed(6), sum(Buffer.from(typed.buffer)));
  console.error('to standard error');
  process.exitCode = 4;
}

if (isMainThread) main();
else parentPort.postMessage(sum(JSON.stringify(load(workerData))));
