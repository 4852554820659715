// What is asked of a page, in a world of its own: the page neither sees nor changes it.
// Boxes and points are CSS pixels of the top frame's viewport.
globalThis.seechange ??= (() => {
  'use strict';
  const MAX_ELEMENTS = 2000, MAX_TEXT = 80, FRAME_LIMIT_MS = 100;
  const MAX_TEXTS = 3000, MAX_LINES = 20, MAX_TOUCHED = 100, MAX_GLANCES = 5000;
  const ROLES = new Set(['button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem',
    'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'searchbox', 'slider', 'spinbutton',
    'switch', 'tab', 'textbox', 'treeitem']);
  const HANDLERS = ['onclick', 'ondblclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'onpointerup'];
  const PUSHED = new Set(['button', 'submit', 'reset', 'image']);
  const document_ = `${performance.timeOrigin}-${Math.random()}`;
  const identities = new WeakMap();
  let snapshot_ = 0, nodes = [], lastIdentity = 0;

  const clean = (text, most = MAX_TEXT) => {
    const line = (text ?? '').replace(/\s+/g, ' ').trim();
    const letters = Array.from(line);
    return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : line;
  };
  const parent = (node) => {
    if (node.assignedSlot) return node.assignedSlot;
    if (node.parentElement) return node.parentElement;
    const root = node.getRootNode();
    return root.host ?? root.defaultView?.frameElement ?? null;
  };
  const isWithin = (node, holder) => {
    for (let at = node; at; at = parent(at)) if (at === holder) return true;
    return false;
  };
  const style = (node) => node.ownerDocument.defaultView?.getComputedStyle(node) ?? { cursor: '', overflow: '' };

  // Where a frame's content lies.
  const inside = (frame, origin) => {
    const rect = frame.getBoundingClientRect(), css = style(frame);
    return {
      x: origin.x + rect.left + frame.clientLeft + (parseFloat(css.paddingLeft) || 0),
      y: origin.y + rect.top + frame.clientTop + (parseFloat(css.paddingTop) || 0),
    };
  };
  const content = (node) => {
    if (node.localName !== 'iframe' && node.localName !== 'frame') return null;
    try { return node.contentDocument; } catch { return null; }
  };
  const originOf = (node) => {
    const frame = node.ownerDocument.defaultView?.frameElement;
    return frame ? inside(frame, originOf(frame)) : { x: 0, y: 0 };
  };

  const cut = (one, other) => {
    const rect = { left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
      right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom) };
    return rect.right - rect.left > 0 && rect.bottom - rect.top > 0 ? rect : null;
  };
  const shifted = (rect, by) => ({ left: rect.left + by.x, top: rect.top + by.y,
    right: rect.right + by.x, bottom: rect.bottom + by.y });
  const area = (rect) => (rect.right - rect.left) * (rect.bottom - rect.top);

  // The largest box of an element, which of a link over two lines is one line.
  const boxOf = (node) => {
    let best = null;
    for (const rect of node.getClientRects()) if (area(rect) > (best ? area(best) : 0)) best = rect;
    if (!best) for (const child of node.children) if ((best = boxOf(child))) return best;
    return best && shifted(best, originOf(node));
  };
  // What of it is not scrolled or clipped away.
  const shown = (node) => {
    let rect = boxOf(node);
    let isFixed = style(node).position === 'fixed';
    for (let at = parent(node); at && rect; at = parent(at)) {
      const css = style(at), origin = originOf(at);
      if (content(at)) {
        const start = inside(at, origin);
        rect = cut(rect, { left: start.x, top: start.y, right: start.x + at.clientWidth, bottom: start.y + at.clientHeight });
        isFixed = css.position === 'fixed';
        continue;
      }
      const isRoot = at === at.ownerDocument.documentElement || at === at.ownerDocument.body;
      if (!isFixed && !isRoot && css.overflow !== 'visible' && css.display !== 'inline' && css.display !== 'contents') {
        const box = at.getBoundingClientRect();
        const left = origin.x + box.left + at.clientLeft, top = origin.y + box.top + at.clientTop;
        rect = cut(rect, { left, top, right: left + at.clientWidth, bottom: top + at.clientHeight });
      }
      isFixed ||= css.position === 'fixed';
    }
    return rect && cut(rect, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  };
  const isVisible = (node) => node.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && boxOf(node) !== null;

  const hitAt = (x, y) => {
    let origin = { x: 0, y: 0 }, node = document.elementFromPoint(x, y);
    for (;;) {
      if (!node) return null;
      const inner = node.shadowRoot?.elementFromPoint(x - origin.x, y - origin.y);
      if (inner && inner !== node) { node = inner; continue; }
      const page = content(node);
      if (!page) return node;
      const start = inside(node, origin), deeper = page.elementFromPoint(x - start.x, y - start.y);
      if (!deeper) return node;
      [origin, node] = [start, deeper];
    }
  };
  const receives = (node, hit) => {
    if (!hit) return false;
    if (isWithin(hit, node)) return true;
    const label = hit.closest?.('label');
    return label ? label.control === node : false;
  };
  const EIGHTHS = [4, 2, 6, 1, 7];
  // A place where the element itself gets what is pressed, the middle first.
  const place = (node) => {
    const rect = shown(node);
    if (!rect) return { rect };
    let cover = null;
    for (const down of EIGHTHS) for (const along of EIGHTHS) {
      const x = rect.left + (rect.right - rect.left) * along / 8;
      const y = rect.top + (rect.bottom - rect.top) * down / 8;
      const hit = hitAt(x, y);
      if (receives(node, hit)) return { rect, x, y };
      cover ??= hit;
    }
    return { rect, cover: cover ?? document.documentElement };
  };
  const described = (node) => {
    const words = ['id', 'class', 'role'].filter((name) => node.getAttribute(name))
      .map((name) => ` ${name}="${clean(node.getAttribute(name), 40)}"`);
    const text = clean(node.innerText ?? node.textContent, 60);
    return `<${node.localName}${words.join('')}>${text ? ` "${text}"` : ''}`;
  };

  const isTyped = (node) => node.isContentEditable && !node.parentElement?.isContentEditable;
  const offers = (node) => {
    switch (node.localName) {
      case 'a': return node.hasAttribute('href');
      case 'input': return node.type !== 'hidden';
      case 'button': case 'select': case 'textarea': case 'summary': return true;
      case 'label': return node.control !== null;
      case 'audio': case 'video': return node.hasAttribute('controls');
      case 'html': case 'body': return false;
    }
    return ROLES.has(node.getAttribute('role')) || isTyped(node) || node.tabIndex >= 0 && node.hasAttribute('tabindex')
      || HANDLERS.some((name) => node.hasAttribute(name)) || isPointed(node);
  };
  // Nothing tells of listeners; a hand over the element is what a page shows a person.
  const isPointed = (node) => {
    if (style(node).cursor !== 'pointer') return false;
    const above = parent(node);
    return !above || style(above).cursor !== 'pointer';
  };

  const INPUT_ROLES = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
    radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color' };
  const roleOf = (node) => {
    const named = node.getAttribute('role')?.trim().split(/\s+/)[0];
    if (named) return named;
    switch (node.localName) {
      case 'a': return 'link';
      case 'button': return 'button';
      case 'summary': return 'summary';
      case 'label': return 'label';
      case 'select': return node.multiple || node.size > 1 ? 'listbox' : 'combobox';
      case 'textarea': return 'textbox';
      case 'input': return INPUT_ROLES[node.type] ?? 'textbox';
      case 'audio': case 'video': return node.localName;
    }
    return isTyped(node) ? 'textbox' : 'clickable';
  };
  const isField = (node) => ['input', 'select', 'textarea'].includes(node.localName);
  const labelText = (label) => {
    const copy = label.cloneNode(true);
    copy.querySelectorAll('input, select, textarea, button').forEach((each) => each.remove());
    return copy.textContent;
  };
  const nameOf = (node) => {
    const root = node.getRootNode();
    const by = (node.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean)
      .map((id) => root.getElementById?.(id)?.textContent ?? '').join(' ');
    const says = [by, node.getAttribute('aria-label')];
    if (isField(node)) {
      says.push(Array.from(node.labels ?? []).map(labelText).join(' '));
      if (PUSHED.has(node.type)) says.push(node.value, node.alt, { submit: 'Submit', reset: 'Reset' }[node.type]);
      says.push(node.placeholder, node.title, node.getAttribute('name'));
    } else if (!isTyped(node)) {
      says.push(node.localName === 'label' ? labelText(node) : node.innerText ?? node.textContent);
      says.push(node.querySelector('img[alt]')?.alt, node.querySelector('svg title')?.textContent);
    }
    says.push(node.getAttribute('title'), node.getAttribute('placeholder'), node.getAttribute('alt'));
    return clean(says.find((text) => clean(text)));
  };
  const valueOf = (node) => {
    if (node.localName === 'select') return clean(Array.from(node.selectedOptions, (each) => each.text).join(', '));
    if (node.localName === 'textarea') return clean(node.value);
    if (isTyped(node)) return clean(node.innerText);
    if (node.localName !== 'input' || PUSHED.has(node.type) || node.type === 'checkbox' || node.type === 'radio') return null;
    // A password is told by its length.
    return node.type === 'password' ? '•'.repeat(Math.min(node.value.length, MAX_TEXT)) : clean(node.value);
  };
  const isDisabled = (node) => node.matches(':disabled') || node.getAttribute('aria-disabled') === 'true';
  const statesOf = (node) => {
    const aria = (name) => node.getAttribute(`aria-${name}`);
    const states = [];
    if (node.indeterminate || aria('checked') === 'mixed') states.push('mixed');
    else if (node.checked || aria('checked') === 'true') states.push('checked');
    if (isDisabled(node)) states.push('disabled');
    if (node.readOnly) states.push('readonly');
    const open = node.localName === 'summary' ? String(node.parentElement?.open ?? false) : aria('expanded');
    if (open === 'true') states.push('expanded');
    if (open === 'false') states.push('collapsed');
    if (aria('selected') === 'true') states.push('selected');
    if (aria('pressed') === 'true') states.push('pressed');
    return states;
  };

  const collect = (root, found) => {
    watch(root);
    for (const node of root.children ?? []) {
      if (found.length >= MAX_ELEMENTS) return;
      if (offers(node) && isVisible(node)) found.push(node);
      if (node.shadowRoot) collect(node.shadowRoot, found);
      const page = content(node);
      collect(page ?? node, found);
    }
  };

  // Texts beside the elements: what is shown, by the element that holds it.
  const SILENT = new Set(['script', 'style', 'template', 'noscript', 'head', 'option', 'select', 'textarea', 'svg']);
  const words = (node) => node.isConnected && isVisible(node) ? clean(node.innerText) : '';
  const hasWords = (node) => Array.from(node.childNodes).some((child) => child.nodeType === 3 && child.data.trim());
  const collectTexts = (root, skipped, found) => {
    for (const node of root.children ?? []) {
      if (found.size >= MAX_TEXTS) return;
      if (SILENT.has(node.localName) || skipped.has(node)) continue;
      const text = hasWords(node) ? words(node) : '';
      if (text) found.set(node, text);
      else {
        if (node.shadowRoot) collectTexts(node.shadowRoot, skipped, found);
        collectTexts(content(node) ?? node, skipped, found);
      }
    }
  };
  // What is shown only for a moment is seen as it happens.
  const seen = new WeakSet(), flashes = new Map();
  let texts = new Map(), gone = [], glances = 0, marks = [];
  const observer = new MutationObserver((records) => notice(records));
  const watch = (root) => {
    if (seen.has(root) || ![9, 11].includes(root.nodeType)) return;
    seen.add(root);
    observer.observe(root, { subtree: true, childList: true, characterData: true, characterDataOldValue: true,
      attributes: true, attributeFilter: ['class', 'style', 'hidden', 'open'] });
  };
  const glance = (node, now) => {
    if (++glances > MAX_GLANCES) return;
    const text = hasWords(node) ? words(node) : '', flash = flashes.get(node);
    if (flash && flash.text !== text) {
      gone.push({ text: flash.text, ms: Math.round(now - flash.from) });
      flashes.delete(node);
    }
    if (text && text !== texts.get(node) && !flashes.has(node)) flashes.set(node, { text, from: now });
  };
  const inner = (node, found) => {
    if (found.size >= MAX_TOUCHED || SILENT.has(node.localName)) return;
    found.add(node);
    for (const child of node.children) inner(child, found);
  };
  const notice = (records) => {
    const now = performance.now(), touched = new Set(flashes.keys());
    for (const record of records) {
      const target = record.target.nodeType === 1 ? record.target : record.target.parentElement;
      if (target && record.type !== 'attributes') touched.add(target);
      if (target && record.type === 'attributes') inner(target, touched);
      for (const node of record.addedNodes) if (node.nodeType === 1) inner(node, touched);
      if (touched.size >= MAX_TOUCHED) break;
    }
    for (const mark of marks) renew(mark, records);
    for (const node of touched) glance(node, now);
  };
  const catchUp = () => notice(observer.takeRecords());
  const quoted = (text) => `"${text}"`;
  // How the texts differ from those of the snapshot before, in lines.
  const textChanges = (now, isFirst) => {
    const lines = [];
    if (!isFirst) {
      for (const [node, text] of texts) {
        const is = now.get(node);
        if (is === undefined) lines.push(`- text ${quoted(text)}`);
        else if (is !== text) lines.push(`~ text ${quoted(text)} → ${quoted(is)}`);
      }
      for (const [node, text] of now) if (!texts.has(node)) lines.push(`+ text ${quoted(text)}`);
      const last = new Set(now.values());
      for (const { text, ms } of gone) if (!last.has(text)) lines.push(`± text ${quoted(text)} (came and went within ${ms} ms)`);
    }
    const more = lines.length - MAX_LINES;
    return more > 0 ? [...lines.slice(0, MAX_LINES), `… and ${more} more texts`] : lines;
  };

  // The deepest elements that show a text.
  const carriers = (text, root = document, found = []) => {
    for (const node of root.children ?? []) {
      if (SILENT.has(node.localName)) continue;
      const page = content(node), before = found.length;
      if (node.shadowRoot) carriers(text, node.shadowRoot, found);
      if (page) carriers(text, page, found);
      else if (bare(node.textContent).includes(text) || node.querySelector?.('iframe, frame') || node.childElementCount) carriers(text, node, found);
      if (found.length === before && !page && shows(node, text)) found.push(node);
    }
    return found;
  };
  const bare = (text) => (text ?? '').replace(/\s+/g, ' ').trim();
  const shows = (node, text) => bare(node.textContent).includes(text) && isVisible(node) && bare(node.innerText).includes(text);
  const times = (nodes, text) => nodes.reduce((sum, node) => sum + bare(node.textContent).split(text).length - 1, 0);
  // What showed the text when it was marked does not count, until it showed something else.
  const renew = (mark, records) => {
    for (const { type, target, oldValue, addedNodes, removedNodes } of records) {
      if (type === 'characterData' && !bare(oldValue).includes(mark.text)) mark.old.delete(target.parentElement);
      if (type !== 'childList') continue;
      const added = Array.from(addedNodes), removed = Array.from(removedNodes);
      const more = times(added, mark.text) - times(removed, mark.text);
      // Drawn anew as it was: still the old one.
      if (more <= 0) for (const node of added) for (const each of node.nodeType === 1 ? [node, ...carriers(mark.text, node)] : [target]) mark.old.add(each);
      else mark.old.delete(target);
    }
    for (const node of Array.from(mark.old)) if (!node.isConnected || !shows(node, mark.text)) mark.old.delete(node);
    mark.isSeen ||= isNew(mark);
  };
  const isNew = (mark) => carriers(mark.text).some((node) => !mark.old.has(node));
  const mark = (all) => {
    watch(document);
    catchUp();
    marks = all.map((text) => ({ text: bare(text), old: new Set(carriers(bare(text))), isSeen: false }));
  };
  const matching = ({ number, index, name, role, text }) => {
    if (text !== undefined) return carriers(bare(text));
    if (index !== undefined) return number === snapshot_ && nodes[index]?.isConnected ? [nodes[index]] : [];
    const found = [];
    collect(document, found);
    return found.filter((node) => nameOf(node) === clean(name) && (!role || roleOf(node) === role));
  };
  const SEEK = {
    text: ({ text }, isFresh) => {
      const known = isFresh && marks.find((mark) => mark.text === bare(text));
      return known ? known.isSeen || isNew(known) : carriers(bare(text)).length > 0;
    },
    visible: (which) => matching(which).some(isVisible),
    enabled: (which) => matching(which).some((node) => isVisible(node) && !isDisabled(node)),
    gone: (which) => !matching(which).some(isVisible),
  };
  const seek = (all, isFresh) => {
    catchUp();
    return all.map((one) => SEEK[one.what](one, isFresh));
  };

  const identity = (node) => {
    if (!identities.has(node)) identities.set(node, ++lastIdentity);
    return identities.get(node);
  };
  const told = (node) => {
    const at = place(node);
    return {
      identity: identity(node), role: roleOf(node), name: nameOf(node), value: valueOf(node), states: statesOf(node),
      box: at.rect && [at.rect.left, at.rect.top, at.rect.right, at.rect.bottom],
      cover: at.cover ? described(at.cover) : null,
    };
  };
  const snapshot = (number) => {
    const found = [], now = new Map(), isFirst = snapshot_ === 0;
    collect(document, found);
    catchUp();
    collectTexts(document, new Set(found), now);
    const told_ = textChanges(now, isFirst);
    [snapshot_, nodes, texts, gone, glances] = [number, found, now, [], 0];
    flashes.clear();
    return { texts: told_, document: document_, url: location.href, title: clean(document.title, 200), elements: found.map(told),
      isCut: found.length >= MAX_ELEMENTS };
  };

  const frame = () => new Promise((done) => {
    const late = setTimeout(done, FRAME_LIMIT_MS);
    requestAnimationFrame(() => { clearTimeout(late); done(); });
  });
  const same = (one, other) => one && other && one.left === other.left && one.top === other.top
    && one.right === other.right && one.bottom === other.bottom;
  // Why nothing can be done with the element, or null.
  const known = (number, index, name) => {
    const node = number === snapshot_ ? nodes[index] : undefined;
    if (!node) return { why: 'unknown' };
    if (!node.isConnected) return { why: 'removed' };
    const now = nameOf(node);
    if (now !== name) return { why: 'renamed', now };
    return { node };
  };
  // Brings the element to a place where it can be pressed, and says where, or why not.
  const approach = async (number, index, name) => {
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    if (!isVisible(node)) return { why: 'hidden' };
    let at = place(node);
    for (const block of ['nearest', 'center', 'start', 'end']) {
      if (at.x !== undefined) break;
      node.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
      await frame();
      at = place(node);
    }
    const before = boxOf(node);
    await frame();
    await frame();
    if (!same(before, boxOf(node))) return { why: 'moving' };
    if (isDisabled(node)) return { why: 'disabled' };
    at = place(node);
    if (at.x !== undefined) return { x: at.x, y: at.y };
    return at.rect ? { why: 'covered', cover: described(at.cover) } : { why: 'outside' };
  };
  // Whether what was true a moment ago still is, at exactly that point.
  const confirm = async (number, index, name, x, y) => {
    // What the pointer's arrival sets off is drawn by then: a menu, a banner, a shift.
    await frame();
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    if (isDisabled(node)) return { why: 'disabled' };
    const hit = hitAt(x, y);
    if (receives(node, hit)) return { x, y };
    const rect = shown(node);
    const isThere = rect && x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom;
    return isThere && hit ? { why: 'covered', cover: described(hit) } : { why: 'moving' };
  };
  const scroll = (number, index, name) => {
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    node.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    return {};
  };
  // Selects all that is in a field, so that what is typed replaces it.
  const focus = (number, index, name) => {
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    if (isDisabled(node)) return { why: 'disabled' };
    if (node.localName === 'select' || node.localName === 'input' && SET.has(node.type)) return { why: 'set' };
    const isText = node.localName === 'textarea' || isTyped(node)
      || node.localName === 'input' && !PUSHED.has(node.type) && !['checkbox', 'radio', 'file', 'color', 'range'].includes(node.type);
    if (!isText || node.readOnly) return { why: 'untypable' };
    node.focus();
    if (node.getRootNode().activeElement !== node) return { why: 'unfocused' };
    if (isTyped(node)) node.ownerDocument.getSelection().selectAllChildren(node); else node.select();
    return {};
  };
  const SET = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range']);
  // Chooses an option, or sets a field that is no text, as a person would: the page is told.
  const set = (number, index, name, text) => {
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    if (isDisabled(node)) return { why: 'disabled' };
    if (node.localName === 'select') {
      const options = Array.from(node.options).filter((each) => !each.disabled);
      const chosen = options.find((each) => clean(each.text) === clean(text)) ?? options.find((each) => each.value === text);
      if (!chosen) return { why: 'options', options: options.slice(0, 20).map((each) => clean(each.text)) };
      node.focus();
      if (!node.multiple) node.selectedIndex = chosen.index; else for (const each of node.options) each.selected = each === chosen;
    } else {
      const before = node.value;
      node.focus();
      node.value = text;
      if (node.value !== text) { node.value = before; return { why: 'unset', type: node.type }; }
    }
    node.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    node.dispatchEvent(new Event('change', { bubbles: true }));
    return {};
  };
  // Where a link leads.
  const link = (number, index, name) => {
    const { node, ...no } = known(number, index, name);
    if (!node) return no;
    return ['a', 'area'].includes(node.localName) && /^https?:$/.test(node.protocol) ? { href: node.href } : { why: 'nolink' };
  };
  const where = () => ({ url: location.href, title: clean(document.title, 200), ready: document.readyState,
    width: innerWidth, height: innerHeight, ratio: devicePixelRatio });
  return { snapshot, approach, confirm, scroll, focus, set, link, mark, seek, where };
})();
