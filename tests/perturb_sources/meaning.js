// Says what JavaScript and TypeScript sources mean, for check.py: reads "LANGUAGE SIZE\n" and the text, answers with
// a line: "ok" and a hash of the syntax tree without places, or "error" and why there is none. Run with
// node --expose-internals: the parser is the one that node itself carries; TypeScript's own is used if installed.
'use strict';
const crypto = require('crypto');
const path = require('path');

function load(name, folders) {
  try {
    return require(require.resolve(name, { paths: folders }));
  } catch {
    return null;
  }
}

const acorn = load('internal/deps/acorn/acorn/dist/acorn', [__dirname]);
const globals = path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules');
const typescript = load('typescript', [...(process.env.NODE_PATH || '').split(':'), globals]) ||
                   load('/usr/share/nodejs/typescript', [__dirname]);

function plain(node) {
  if (typeof node === 'bigint') return `${node}n`;
  if (node instanceof RegExp) return String(node);
  if (Array.isArray(node)) return node.map(plain);
  if (node === null || typeof node !== 'object') return node;
  const result = {};
  for (const key of Object.keys(node)) {
    const place = key === 'start' || key === 'end' || (key === 'raw' && node.type === 'Literal');
    if (!place) result[key] = plain(node[key]);
  }
  return result;
}

function javascriptTree(text) {
  const options = { ecmaVersion: 'latest', allowHashBang: true };
  try {
    return plain(acorn.parse(text, { ...options, sourceType: 'module' }));
  } catch {
    return plain(acorn.parse(text, { ...options, sourceType: 'script', allowReturnOutsideFunction: true }));
  }
}

function typescriptTree(text, name) {
  const file = typescript.createSourceFile(name, text, typescript.ScriptTarget.Latest, false);
  if (file.parseDiagnostics.length > 0) throw new Error(String(file.parseDiagnostics[0].messageText));
  const visit = (node) => {
    const children = [];
    typescript.forEachChild(node, (child) => {
      children.push(visit(child));
    });
    // JSX joins its text's lines, whatever ends them.
    const own = node.text === undefined || node === file ? null : String(node.text).replace(/\r\n/g, '\n');
    return [node.kind, own, node.rawText || null,
            node.operator || null, node.flags & 7, children];
  };
  const names = (list) => list.map((reference) => reference.fileName);
  return [visit(file), names(file.referencedFiles), names(file.typeReferenceDirectives),
          names(file.libReferenceDirectives), (file.commentDirectives || []).length];
}

function meaning(language, text) {
  if (language === 'javascript') {
    if (!acorn) throw new Error('no parser');
    return javascriptTree(text);
  }
  if (!typescript) throw new Error('no parser');
  return typescriptTree(text, `file.${language}`);
}

function answer(language, bytes) {
  try {
    const tree = JSON.stringify(meaning(language, bytes.toString('utf8')));
    return `ok ${crypto.createHash('sha256').update(tree).digest('hex')}\n`;
  } catch (error) {
    return `error ${String(error.message).replace(/\s+/g, ' ')}\n`;
  }
}

let pending = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  for (;;) {
    const feed = pending.indexOf(10);
    if (feed < 0) return;
    const [language, size] = pending.toString('latin1', 0, feed).split(' ');
    const end = feed + 1 + Number(size);
    if (pending.length < end) return;
    process.stdout.write(answer(language, pending.subarray(feed + 1, end)));
    pending = pending.subarray(end);
  }
});
