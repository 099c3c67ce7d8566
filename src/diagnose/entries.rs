//! Entries of logs that are JSON, as collectors and structured loggers write them: the text of each as lines, with its
//! labels before them.
//!
//! Which field is the text is not known by product. It is the one whose name says so, else the longest that has the form of
//! a sentence.

use memchr::memmem;
use serde_json::{Map, Value};

use super::clock::time_length;
use super::escape_codes;

/// What stands before and behind the labels of an entry.
pub const LABELS: u8 = 0x1e;
pub const LABELS_END: u8 = 0x1f;

/// Names of fields for the text, the likeliest first.
const TEXTS: [&str; 17] = [
    "message",
    "msg",
    "textpayload",
    "log",
    "event",
    "text",
    "line",
    "body",
    "logentry",
    "logmessage",
    "full_message",
    "short_message",
    "exception",
    "traceback",
    "content",
    "value",
    "raw",
];
/// What names of fields have that say who wrote an entry.
const NAMES: [&str; 16] = [
    "rank",
    "pod",
    "container",
    "host",
    "node",
    "worker",
    "replica",
    "instance",
    "task",
    "pid",
    "process",
    "stream",
    "unit",
    "app",
    "service",
    "logstream",
];
const TIMES: [&str; 8] = [
    "timestamp",
    "time",
    "asctime",
    "ts",
    "timegenerated",
    "receivetimestamp",
    "date",
    "realtime_timestamp",
];

/// Names of fields that change from entry to entry of one writer.
const CHANGING: [&str; 9] =
    ["level", "levelname", "severity", "lvl", "id", "insertid", "trace", "span", "funcname"];
/// Other labels of an entry by which it is told from those of other writers.
const MOST_OTHERS: usize = 12;

/// Bytes before an entry in its line, and of a label.
const MOST_BEFORE: usize = 4096;
const MOST_LABEL: usize = 120;
/// Values within each other in which texts and labels are looked for.
const MOST_DEPTH: usize = 6;

/// The lines of the text of an entry that takes a line, or its end; `None` where it is none.
pub fn unfolded(line: &[u8]) -> Option<Vec<u8>> {
    let trimmed = line.trim_ascii();
    matches!(trimmed.last()?, b'}' | b']').then_some(())?;
    let start = match trimmed.first()? {
        b'{' => line.len() - line.trim_ascii_start().len(),
        b'[' if is_document(trimmed) => line.len() - line.trim_ascii_start().len(),
        _ => memmem::find(line.get(..line.len().min(MOST_BEFORE))?, b"{\"")?,
    };
    let (before, entry) = line.split_at_checked(start)?;
    lines_of(before, entry)
}

/// The same of entries that take several lines.
pub fn lines_of(before: &[u8], entries: &[u8]) -> Option<Vec<u8>> {
    let value: Value = match serde_json::from_slice(entries) {
        Ok(value) => value,
        Err(error) if error.is_syntax() && std::str::from_utf8(entries).is_err() => {
            serde_json::from_str(&String::from_utf8_lossy(entries)).ok()?
        }
        Err(_) => return None,
    };
    let mut found = EntryLines { before, lines: Vec::new() };
    found.add(&value, "", &Entry::default(), 0);
    Some(found.lines).filter(|lines| !lines.is_empty())
}

/// The lines of an entry whose fields are known; `None` where none of them is a text.
pub fn lines_of_fields(fields: &Map<String, Value>) -> Option<Vec<u8>> {
    let mut entry = Entry::default();
    entry.read(fields, "", 0);
    let mut lines = Vec::new();
    entry.write(b"", &mut lines);
    Some(lines).filter(|lines| !lines.is_empty())
}

/// Whether a field of this name has the text of an entry.
pub fn is_text_name(name: &str) -> bool {
    let name = in_words(name);
    let last = name.rsplit(['.', '/']).next().unwrap_or(&name);
    TEXTS.iter().any(|text| is_same_name(text, last))
}

/// Whether a text begins as JSON does that has entries.
pub fn is_document(text: &[u8]) -> bool {
    let mut text = text.trim_ascii_start();
    for _ in 0..2 {
        text = text.strip_prefix(b"[").unwrap_or(text).trim_ascii_start();
    }
    text.strip_prefix(b"{").is_some_and(|fields| fields.trim_ascii_start().starts_with(b"\""))
}

/// Adds the lines of a text, each behind the labels of its entry.
pub fn add_labelled(labels: &[u8], text: &[u8], lines: &mut Vec<u8>) {
    for line in text.split(|byte| *byte == b'\n') {
        lines.push(LABELS);
        lines.extend_from_slice(labels);
        lines.push(LABELS_END);
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
}

/// What is known of an entry.
#[derive(Clone, Default)]
struct Entry {
    /// The names of fields, as [`TEXTS`] has them, and their texts.
    texts: Vec<(usize, String, String)>,
    labels: Vec<(String, String)>,
    /// Other fields, `name:value`, that have the same in all entries of one writer, as far as their form says so.
    others: Vec<String>,
    time: Option<String>,
    /// The texts of the entry that this one is in.
    told: Vec<String>,
}

/// The lines of the entries in a value.
struct EntryLines<'a> {
    /// What stands before the value in its line.
    before: &'a [u8],
    lines: Vec<u8>,
}

impl EntryLines<'_> {
    /// Adds those of all entries in a value, which is that of a field `parent`.
    fn add(&mut self, value: &Value, parent: &str, around: &Entry, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        match value {
            Value::Array(values) => {
                if let Some(fields) = fields_of(values) {
                    return self.add(&Value::Object(fields), parent, around, depth + 1);
                }
                for value in values {
                    self.add(value, parent, around, depth + 1);
                }
            }
            Value::Object(fields) => {
                let mut entry = around.clone();
                entry.texts.clear();
                // Each of `containers` is a container.
                entry.read(fields, &singular(&in_words(parent)), 0);
                if entry.texts.is_empty() {
                    return self.add_fields(fields, &entry, depth);
                }
                let mut within = Entry { texts: Vec::new(), ..entry.clone() };
                within.told.extend(entry.texts.iter().map(|(.., text)| text.clone()));
                entry.write(self.before, &mut self.lines);
                self.add_within(fields, &within, depth);
            }
            _ => {}
        }
    }

    /// Adds those of the entries in fields none of which is a text.
    fn add_fields(&mut self, fields: &Map<String, Value>, entry: &Entry, depth: usize) {
        for (name, value) in fields {
            match value {
                // Streams of Loki: a time and a line.
                Value::Array(values) if name == "values" => {
                    for pair in values.iter().filter_map(Value::as_array) {
                        let Some(line) = pair.last().and_then(Value::as_str) else { continue };
                        let mut entry = entry.clone();
                        entry.texts.push((0, name.clone(), line.to_owned()));
                        entry.time = pair.first().and_then(Value::as_str).map(str::to_owned);
                        entry.write(self.before, &mut self.lines);
                    }
                }
                Value::Array(_) | Value::Object(_) => self.add(value, name, entry, depth + 1),
                _ => {}
            }
        }
    }

    /// Adds those of the lists in an entry that has a text of its own: the containers of a task that ended.
    fn add_within(&mut self, fields: &Map<String, Value>, entry: &Entry, depth: usize) {
        for (name, value) in fields {
            match value {
                Value::Array(values) if values.first().is_some_and(Value::is_object) => {
                    self.add(value, name, entry, depth + 1);
                }
                Value::Object(fields) if depth < MOST_DEPTH => {
                    self.add_within(fields, entry, depth + 1);
                }
                _ => {}
            }
        }
    }
}

/// `container` of `containers`.
fn singular(name: &str) -> String {
    let word = name.strip_suffix('s').filter(|word| NAMES.contains(word));
    word.unwrap_or(name).to_owned()
}

/// The fields of `[{"field": "@message", "value": "…"}, …]`.
fn fields_of(values: &[Value]) -> Option<Map<String, Value>> {
    let field = |value: &Value| {
        let name = value.get("field").or_else(|| value.get("key"))?.as_str()?;
        Some((name.to_owned(), value.get("value")?.clone()))
    };
    values.iter().map(field).collect::<Option<Map<_, _>>>().filter(|fields| !fields.is_empty())
}

/// The fields of a text that is an entry itself.
fn fields_in(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim_ascii();
    let is_entry = text.starts_with("{\"") && text.ends_with('}');
    if is_entry { serde_json::from_str(text).ok() } else { None }
}

/// The name of a field in small letters, with its words apart: `hostNodeName` as `host_node_name`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for letter in name.trim_start_matches(['@', '_']).chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(if letter == ' ' { '_' } else { letter.to_ascii_lowercase() });
        before = letter;
    }
    words
}

/// Whether the name of a field, as `pod_name`, says that it has who wrote an entry.
fn names_writer(field: &str) -> bool {
    field.split(['_', '-']).any(|word| {
        NAMES.iter().any(|name| {
            word.strip_prefix(name).is_some_and(|rest| matches!(rest, "" | "name" | "id" | "label"))
        })
    })
}

/// Whether the names of two fields differ in `_` at most: `full_message`, `fullmessage`.
fn is_same_name(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(|byte| *byte != b'_')
    }
    letters(one).eq(letters(other))
}

fn is_time_name(name: &str) -> bool {
    TIMES.iter().any(|time| is_same_name(time, name))
}

/// Whether a value has the form of a name, not that of a time, a number, a place in the source or an identifier.
fn is_steady(value: &str) -> bool {
    const LONGEST: usize = 40;
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_of_identifier = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let is_identifier =
        value.len() >= 8 && has(u8::is_ascii_digit) && value.bytes().all(is_of_identifier);
    let is_encoded = value.len() > 16
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    value.len() <= LONGEST
        && has(u8::is_ascii_alphabetic)
        && value.bytes().all(is_of_name)
        && !is_identifier
        && !is_encoded
        && time_length(value.as_bytes()).is_none()
}

impl Entry {
    fn read(&mut self, fields: &Map<String, Value>, parent: &str, depth: usize) {
        for (name, value) in fields {
            let key = in_words(name);
            let last = key.rsplit(['.', '/']).next().unwrap_or(&key);
            // `"process": {"id": 7}`, `"service.name": "a"`
            let parent = key.rsplit(['.', '/']).nth(1).unwrap_or(parent);
            let is_of_parent = matches!(last, "id" | "name" | "string_value" | "int_value");
            let last = if is_of_parent { parent } else { last };
            let rank = TEXTS.iter().position(|text| is_same_name(text, last));
            match value {
                Value::String(text) => {
                    let fields = if depth < MOST_DEPTH { fields_in(text) } else { None };
                    match fields {
                        Some(fields) => self.read(&fields, last, depth + 1),
                        None => self.add(last, rank, text.clone()),
                    }
                }
                Value::Number(number) if is_time_name(last) => {
                    self.time.get_or_insert_with(|| number.to_string());
                }
                Value::Number(number) if names_writer(last) => {
                    self.labels.push((last.to_owned(), number.to_string()));
                }
                Value::Array(values)
                    if depth < MOST_DEPTH
                        && let Some(fields) = fields_of(values) =>
                {
                    self.read(&fields, last, depth + 1);
                }
                // Bytes, as journald writes what is not plain text.
                Value::Array(bytes) if rank.is_some() && !bytes.is_empty() => {
                    let byte =
                        |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
                    if let Some(bytes) = bytes.iter().map(byte).collect::<Option<Vec<u8>>>() {
                        self.add(last, rank, String::from_utf8_lossy(&bytes).into_owned());
                    }
                }
                Value::Object(fields) if depth < MOST_DEPTH => self.read(fields, last, depth + 1),
                _ => {}
            }
        }
    }

    fn add(&mut self, name: &str, rank: Option<usize>, text: String) {
        let is_name = names_writer(name) && !text.contains(' ');
        // A date alone is of many entries.
        if is_time_name(name) && (name != "date" || text.contains(':')) {
            self.time.get_or_insert(text);
        } else if let Some(rank) = rank {
            self.texts.push((rank, name.to_owned(), text));
        } else if is_name {
            if text.len() <= MOST_LABEL && !text.is_empty() {
                self.labels.push((name.to_owned(), text));
            }
        } else if text.contains('\n') || text.split_ascii_whitespace().nth(3).is_some() {
            self.texts.push((TEXTS.len(), name.to_owned(), text));
        } else if !name.is_empty()
            && !CHANGING.iter().any(|field| is_same_name(field, name))
            && is_steady(&text)
            && self.others.len() < MOST_OTHERS
        {
            self.others.push(format!("{name}:{text}"));
        }
    }

    /// Its text; other texts of the entry, which repeat nothing of it, as those of another writer.
    fn write(mut self, before: &[u8], lines: &mut Vec<u8>) {
        self.texts.sort_by_key(|(rank, _, text)| (*rank, std::cmp::Reverse(text.len())));
        let told = std::mem::take(&mut self.told);
        let is_told = |text: &str| told.iter().any(|told| told.contains(text.trim()));
        self.texts.retain(|(.., text)| !is_told(text));
        let mut texts = std::mem::take(&mut self.texts).into_iter();
        let Some((_, _, first)) = texts.next() else { return };
        self.write_lines(before, None, &first, lines);
        let own = first.trim();
        for (_, name, text) in texts {
            let is_repeated = own.contains(text.trim()) || (own.len() > 20 && text.contains(own));
            if !is_repeated {
                self.write_lines(before, Some(&name), &text, lines);
            }
        }
    }

    fn write_lines(&self, before: &[u8], field: Option<&str>, text: &str, lines: &mut Vec<u8>) {
        let mut head = before.to_vec();
        head.push(LABELS);
        let field = field.map(|field| ("field", field));
        let labels = self.labels.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let time = self.time.as_deref().map(|time| ("time", time));
        for (name, text) in time.into_iter().chain(field).chain(labels) {
            let text = text.replace(|c: char| c.is_control() || c == ' ', "_");
            head.extend_from_slice(format!(" {name}={text}").as_bytes());
        }
        for other in &self.others {
            head.extend_from_slice(format!(" {other}").as_bytes());
        }
        head.push(LABELS_END);
        // The end of a line is that of the entry.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut plain = Vec::with_capacity(text.len());
        escape_codes::strip(text.as_bytes(), true, &mut plain);
        for line in plain.split(|byte| *byte == b'\n') {
            lines.extend_from_slice(&head);
            lines.extend_from_slice(line);
            lines.push(b'\n');
        }
    }
}

/// Lines of an entry, with `<` and `>` around its labels.
#[cfg(test)]
pub fn shown(lines: &[u8]) -> String {
    String::from_utf8_lossy(lines).replace('\u{1e}', "<").replace('\u{1f}', ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(line: &str) -> Option<String> {
        unfolded(line.as_bytes()).map(|lines| shown(&lines))
    }

    #[test]
    fn the_text_of_an_entry_is_found_by_its_name_or_form() {
        for (entry, expected) in [
            (
                r#"{"log":"one\ntwo\n","stream":"stderr","time":"2025"}"#,
                "< time=2025 stream=stderr>one\n< time=2025 stream=stderr>two\n",
            ),
            (r#"{"level":"error","msg":"a","pid":7,"x":{"host":{"name":"n 1"}}}"#, "< pid=7>a\n"),
            (r#"{"jsonPayload":{"message":""},"labels":{"pod_name":"t-0"}}"#, "< pod_name=t-0>\n"),
            (r#"{"MESSAGE":[104,105]}"#, "<>hi\n"),
            (
                r#"{"msg":"a","job":"fit-2","id":"x","span":"y","at":"1b2c3d4e5f","level":"error"}"#,
                "< job:fit-2>a\n",
            ),
            (r#"{"msg":"a","service.name":"web"}"#, "< service=web>a\n"),
            (r#"{"what":"it ran out of room"}"#, "<>it ran out of room\n"),
            (r#"{"log":"{\"msg\":\"a\",\"pod\":\"p\"}\n","n":1}"#, "< pod=p>a\n"),
            (
                r#"{"why":"the task has ended","containers":[{"name":"c","reason":"no memory was left"}]}"#,
                "<>the task has ended\n< container=c>no memory was left\n",
            ),
            (
                r#"{"message":"it ran out of room","list":[{"value":"ran out of room"}]}"#,
                "<>it ran out of room\n",
            ),
            (
                r#"{"all":[{"attributes":[{"key":"k8s.pod.name","value":{"stringValue":"p"}}],"of":[{"body":{"stringValue":"a"}}]}]}"#,
                "< pod=p>a\n",
            ),
            (r#"web | {"msg":"x"}"#, "web | <>x\n"),
            (
                r#"{"event":"failed","exception":"Traceback\nError: of a kind"}"#,
                "<>failed\n< field=exception>Traceback\n< field=exception>Error: of a kind\n",
            ),
            (
                r#"[[{"field":"@message","value":"m"},{"field":"@host","value":"h"}]]"#,
                "< host=h>m\n",
            ),
            (
                r#"{"data":{"result":[{"stream":{"pod":"p"},"values":[["1","a"],["2","b"]]}]}}"#,
                "< time=1 pod=p>a\n< time=2 pod=p>b\n",
            ),
        ] {
            assert_eq!(lines(entry).as_deref(), Some(expected), "{entry}");
        }
        for other in
            ["{}", "{'a': 1}", "[1, 2]", r#"{"a":1}"#, "x = {", "f() { \"a\" }", r#"{"a":"#]
        {
            assert_eq!(lines(other), None, "{other}");
        }
    }
}
