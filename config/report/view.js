// Keeps a served page up to date: what has data-refresh is asked for again, and put in the place of what it was
// where it has changed. What the reader has opened, chosen and scrolled to stays.
(() => {
  'use strict';
  const LEAST_MS = 1500;
  const opened = (root) => new Set([...root.querySelectorAll('details[open] > summary')].map((one) => one.textContent));
  const replace = (old, fresh) => {
    if (old.outerHTML === fresh.outerHTML) return;
    const open = opened(old);
    const checked = [...old.querySelectorAll('input:checked')].map((one) => one.name + '=' + one.value);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const now = document.importNode(fresh, true);
    for (const one of now.querySelectorAll('summary')) if (open.has(one.textContent)) one.parentElement.open = true;
    for (const one of now.querySelectorAll('input')) if (checked.includes(one.name + '=' + one.value)) one.checked = true;
    old.replaceWith(now);
    if (focused) {
      const same = [...now.querySelectorAll('a, input, summary')].find((one) => one.outerHTML === focused.outerHTML);
      same?.focus({ preventScroll: true });
    }
  };
  const page = async (address) => {
    const answer = await fetch(address, { cache: 'no-store' });
    if (!answer.ok) throw new Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  };
  // How long the server took to make it says how often it is asked for.
  let wait = LEAST_MS;
  const refresh = async () => {
    const began = performance.now();
    const old = document.querySelector('[data-refresh]');
    if (!old) return;
    const fresh = (await page(old.dataset.refresh)).getElementById(old.id);
    const moved = fresh.dataset.version !== old.dataset.version;
    // Before anything is replaced: what is asked for no more would never come if this failed.
    const whole = moved ? await page(location.href) : null;
    replace(old, fresh);
    // A page of the ledger's record alone has none, and takes nobody's away.
    if (whole?.querySelector('script.cases')) document.dispatchEvent(new CustomEvent('cases', { detail: whole }));
    wait = Math.max(LEAST_MS, 8 * (performance.now() - began));
  };
  const state = document.getElementById('connection');
  const tick = async () => {
    try {
      if (!document.hidden) await refresh();
      if (state) state.hidden = true;
    } catch {
      if (state) state.hidden = false;
      wait = Math.min(2 * wait, 30000);
    }
    if (document.querySelector('[data-refresh]')) setTimeout(tick, wait);
  };
  setTimeout(tick, wait);
})();
