// SPDX-License-Identifier: MIT
// Perfetto's own importer under Node: reads lines {"trace": PATH, "sql": [TEXT, …]} from stdin and
// answers each with one line {"error": null, "results": [{"columns", "rows", "error"}, …]}.
//
//   node trace_processor.mjs FOLDER_OF_THE_USER_INTERFACE
//
// The folder is a copy of Perfetto's web interface (engine_bundle.js and its .wasm). The bundle is
// the interface's worker: it takes messages of bytes, a TraceProcessorRpcStream each way. It is run
// unmodified, in a scope that shows it what a browser would. trace_processor.py starts this file.

import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import vm from 'node:vm';

const Method = {APPEND: 1, FINALIZE: 2, QUERY: 3, RESET: 11};
const ARGUMENT = {[Method.APPEND]: 101, [Method.QUERY]: 103};
const PIECE = 8 << 20;

// ---- protobuf, as far as the protocol needs it

function encodeVarint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
const number = (field, value) => Buffer.concat([encodeVarint(field << 3), encodeVarint(value)]);
const block = (field, bytes) =>
  Buffer.concat([encodeVarint((field << 3) | 2), encodeVarint(bytes.length), bytes]);

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  get more() { return this.at < this.bytes.length; }
  varint() {  // a BigInt: all 64 bits count
    let value = 0n, shift = 0n, byte;
    do {
      byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    return value;
  }
  take(size) { this.at += size; return this.bytes.subarray(this.at - size, this.at); }
  // [field, value]; the value is a BigInt or bytes.
  field() {
    const tag = Number(this.varint());
    switch (tag & 7) {
      case 0: return [tag >> 3, this.varint()];
      case 1: return [tag >> 3, this.take(8)];
      case 2: return [tag >> 3, this.take(Number(this.varint()))];
      case 5: return [tag >> 3, this.take(4)];
      default: throw new Error(`wire type ${tag & 7}`);
    }
  }
}

function fieldsOf(bytes, wanted) {
  const found = [];
  for (const reader = new Reader(bytes); reader.more;) {
    const [id, value] = reader.field();
    if (id === wanted) found.push(value);
  }
  return found;
}
const textOf = (bytes, field) => fieldsOf(bytes, field).map((b) => b.toString('utf8'))[0] || null;

// ---- the worker

async function startWorker(folder) {
  const asset = (name) => fs.readFileSync(path.join(folder, path.basename(String(name))));
  let started;
  const ready = new Promise((resolve) => { started = resolve; });
  // The worker does not say when it may be written to: it is once it has set up its buffer.
  const watch = ({exports}) => ({exports: {...exports, trace_processor_rpc_init: (...args) => {
    setImmediate(started);
    return exports.trace_processor_rpc_init(...args);
  }}});
  const assembly = Object.create(WebAssembly, {
    Instance: {value: function Instance(...args) { return watch(new WebAssembly.Instance(...args)); }},
    instantiate: {value: async (bytes, imports) => {
      const made = await WebAssembly.instantiate(bytes, imports);
      return {module: made.module, instance: watch(made.instance)};
    }},
    instantiateStreaming: {value: undefined},
  });
  const quiet = () => {};
  const self = {location: {href: 'file:///engine_bundle.js'}};
  const scope = {
    self, location: self.location, WebAssembly: assembly, process: undefined,
    WorkerGlobalScope: class {},
    fetch: async (url) => new Response(asset(url)),
    XMLHttpRequest: class {
      open(_, url) { this.url = url; }
      send() { this.response = new Uint8Array(asset(this.url)).buffer; }
    },
    console: {log: quiet, warn: quiet, error: quiet, info: quiet, debug: quiet},
  };
  vm.compileFunction(asset('engine_bundle.js').toString(), Object.keys(scope))(...Object.values(scope));
  const port = {postMessage: (bytes) => port.answers.push(Buffer.from(bytes)), answers: []};
  self.onmessage({data: port});
  await ready;
  return port;
}

class Importer {
  constructor(port) { this.port = port; this.count = 0; }

  // The bytes of the answer's field `result`, several when the answer comes in parts.
  call(method, result, bytes) {
    const body = [number(1, this.count++), number(2, method)];
    if (bytes) body.push(block(ARGUMENT[method], bytes));
    this.port.answers = [];
    this.port.onmessage({data: new Uint8Array(block(1, Buffer.concat(body)))});
    const messages = fieldsOf(Buffer.concat(this.port.answers), 1);
    for (const message of messages) {
      const fatal = textOf(message, 5);
      if (fatal) throw new Error(fatal);
    }
    return messages.flatMap((message) => fieldsOf(message, result));
  }

  // What is wrong with the file, or null.
  load(file) {
    this.call(Method.RESET, 0);
    const handle = fs.openSync(file, 'r');
    try {
      const piece = Buffer.alloc(PIECE);
      for (let size; (size = fs.readSync(handle, piece, 0, PIECE)) > 0;) {
        for (const answer of this.call(Method.APPEND, 201, piece.subarray(0, size))) {
          if (textOf(answer, 2)) return textOf(answer, 2);
        }
      }
    } finally {
      fs.closeSync(handle);
    }
    return this.call(Method.FINALIZE, 209).map((answer) => textOf(answer, 1))[0] ?? null;
  }

  // A result as JSON text: written by hand, as its integers have 64 bits.
  query(sql) {
    const columns = [], cells = [];
    let error = null;
    for (const answer of this.call(Method.QUERY, 203, block(1, Buffer.from(sql)))) {
      columns.push(...fieldsOf(answer, 1).map((b) => b.toString()));
      error ??= textOf(answer, 2);
      for (const batch of fieldsOf(answer, 3)) appendCells(cells, batch);
    }
    const rows = [];
    for (let i = 0; columns.length && i < cells.length; i += columns.length) {
      rows.push(`[${cells.slice(i, i + columns.length).join(',')}]`);
    }
    return `{"columns":${JSON.stringify(columns)},"error":${JSON.stringify(error)},"rows":[${rows.join(',')}]}`;
  }
}

// A batch keeps the values of each type apart: NULL 1, integer 2, double 3, text 4, bytes 5.
function appendCells(cells, batch) {
  const integers = new Reader(fieldsOf(batch, 2)[0] ?? Buffer.alloc(0));
  const doubles = new Reader(fieldsOf(batch, 3)[0] ?? Buffer.alloc(0));
  const blobs = fieldsOf(batch, 4);
  const texts = (textOf(batch, 5) ?? '').split('\0');
  for (const kind of fieldsOf(batch, 1)[0] ?? []) {  // one byte each: the kinds are below 128
    if (kind === 1) cells.push('null');
    else if (kind === 2) cells.push(BigInt.asIntN(64, integers.varint()).toString());
    else if (kind === 3) cells.push(JSON.stringify(doubles.take(8).readDoubleLE()));
    else if (kind === 4) cells.push(JSON.stringify(texts.shift()));
    else cells.push(JSON.stringify(blobs.shift().toString('hex')));
  }
}

const importer = new Importer(await startWorker(process.argv[2]));
process.stdout.write('{"ready":true}\n');
for await (const line of readline.createInterface({input: process.stdin})) {
  const {trace, sql} = JSON.parse(line);
  const error = importer.load(trace);
  const results = error ? [] : sql.map((text) => importer.query(text));
  process.stdout.write(`{"error":${JSON.stringify(error)},"results":[${results.join(',')}]}\n`);
}
