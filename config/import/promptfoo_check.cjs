// Runs a `javascript` check of promptfoo for sluice: reads an answer as JSON from standard input and writes a
// verdict to standard output. The code stands in the suite, in CODE, or in FILE, which exports it, by NAME or
// alone. A transform makes what it judges: code in the suite, or the function NAME of a FILE.
// Usage: node promptfoo_check.cjs [--transform FILE NAME] [--code CODE | FILE [NAME]]
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const given = JSON.parse(fs.readFileSync(0, 'utf8'));
const { config, json, negated, threshold, transforms = [], vars = {} } = given.parameters;
const words = process.argv.slice(2);
const take = (flag, count) => (words[0] === flag ? words.splice(0, count + 1).slice(1) : []);
const [transformFile, transformName] = take('--transform', 2);
const [codeFile] = take('--code', 1);
const [file, name] = words;
const code = codeFile === undefined ? given.parameters.code ?? '' : fs.readFileSync(codeFile, 'utf8');
// What the code prints is no verdict.
process.stdout.write = process.stderr.write.bind(process.stderr);

// Between characters: half of one is no JSON.
const cut = (text, most) => Array.from(text).slice(0, most).join('');

// Calls of tools are the last lines of an answer; promptfoo has them as OpenAI does.
function outputOf(answer) {
  try {
    const lines = answer.split('\n');
    const calls = [];
    while (lines.length > 0 && lines[lines.length - 1].startsWith('{"tool_call":'))
      calls.unshift(JSON.parse(lines.pop()).tool_call);
    const list = calls.map((call) => ({
      type: 'function',
      function: {
        name: call.name,
        arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
      },
    }));
    if (list.length > 0)
      return lines.length > 0 ? { role: 'assistant', content: lines.join('\n'), tool_calls: list } : list;
    return json ? JSON.parse(answer) ?? answer : answer;
  } catch {
    return answer;
  }
}

async function functionOf(file, name) {
  const module = await import(pathToFileURL(path.resolve(file)).href);
  const places = [module.default?.default, module.default, module].filter(Boolean);
  const found = places
    .map((place) => (name === undefined ? place : place[name]))
    .find((one) => typeof one === 'function');
  if (found === undefined) throw new Error(`${file} exports no function${name === undefined ? '' : ` ${name}`}`);
  return found;
}

// One that fails, or makes nothing, leaves nothing to judge.
async function transformed(output, context) {
  const steps = transforms.map(
    (text) => new Function('output', 'context', 'process', text.includes('\n') ? text : `return ${text}`)
  );
  if (transformFile !== undefined) steps.push(await functionOf(transformFile, transformName));
  for (const step of steps) {
    output = await step(output, context, process);
    if (output === undefined || output === null) throw new Error('the transform returned nothing');
  }
  return output;
}

async function loaded() {
  if (file !== undefined) return functionOf(file, name);
  const text = code.trim();
  let body = text;
  if (/^(const|let|var)\s.*$/.test(text)) {
    // The value of a line of several statements is that of its last one.
    body = `return eval(${JSON.stringify(text)})`;
  } else if (!text.includes('\n')) {
    body = `return ${text.replace(/[;\s]+$/, '')}`;
  }
  const run = new Function('output', 'context', 'process', body);
  return (output, context) => run(output, context, process);
}

function verdictOf(result) {
  const shown = file === undefined ? cut(code.trim().replace(/\s+/g, ' '), 200) : file;
  const said = `returned ${cut(String(result), 200)}: ${shown}`;
  if (typeof result === 'boolean') return { pass: result, score: Number(result), reason: said };
  if (Number.isFinite(result)) {
    const wanted = threshold === undefined ? '' : `, and the threshold is ${threshold}`;
    return {
      pass: threshold === undefined ? result > 0 : result >= threshold,
      score: result,
      reason: `returned ${result}${wanted}: ${shown}`,
    };
  }
  if (typeof result?.pass === 'boolean' && Number.isFinite(result.score)) {
    const failed = (result.componentResults ?? []).filter((one) => one?.pass === false && one.reason);
    return {
      pass: result.pass,
      score: result.score,
      reason: cut(String(result.reason || failed.map((one) => one.reason).join('; ')), 4000),
    };
  }
  throw new TypeError(`${said}, which is no boolean, number or {pass, score, reason}`);
}

async function main() {
  const answer = outputOf(given.answer);
  const { prompt } = given.case;
  const output = await transformed(answer, { vars, prompt: { label: prompt, raw: prompt } });
  const context = {
    prompt,
    vars,
    test: { description: given.case.name, vars },
    provider: { id: () => given.case.model },
    providerResponse: { output: answer, finishReason: given.finish_reason },
    ...(config !== undefined && { config }),
  };
  const judge = await loaded();
  let verdict;
  try {
    verdict = verdictOf(await judge(output, context));
  } catch (error) {
    // The check fails, as it does there; and passes no not_command.
    if (negated) throw error;
    verdict = { pass: false, score: 0, reason: `threw ${cut(String(error), 4000)}` };
  }
  fs.writeSync(1, JSON.stringify(verdict));
  process.exit(0);
}

main().catch((error) => {
  fs.writeSync(2, `promptfoo_check.cjs: ${error}\n`);
  process.exit(1);
});
