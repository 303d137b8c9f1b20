// Makes the list of cases sortable, searchable and fast. Without it the page shows the first cases as a table.
// Texts of answers reach the page as text nodes alone, never as markup.
(() => {
  'use strict';
  const AT_ONCE = 100;
  const table = document.getElementById('cases');
  if (!table) return;
  const rank = { error: 0, fail: 1, flaky: 2, warn: 3, 'not started': 4, pass: 5 };

  const make = (name, attributes, ...inner) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    for (const one of inner) if (one !== null) made.append(one);
    return made;
  };

  // Of a grid: a row a test, a column an arm.
  const heads = [...table.tHead.rows[0].cells];
  const arms = heads.map((head) => head.dataset.arm).filter((arm) => arm !== undefined);
  const caseOf = (row, arm) => row.cases.find((one) => one.arm === arm);

  // Tests under several arms are one row. A row that is as it was stays the very same, with what is opened in it.
  let cases = [];
  let rows = [];
  const load = (page) => {
    cases = [];
    for (const part of page.querySelectorAll('script.cases')) {
      for (const one of JSON.parse(part.textContent)) cases.push(one);
      part.remove();
    }
    const before = new Map(rows.map((row) => [row.id, row]));
    const byTest = new Map();
    rows = [];
    cases.forEach((one, index) => {
      let row = one.test === undefined ? undefined : byTest.get(one.test);
      if (!row) {
        row = { id: one.test === undefined ? one.id : one.title, category: one.category, cases: [], index };
        rows.push(row);
        if (one.test !== undefined) byTest.set(one.test, row);
      }
      row.cases.push(one);
    });
    rows = rows.map((row) => {
      if (arms.length > 0) row.cases.sort((a, b) => arms.indexOf(a.arm) - arms.indexOf(b.arm));
      row.status = row.cases.reduce((worst, one) => (rank[one.status] < rank[worst] ? one.status : worst), 'pass');
      row.score = row.cases.reduce((least, one) => (one.score === null ? least : Math.min(least, one.score)), Infinity);
      const old = before.get(row.id);
      if (!old || JSON.stringify(old.cases) !== JSON.stringify(row.cases)) return row;
      old.index = row.index;
      return old;
    });
  };
  const textOf = (row) => {
    row.text ??= row.cases.map((one) => [one.id, one.name, one.prompt, one.answer, one.system, one.why]
      .filter(Boolean).join('\n')).join('\n').toLowerCase();
    return row.text;
  };

  // Words that differ, by their longest common subsequence.
  const difference = (before, after) => {
    const a = before.split(/(\s+)/), b = after.split(/(\s+)/);
    const shown = make('pre', {});
    if (a.length * b.length > 4e6) {
      shown.append(make('del', {}, before), make('ins', {}, after));
      return shown;
    }
    const width = b.length + 1;
    const longest = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; --i) {
      for (let j = b.length - 1; j >= 0; --j) {
        longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && a[i] === b[j]) { shown.append(a[i++]); ++j; }
      else if (j === b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1]))
        shown.append(make('del', {}, a[i++]));
      else shown.append(make('ins', {}, b[j++]));
    }
    return shown;
  };

  const titled = (title, text) => text ? make('div', {}, make('h3', {}, title), make('pre', {}, text)) : null;
  const sameForAll = (row, key) => row.cases.every((one) => one[key] === row.cases[0][key]);

  const answerParts = (one, base) => {
    const parts = [titled('Answer', one.answer), titled('Why', one.why)];
    for (const note of one.notes || []) parts.push(make('p', { class: 'quiet' }, note));
    const other = base ? base.answer : one.expected;
    if (other && one.answer && other !== one.answer) {
      const title = base ? 'Answer beside ' + base.arm : 'Answer beside what was expected';
      parts.push(make('details', {}, make('summary', {}, title), difference(other, one.answer)));
    }
    return parts.filter(Boolean);
  };
  const promptParts = (one) => [titled('System', one.system), titled('Prompt', one.prompt)].filter(Boolean);

  const statusOf = (one) => make('span', { class: 'status ' + one.status }, one.status);
  const changeOf = (one) => one.change ? ', ' + one.change.replace('_', ' ') : '';

  const answerOf = (one, base, withPrompt) => make('div', {},
    one.arm ? make('h3', {}, one.arm + ' ', statusOf(one)) : null,
    ...(withPrompt ? promptParts(one) : []), ...answerParts(one, base));

  const details = (row) => {
    const inner = make('div', {});
    const shared = sameForAll(row, 'prompt') && sameForAll(row, 'system');
    if (shared) inner.append(...promptParts(row.cases[0]));
    const beside = make('div', { class: 'arms' });
    row.cases.forEach((one, i) => beside.append(answerOf(one, i > 0 ? row.cases[0] : null, !shared)));
    inner.append(beside);
    return inner;
  };

  const begin = (text) => text.length > 160 ? text.slice(0, 160) + '…' : text;
  // The verdict and how the answer begins; it unfolds to the whole one.
  const cellOf = (one, arm) => {
    if (!one) return make('td', { 'data-arm': arm }, '–');
    const opened = make('details', {}, make('summary', {}, statusOf(one), changeOf(one),
      one.scores ? make('span', { class: 'quiet' }, ' ' + one.scores) : null,
      make('div', { class: 'beginning' }, begin(one.answer || one.why || ''))));
    opened.addEventListener('toggle', () => {
      if (opened.open && opened.children.length === 1) opened.append(make('div', {}, ...answerParts(one, null)));
    });
    return make('td', { 'data-arm': arm }, opened);
  };
  const listCells = (one) => [make('td', {}, one.category), make('td', {}, statusOf(one), changeOf(one)),
    make('td', {}, one.scores || '–'), make('td', { class: 'quiet' }, begin(one.answer || ''))];

  let manyCategories = false;
  const rowOf = (row) => {
    if (row.shown) return row.shown;
    const opened = make('details', {}, make('summary', {}, row.id));
    let inner = null;
    opened.addEventListener('toggle', () => {
      if (!opened.open) { inner?.remove(); return; }
      inner ??= make('tr', { class: 'opened' }, make('td', { colspan: String(heads.length) }, details(row)));
      opened.closest('tr').after(inner);
    });
    row.inner = () => (opened.open ? inner : null);
    const category = manyCategories ? row.category : '';
    row.shown = make('tr', {}, make('td', {}, opened, arms.length > 0 ? make('div', { class: 'quiet' }, category) : null),
      ...(arms.length > 0 ? arms.map((arm) => cellOf(caseOf(row, arm), arm)) : listCells(row.cases[0])));
    return row.shown;
  };

  const search = document.getElementById('search');
  const status = document.getElementById('status');
  const category = document.getElementById('category');
  const count = document.getElementById('count');
  const more = document.getElementById('more');
  const body = table.tBodies[0];
  let order = { key: (row) => row.index, up: true };
  let shown = [];
  let next = 0;

  const keys = { id: (row) => row.id, category: (row) => row.category, status: (row) => rank[row.status],
    score: (row) => row.score };
  const keyOf = (head) => head.dataset.arm === undefined ? keys[head.dataset.key]
    : (row) => rank[caseOf(row, head.dataset.arm)?.status] ?? Infinity;
  const append = () => {
    const part = document.createDocumentFragment();
    for (const end = Math.min(next + AT_ONCE, shown.length); next < end; ++next) {
      part.append(rowOf(shown[next]));
      const inner = shown[next].inner();
      if (inner) part.append(inner);
    }
    body.append(part);
    more.hidden = next === shown.length;
  };
  const regressions = ['broke', 'dropped'];
  const fits = (row, words) => {
    const wanted = status.value;
    const fitsStatus = wanted === '' || row.cases.some((one) => one.status === wanted || one.change === wanted) ||
      (wanted === 'regressed' && row.cases.some((one) => regressions.includes(one.change))) ||
      (wanted === 'differs' && row.cases.some((one) => one.status !== row.cases[0].status));
    return fitsStatus && (category.value === '' || row.category === category.value) &&
      words.every((word) => textOf(row).includes(word));
  };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const key = order.key;
    shown = rows.filter((row) => fits(row, words));
    shown.sort((a, b) => {
      const x = key(a), y = key(b);
      const way = x < y ? -1 : x > y ? 1 : 0;
      return (order.up ? way : -way) || a.index - b.index;
    });
    body.replaceChildren();
    next = 0;
    append();
    count.textContent = shown.length.toLocaleString() + ' of ' + rows.length.toLocaleString() + ' shown';
  };

  const option = (select, value, text) => {
    if (![...select.options].some((one) => one.value === value)) select.append(make('option', { value }, text));
  };
  const seen = (pick) => new Set(cases.map(pick).filter(Boolean));
  const addOptions = () => {
    manyCategories = seen((one) => one.category).size > 1;
    for (const value of ['fail', 'error', 'not started', 'flaky', 'warn', 'pass']) if (seen((one) => one.status).has(value)) option(status, value, value);
    const changes = seen((one) => one.change);
    if (regressions.every((value) => changes.has(value))) option(status, 'regressed', 'regressed');
    for (const value of [...regressions, 'still_failing', 'fixed']) if (changes.has(value)) option(status, value, value.replace('_', ' '));
    if (arms.length > 0) option(status, 'differs', table.dataset.differs || 'differs between arms');
    for (const value of [...seen((one) => one.category)].sort()) option(category, value, value);
  };

  for (const head of heads) {
    const key = keyOf(head);
    if (!key) continue;
    const button = make('button', { type: 'button' }, head.textContent);
    button.addEventListener('click', () => {
      order = { key, up: order.key === key ? !order.up : true };
      for (const one of heads) one.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', order.up ? 'ascending' : 'descending');
      show();
    });
    head.replaceChildren(button);
  }
  let waiting = 0;
  search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(show, 120); });
  status.addEventListener('change', show);
  category.addEventListener('change', show);
  more.addEventListener('click', append);
  if ('IntersectionObserver' in window) {
    new IntersectionObserver((seenNow) => {
      if (seenNow.some((one) => one.isIntersecting) && !more.hidden) append();
    }, { rootMargin: '600px' }).observe(more);
  }
  document.addEventListener('keydown', (event) => {
    const writes = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === '/' && !writes) { event.preventDefault(); search.focus(); }
    if (event.key === 'Escape' && event.target === search) { search.value = ''; show(); }
  });
  document.getElementById('controls').hidden = false;
  for (const one of document.querySelectorAll('.without-scripts')) one.remove();
  load(document);
  addOptions();
  show();

  // A page of a run that goes on hands over what has come since. The row that is read stays where it is.
  document.addEventListener('cases', (event) => {
    load(event.detail);
    addOptions();
    const read = [...body.rows].find((one) => one.getBoundingClientRect().bottom > 0);
    const at = read?.getBoundingClientRect().top;
    const focused = document.activeElement;
    const count = next;
    show();
    while (next < Math.min(count, shown.length)) append();
    if (read?.isConnected && at < 0) window.scrollBy(0, read.getBoundingClientRect().top - at);
    if (focused?.isConnected) focused.focus({ preventScroll: true });
  });
  document.documentElement.dataset.ready = String(rows.length);
})();
