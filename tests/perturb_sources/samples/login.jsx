// Top comment
import React, { useState } from 'react';

/* block
   comment */
export function Login({ user, onSubmit }) {
    const [name, setName] = useState(user?.name ?? '');  // state
	const ratio = name.length / 2 / 3;
    const isUrl = /^https?:\/\/[^/'"]+/.test(name); // it's a regex
    if (!user) return null;
    return (
        <>
            {/* don't remove me wrongly */}
            <form onSubmit={(e) => { e.preventDefault(); onSubmit(name); }} className="form // not">
                <label htmlFor='name'>User's name: // text</label>
                <input id="name" value={name} onChange={e => setName(e.target.value)} />
                {isUrl ? <a href={`https://x/${name}`}>It's "here" {ratio > 1 && <b>!</b>}</a> : null}
                {items.map((item) => (
                    <Item.Row key={item.id} {...item} // trailing
                        data-x="1" /* attr comment */
                    />
                ))}
                <p>
                    a	b   # c
                </p>
            </form>
        </>
    );
}
const x = a < b && c > d; // cmp
