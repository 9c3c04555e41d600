(() => {
  const squeeze = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();
  const short = (text, most = 80) => { text = squeeze(text); return text.length > most ? text.slice(0, most) + '…' : text; };
  const shown = (element) => {
    let text = element.localName;
    if (element.id) text += '#' + element.id;
    else if (element.classList && element.classList.length) text += '.' + element.classList[0];
    return '<' + short(text) + '>';
  };
  // A frame, or a little time where the page draws nothing.
  const frame = () => new Promise((done) => {
    const end = () => { clearTimeout(timer); done(); };
    const timer = setTimeout(end, 50);
    requestAnimationFrame(end);
  });
  const parentOf = (node) => {
    if (node.assignedSlot) return node.assignedSlot;
    if (node.parentElement) return node.parentElement;
    const root = node.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  };
  const isWithin = (inner, outer) => {
    for (let node = inner; node; node = parentOf(node)) if (node === outer) return true;
    return false;
  };
  const boxOf = (element) => {
    for (const box of element.getClientRects()) if (box.width > 0 && box.height > 0) return box;
    return null;
  };
  const isVisible = (element) => Boolean(boxOf(element)) && element.checkVisibility({ visibilityProperty: true });
  const topAt = (x, y) => {
    let found = document.elementFromPoint(x, y);
    while (found && found.shadowRoot) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  const isDisabled = (element) => {
    for (let node = element; node; node = parentOf(node)) {
      if (node.matches(':disabled') || node.getAttribute('aria-disabled') === 'true') return true;
    }
    return false;
  };
  // A hidden checkbox is clicked by its label.
  const actedOn = (element) => {
    if (isVisible(element) || !element.labels) return element;
    return [...element.labels].find(isVisible) || element;
  };
  // What is said of a label is meant for its field.
  const controlOf = (element) => {
    if (/^(input|textarea|select|button)$/.test(element.localName) || element.isContentEditable) return element;
    const label = element.closest('label');
    return (label && label.control) || element;
  };
  const roots = function* (root) {
    yield root;
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) yield* roots(element.shadowRoot);
  };
  const candidates = (selector) => {
    const found = [];
    if (selector.startsWith('text=')) {
      const text = squeeze(selector.slice(5)).toLowerCase();
      for (const root of roots(document)) {
        for (const element of root.querySelectorAll('*')) {
          if (/^(script|style|template|noscript|head|title|html)$/.test(element.localName)) continue;
          const own = element.localName === 'input' ? element.value : element.textContent;
          if (!squeeze(own).toLowerCase().includes(text)) continue;
          // The innermost element that has it.
          if (![...element.children].some((child) => squeeze(child.textContent).toLowerCase().includes(text))) found.push(element);
        }
      }
    } else if (selector.startsWith('xpath=') || selector.startsWith('//')) {
      const path = selector.replace(/^xpath=/, '');
      const result = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      for (let at = 0; at < result.snapshotLength; at += 1) {
        const node = result.snapshotItem(at);
        if (node instanceof Element) found.push(node);
      }
    } else {
      for (const root of roots(document)) found.push(...root.querySelectorAll(selector));
    }
    return found;
  };
  const pick = (selector) => {
    const found = candidates(selector);
    return found.find(isVisible) || found[0] || null;
  };
  const changed = (element) => {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const NOT_TYPED = ['button', 'checkbox', 'file', 'hidden', 'image', 'radio', 'reset', 'submit'];
  const SET_WHOLE = ['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week'];

  return {
    // Checks a selector, and returns what is wrong with it.
    check(selector) {
      try { candidates(selector); return null; } catch (error) { return short(error.message, 200); }
    },
    // Waits for an element.
    async find(selector, limit) {
      const end = performance.now() + limit;
      for (;;) {
        const element = pick(selector);
        if (element || performance.now() >= end) return element;
        await frame();
      }
    },
    // Waits until an element can be acted on: visible, enabled, not moving, not covered. Returns the point to act at.
    async ready(needs, limit) {
      const end = performance.now() + limit;
      let last = null;
      let reason = '';
      // What is visible in a frame may still be outside of what is visible of the frame.
      if (needs.visible && window.parent !== window) {
        actedOn(this).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
        await frame();
      }
      const own = needs.editable ? controlOf(this) : this;
      for (;;) {
        const element = needs.visible ? actedOn(own) : own;
        let box = null;
        if (!own.isConnected) return { gone: true };
        if (needs.visible && !(isVisible(element) && (box = boxOf(element)))) {
          reason = own.localName === 'option' ? 'it is an option of a list: use `select` on the list' : 'it is not visible';
        } else if (needs.enabled && isDisabled(own)) {
          reason = 'it is disabled';
        } else if (needs.editable && own.readOnly) {
          reason = 'it is read-only';
        } else if (!needs.visible) {
          return {};
        } else {
          const x = box.x + box.width / 2;
          const y = box.y + box.height / 2;
          const isOutside = x < 0 || y < 0 || x >= innerWidth || y >= innerHeight;
          if (isOutside) {
            element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
            reason = 'it is outside of what can be scrolled to';
            last = null;
          } else if (!last || last.x !== box.x || last.y !== box.y || last.width !== box.width || last.height !== box.height) {
            reason = 'it is moving';
            last = box;
          } else {
            const top = needs.uncovered ? topAt(x, y) : element;
            const isAround = top && !/^(html|body)$/.test(top.localName) && isWithin(element, top);
            const isLabel = top && own.labels && [...own.labels].some((label) => isWithin(top, label));
            if (top && (isWithin(top, element) || isAround || isLabel)) {
              return { x, y, left: box.x, top: box.y, width: box.width, height: box.height };
            }
            reason = 'it is covered by ' + (top ? shown(top) + (squeeze(top.textContent) ? ' "' + short(top.textContent, 40) + '"' : '') : 'something');
            // A bar that stays at the edge may cover it; in the middle it does not.
            element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
          }
        }
        if (performance.now() >= end) return { reason };
        await frame();
      }
    },
    // Prepares an element for text that is inserted next, or sets it where no text can be inserted.
    edit(text, append) {
      const field = controlOf(this);
      if (field.localName === 'select') return { error: 'it is a list: use `select`' };
      if (field.localName === 'input') {
        if (NOT_TYPED.includes(field.type)) return { error: 'nothing can be typed into an input of the type ' + field.type };
        if (SET_WHOLE.includes(field.type)) {
          field.focus();
          Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
          if (field.value !== text) return { error: 'an input of the type ' + field.type + ' does not take this value; it has "' + short(field.value) + '" now' };
          changed(field);
          return { done: true };
        }
      } else if (field.localName !== 'textarea' && !field.isContentEditable) {
        return { error: 'it is no field for text' };
      }
      field.focus();
      if (field.isContentEditable) {
        const range = document.createRange();
        range.selectNodeContents(field);
        if (append) range.collapse(false);
        const selection = getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
      } else if (append) {
        try { field.setSelectionRange(field.value.length, field.value.length); } catch { /* of this type it is at the end */ }
      } else {
        field.select();
      }
      return { done: false };
    },
    // What a field holds.
    value() {
      const field = controlOf(this);
      if (field.type === 'password') return null;
      return field.isContentEditable ? field.innerText : String(field.value ?? '');
    },
    focus() {
      const field = controlOf(this);
      field.focus();
      return document.activeElement === field || field.matches(':focus-within');
    },
    // Chooses options of a list, by value or by label.
    async select(values, limit) {
      const list = controlOf(this);
      if (list.localName !== 'select') return { error: 'it is no list of the kind <select>: click it, then click an option' };
      const end = performance.now() + limit;
      for (;;) {
        const options = [...list.options];
        const label = (option) => squeeze(option.label || option.text);
        const chosen = values.map((value) => options.find((option) => option.value === value)
          || options.find((option) => label(option) === squeeze(value))
          || options.find((option) => label(option).toLowerCase() === squeeze(value).toLowerCase()));
        const missing = values.filter((_, at) => !chosen[at]);
        if (missing.length === 0) {
          if (!list.multiple && chosen.length !== 1) return { error: 'it takes one value, not ' + chosen.length };
          const off = chosen.find((option) => option.disabled || (option.parentElement.localName === 'optgroup' && option.parentElement.disabled));
          if (off) return { error: 'the option "' + short(label(off)) + '" is disabled' };
          list.focus();
          for (const option of options) option.selected = chosen.includes(option);
          changed(list);
          return { chosen: chosen.map((option) => short(label(option))) };
        }
        if (performance.now() >= end) {
          return { missing: missing.map((value) => short(value)), options: options.slice(0, 50).map((option) => short(label(option))) };
        }
        await frame();
      }
    },
    isFileInput() { return this.localName === 'input' && this.type === 'file'; },
    takesSeveral() { return Boolean(this.multiple || this.webkitdirectory); },
    reveal() { this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' }); },
    // Waits until the page has changed nothing for a while.
    settle(quiet, limit) {
      return new Promise((done) => {
        let timer = 0;
        let last = 0;
        const end = () => { observer.disconnect(); clearTimeout(timer); clearTimeout(last); done(true); };
        const again = () => { clearTimeout(timer); timer = setTimeout(end, quiet); };
        const observer = new MutationObserver(again);
        observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        last = setTimeout(end, limit);
        again();
      });
    },
    // Waits for text, or for an element, to be visible, or not to be any more.
    async appears(text, selector, gone, limit) {
      const end = performance.now() + limit;
      for (;;) {
        let is = false;
        if (selector !== null) is = candidates(selector).some(isVisible);
        else is = Boolean(document.body) && squeeze(document.body.innerText).includes(squeeze(text));
        if (is !== gone) return true;
        if (performance.now() >= end) return false;
        await frame();
      }
    },
    // Waits until this element is visible, or not any more.
    async shows(gone, limit) {
      const end = performance.now() + limit;
      for (;;) {
        if ((this.isConnected && isVisible(this)) !== gone) return true;
        if (performance.now() >= end) return false;
        await frame();
      }
    },
    scroll(across, down) {
      const target = this instanceof Element ? this : (document.scrollingElement || document.documentElement);
      target.scrollBy({ left: across, top: down, behavior: 'instant' });
      return { top: Math.round(target.scrollTop), most: Math.round(target.scrollHeight - target.clientHeight) };
    },
    about() {
      const entry = performance.getEntriesByType('navigation')[0];
      return { title: document.title.slice(0, 300), status: entry ? entry.responseStatus : 0 };
    },
    size() {
      const element = document.scrollingElement || document.documentElement;
      return { width: Math.max(element.scrollWidth, innerWidth), height: Math.max(element.scrollHeight, innerHeight) };
    },
    text(most) {
      let text;
      try { text = JSON.stringify(this, null, 2); } catch (error) { return '(a value that is not JSON: ' + short(error.message) + ')'; }
      return text === undefined ? Object.prototype.toString.call(this) : text.slice(0, most);
    },
  };
})()
