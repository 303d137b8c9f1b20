// Reads a JSON list of Kubernetes objects and says, a line each, what in them does not fit the published schemas.
// The validators are those of the package kubernetes-models, made from the schemas. They let fields pass that no
// schema has; each looks at every field that its schema has, so what it never looks at is unknown.
const fs = require('fs');
const path = require('path');

const schemas = path.join(process.argv[2], 'kubernetes-models', '_schemas');

function validator(object) {
  const [version, group] = object.apiVersion.split('/').reverse();
  const capital = (word) => word[0].toUpperCase() + word.slice(1);
  const name = `IoK8sApi${capital((group ?? 'core').split('.')[0])}${capital(version)}${object.kind}`;
  return require(path.join(schemas, name)).validate;
}

// The same value, which notes in `seen` what was looked at, by its way from the object.
function watched(value, way, seen) {
  if (typeof value !== 'object' || value === null) return value;
  const parts = new Map();
  return new Proxy(value, {
    get(target, key) {
      const part = target[key];
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return part;
      const here = `${way}/${key}`;
      seen.add(here);
      if (!parts.has(key)) parts.set(key, watched(part, here, seen));
      return parts.get(key);
    },
  });
}

function* ways(value, way = '') {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    yield `${way}/${key}`;
    yield* ways(part, `${way}/${key}`);
  }
}

for (const object of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const name = `${object.kind} ${object.metadata.name}`;
  const validate = validator(object);
  const seen = new Set();
  if (!validate(watched(object, '', seen)))
    for (const error of validate.errors) console.log(`${name}: ${error.instancePath} ${error.keyword} ${JSON.stringify(error.params)}`);
  for (const way of ways(object)) if (!seen.has(way)) console.log(`${name}: ${way} is unknown`);
}
