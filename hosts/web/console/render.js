/**
 * A keyed renderer: makes the children of an element what a list of nodes says, and touches what differs alone.
 *
 * An element stays as long as a node with its tag and key is in its place or moves within its parent, with focus, selection,
 * scrolling and what is being typed. Texts are never read as markup.
 *
 * @module render
 */

/** @typedef {import("./types.js").Node} Node */
/** @typedef {import("./types.js").Props} Props */
/** @typedef {import("./types.js").Child} Child */
/** @typedef {import("./types.js").Children} Children */

const SVG = "http://www.w3.org/2000/svg";
/** Set as properties: as attributes, they would be defaults alone. */
const PROPERTIES = new Set(["value", "checked", "indeterminate", "selected", "open", "scrollTop"]);
/** Attributes that are addresses. */
const ADDRESSES = new Set(["href", "src"]);
const SAFE_ADDRESS = /^(?:https?:|blob:|#|\/(?![/\\]))/i;

/** The node of an element. @type {WeakMap<Element, Node>} */
const nodes = new WeakMap();
/** The listeners of an element, by event. @type {WeakMap<Element, Map<string, (event: Event) => void>>} */
const listeners = new WeakMap();

/**
 * Makes a node.
 *
 * @param {string} tag The name of the element; with classes as in CSS, `p.note`.
 * @param {Props | null} [props]
 * @param {...Children} children Texts and nodes; `null`, `undefined` and booleans are nothing.
 * @returns {Node}
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  const { key, ...rest } = props ?? {};
  if (classes.length > 0) rest.class = [...classes, rest.class].filter(Boolean).join(" ");
  return { tag: name, key, props: rest, children: flat(children) };
}

/** @param {Children[]} children @returns {Child[]} */
function flat(children) {
  /** @type {Child[]} */
  const all = [];
  for (const child of children) {
    if (Array.isArray(child)) for (const inner of flat(child)) all.push(inner);
    else if (typeof child === "number" || typeof child === "bigint") all.push(String(child));
    else if (typeof child === "string") child !== "" && all.push(child);
    else if (child !== null && child !== undefined && typeof child !== "boolean") all.push(child);
  }
  return all;
}

/**
 * Makes the children of an element those of a list.
 *
 * @param {Element} parent
 * @param {Children} children
 */
export function render(parent, children) {
  /** @type {(() => void)[]} */
  const made = [];
  patchChildren(parent, flat([children]), made);
  made.forEach((call) => call());
}

/** @param {Element} parent @param {Child[]} children @param {(() => void)[]} made */
function patchChildren(parent, children, made) {
  const old = takeOld(parent);
  const isSvg = parent.namespaceURI === SVG && parent.localName !== "foreignObject";
  /** @type {ChildNode[]} */
  const wanted = children.map((child, index) => {
    const found = take(old, child, index);
    if (typeof child === "string") {
      const text = found ?? document.createTextNode(child);
      if (text.nodeValue !== child) text.nodeValue = child;
      return text;
    }
    const element = /** @type {Element} */ (found ?? create(child, isSvg, made));
    patch(element, child, made);
    return element;
  });
  for (const left of old.all) if (!old.taken.has(left)) left.remove();
  place(parent, wanted);
  // The value of a list is one of its options, which have to be there.
  const value = nodes.get(parent)?.props.value;
  if (parent instanceof HTMLSelectElement && value !== undefined && parent.value !== value) parent.value = value;
}

/** Puts nodes in their order; the one with the focus is not moved, because it would lose it. @param {Element} parent @param {ChildNode[]} wanted */
function place(parent, wanted) {
  const active = document.activeElement;
  /** @type {ChildNode | null} */
  let next = parent.firstChild;
  for (const node of wanted) {
    if (node === next) {
      next = next.nextSibling;
    } else if (active !== null && node.parentNode === parent && node.contains(active)) {
      while (next !== null && next !== node) {
        const behind = next;
        next = next.nextSibling;
        parent.append(behind);
      }
      next = node.nextSibling;
    } else {
      parent.insertBefore(node, next);
    }
  }
}

/**
 * @typedef {object} Old
 * @property {ChildNode[]} all
 * @property {Map<string, Element>} keyed
 * @property {Set<ChildNode>} taken
 */

/** @param {Element} parent @returns {Old} */
function takeOld(parent) {
  const all = [...parent.childNodes];
  /** @type {Map<string, Element>} */
  const keyed = new Map();
  for (const node of all) {
    const known = node instanceof Element ? nodes.get(node) : undefined;
    if (known?.key !== undefined) keyed.set(`${known.tag} ${known.key}`, /** @type {Element} */ (node));
  }
  return { all, keyed, taken: new Set() };
}

/** Takes what is there for a child: what has its key, or else what is in its place. @param {Old} old @param {Child} child @param {number} index */
function take(old, child, index) {
  /** @type {ChildNode | undefined} */
  let found;
  if (typeof child !== "string" && child.key !== undefined) {
    found = old.keyed.get(`${child.tag} ${child.key}`);
  } else {
    const there = old.all[index];
    if (typeof child === "string") {
      if (there instanceof Text) found = there;
    } else if (there instanceof Element) {
      const known = nodes.get(there);
      if (known?.tag === child.tag && known.key === undefined) found = there;
    }
  }
  if (found === undefined || old.taken.has(found)) return null;
  old.taken.add(found);
  return found;
}

/** @param {Node} node @param {boolean} isSvg @param {(() => void)[]} made */
function create(node, isSvg, made) {
  const element = isSvg || node.tag === "svg" ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  const call = node.props.made;
  if (typeof call === "function") made.push(() => call(element));
  return element;
}

/** @param {Element} element @param {Node} node @param {(() => void)[]} made */
function patch(element, node, made) {
  // The same node again is as it was.
  if (nodes.get(element) === node) return;
  const before = nodes.get(element)?.props ?? {};
  nodes.set(element, node);
  for (const name of Object.keys(before)) if (!(name in node.props)) setProp(element, name, undefined, before[name]);
  // The bounds of a control come before its value.
  const names = Object.keys(node.props).sort((one, other) => Number(PROPERTIES.has(one)) - Number(PROPERTIES.has(other)));
  const early = names.filter((name) => !PROPERTIES.has(name));
  for (const name of early) setProp(element, name, node.props[name], before[name]);
  patchChildren(element, node.children, made);
  for (const name of names.slice(early.length)) setProp(element, name, node.props[name], before[name]);
}

/** @param {Element} element @param {string} name @param {any} value @param {any} before */
function setProp(element, name, value, before) {
  if (name === "made") return;
  if (name.startsWith("on")) {
    listen(element, name.slice(2), value);
  } else if (name === "style") {
    setStyle(/** @type {HTMLElement} */ (element).style, value ?? {}, before ?? {});
  } else if (PROPERTIES.has(name)) {
    const properties = /** @type {any} */ (element);
    // What a person opened or closed stays so, unless it is to be otherwise.
    if (name === "open" && value === before) return;
    // A control keeps its selection if it has that value already.
    if (value !== undefined && properties[name] !== value) properties[name] = value;
    else if (value === undefined && typeof before === "boolean") properties[name] = false;
  } else if (value !== before) {
    if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else if (ADDRESSES.has(name) && !SAFE_ADDRESS.test(String(value))) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {CSSStyleDeclaration} style @param {{ [name: string]: string }} values @param {{ [name: string]: string }} before */
function setStyle(style, values, before) {
  for (const name of Object.keys(before)) if (!(name in values)) style.removeProperty(name);
  for (const [name, value] of Object.entries(values)) if (before[name] !== value) style.setProperty(name, value);
}

/** @param {Element} element @param {string} event @param {((event: Event) => void) | undefined} listener */
function listen(element, event, listener) {
  let known = listeners.get(element);
  if (known === undefined) {
    known = new Map();
    listeners.set(element, known);
  }
  const isNew = !known.has(event);
  known.set(event, listener ?? (() => {}));
  if (isNew) element.addEventListener(event, (happened) => known.get(event)?.(happened));
}
