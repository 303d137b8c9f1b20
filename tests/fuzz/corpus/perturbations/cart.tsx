/// <reference types="node" />
import type { Item } from './item' // types only

// @ts-expect-error untyped
const total = (items: Item[]): number => items.reduce((sum, { price }) => sum + price! / 100, 0)
const price = /^[$/]\d+(\/kg)?$/giu, half = 1. / 2
const label = `${items.length /* n */} item${one ? '' : `s // ${n}`}`

export class Cart<T extends Item> {
  private last = {} as T;
  toString() { return this.last as {} as string }
}

export function Row({ item }: { item: Item }) {
  if (item.price > 9) return <p title="// none">don't {/* note */} <b>{item.name}</b> & more</p>
  return <></>
}
