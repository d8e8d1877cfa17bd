/** What the page is made of. */

type Child = Node | string;
export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  out.append(...children);
  return out;
}
export function button(label: string, title: string, id: string, press: () => void) {
  const out = element('button', {type: 'button', title, ...(id ? {id} : {})}, label);
  out.addEventListener('click', press);
  return out;
}
export function section(title: string, open: boolean, ...children: Child[]) {
  const out = element('details', {}, element('summary', {}, title), ...children);
  out.open = open;
  return out;
}
/** A list of choices. @param names  value and text, or both in one */
export function choices(id: string, title: string, names: (string | [string, string])[], chosen = '') {
  const out = element('select', {id, title});
  for (const name of names) {
    const [value, text] = typeof name === 'string' ? [name, name] : name;
    out.append(element('option', {value}, text));
  }
  if (chosen) out.value = chosen;
  return out;
}
/** What is written again is laid out and painted again, be it the same. */
export function write(node: HTMLElement, text: string) {
  if (node.textContent !== text) node.textContent = text;
}
