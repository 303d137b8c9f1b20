#![allow(dead_code)]
//! A store. /* not open */
/* a /* nested */ one */

/// Looks up 'a key'.
pub fn find<'a>(keys: &'a [String], key: &str) -> Option<&'a str> {
    let raw = r#"a "quoted" // thing"#;
    let bytes = b"\"//"; // two
    let quote = ['\'', '"', '\u{e9}', b'/' as char];
    println!("{raw} {:?} {quote:?}
        goes on // here", bytes);
    keys.iter().find(|k| k.as_str() == key).map(|k| &k[..]) // last
}
