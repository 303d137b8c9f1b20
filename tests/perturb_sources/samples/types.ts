const a = <any>window; // cast
const b = <Foo<string>>bar; /* c */
const f = <T>(x: T) => x;
function g<T>(x: T): x is T { return /'/.test(String(x)) }
let y = (1 + 2) / 3; let z = arr[0] / 2; // '
const o = { re: /[/"]/g, n: 4 / 2 }
if (y) /x'/.exec("a");
label: for (;;) { break label }
abstract class B<T> { abstract m(): void; /** doc */ p?: string; }
declare module "x" { export const q: number; }
