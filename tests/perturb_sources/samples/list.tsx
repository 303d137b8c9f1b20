/// <reference types="node" />
// @ts-nocheck
type Props<T> = { items: T[]; render: (t: T) => React.ReactNode };
const id = <T,>(x: T): T => x; // generic
const f = <T extends object>(x: T) => x!; // it's
export function List<T>({ items, render }: Props<T>) {
  const n = items!.length! / 2; // half
  const cast = items as unknown as string[];
  /* a */ const z = n /* mid */ / 3;
  return <ul className='x'>{items.map((i) => <li>{render(i)} isn't // it</li>)}</ul>;
}
class A { private x = 1; get y() { return this.x / 2; } /* end */ }
enum E { A = 1, /* b */ B }
const t = `a ${b ? `c ${d} // no` : ''} /* no */`; // yes
