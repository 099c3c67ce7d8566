//! What a thread of the host did at a time: the calls within which an event lies, and the program that was started.
//!
//! Events of a line lie within each other. Calls of Python begin with `$`: `$model.py:29 attention`. JAX has a call
//! `PjitFunction(matmul)` around each start of a program, and XLA an event with the statistic `module_name` within it. The
//! program of an event is that of the innermost call, other than one of Python, within which a single program was started.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::allocator_events::EventHead;
use super::profiled::{StatNames, StatValue, bytes_of, names};

/// Names of calls that are kept of a plane.
const MOST_NAMES: usize = 1 << 20;
/// Calls that are kept of a line, some 150 MB: those of threads that allocate are far fewer.
const MOST_OF_LINE: usize = 1 << 21;
/// Calls within each other that are looked at of an event.
const MOST_CALLS: usize = 256;

/// The calls of a line.
#[derive(Default)]
pub(super) struct HostCalls<'a> {
    names: HashMap<i64, &'a [u8]>,
    /// The calls of the line, by when they begin.
    calls: Vec<HostCall<'a>>,
}

#[derive(Clone, Copy)]
struct HostCall<'a> {
    begin_ps: u64,
    end_ps: u64,
    name: &'a [u8],
    /// The row of the call within which it is.
    within: Option<usize>,
    started: Started<'a>,
}

/// The programs that were started within a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started<'a> {
    Nothing,
    One(&'a [u8]),
    Several,
}

/// What a thread did at a time.
pub(super) struct CallsAt<'a> {
    /// The program that was started.
    pub program: Option<Cow<'a, str>>,
    /// Calls of Python, the outermost first.
    pub python: Vec<&'a [u8]>,
}

impl<'a> HostCalls<'a> {
    /// Of a plane, before a line is read.
    pub fn of(plane: &'a [u8]) -> Self {
        Self { names: names(plane, 4).take(MOST_NAMES).collect(), calls: Vec::new() }
    }

    /// Reads the calls of a line, but for events of some names.
    pub fn read_line(
        &mut self,
        line: &'a [u8],
        others: &HashMap<i64, bool>,
        statistics: &StatNames<'a>,
    ) {
        let call = |event: &'a [u8]| {
            let EventHead { name, offset_ps, duration_ps } = EventHead::of(event);
            let is_call = duration_ps > 0 && !others.contains_key(&name);
            let started = |(name, value): (&[u8], StatValue<'a>)| match (name, value) {
                (b"module_name", StatValue::Text(text)) => Some(Started::One(text)),
                _ => None,
            };
            let mut named = bytes_of(event, 4).filter_map(|one| statistics.named(one));
            is_call.then(|| HostCall {
                begin_ps: offset_ps,
                end_ps: offset_ps.saturating_add(duration_ps),
                name: self.names.get(&name).copied().unwrap_or_default(),
                within: None,
                started: named.find_map(started).unwrap_or(Started::Nothing),
            })
        };
        self.calls = bytes_of(line, 4).filter_map(call).take(MOST_OF_LINE).collect();
        self.calls.sort_by_key(|call| (call.begin_ps, Reverse(call.end_ps)));
        self.nest();
    }

    /// Says within which other each call is, and which programs were started within it.
    fn nest(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for row in 0..self.calls.len() {
            let Some(call) = self.calls.get(row).copied() else { break };
            let is_over =
                |last: &usize| self.calls.get(*last).is_none_or(|one| one.end_ps <= call.begin_ps);
            while open.last().is_some_and(is_over) {
                open.pop();
            }
            let within = open.last().copied();
            if let Some(call) = self.calls.get_mut(row) {
                call.within = within;
            }
            open.push(row);
            let Started::One(program) = call.started else { continue };
            let mut next = within;
            // Who knows it already has told those around it.
            while let Some(around) = next.and_then(|row| self.calls.get_mut(row)) {
                match around.started {
                    Started::Nothing => around.started = Started::One(program),
                    Started::One(other) if other != program => around.started = Started::Several,
                    _ => break,
                }
                next = around.within;
            }
        }
    }

    /// What the thread did at a time of the line.
    pub fn at(&self, offset_ps: u64) -> CallsAt<'a> {
        let behind = self.calls.partition_point(|call| call.begin_ps <= offset_ps);
        let mut next = behind.checked_sub(1);
        let around = std::iter::from_fn(|| {
            let call = self.calls.get(next?)?;
            next = call.within;
            Some(call)
        });
        let around: Vec<_> =
            around.take(MOST_CALLS).filter(|call| call.end_ps >= offset_ps).collect();
        let mut python: Vec<&[u8]> =
            around.iter().filter_map(|call| call.name.strip_prefix(b"$")).collect();
        python.reverse();
        let own = around.iter().filter(|call| !call.name.starts_with(b"$"));
        let program = own.map(|call| call.program()).find(|found| *found != Started::Nothing);
        let program = match program {
            Some(Started::One(name)) => Some(program_name(name)),
            _ => None,
        };
        CallsAt { program, python }
    }
}

impl<'a> HostCall<'a> {
    fn program(&self) -> Started<'a> {
        match self.started {
            Started::Nothing if function_of(self.name).is_some() => Started::One(self.name),
            started => started,
        }
    }
}

/// The function that a call of JAX runs.
fn function_of(call: &[u8]) -> Option<&[u8]> {
    call.strip_prefix(b"PjitFunction(")?.strip_suffix(b")")
}

/// The name of a program as its module has it: JAX calls that of a function `jit_` and the function's name.
fn program_name(name: &[u8]) -> Cow<'_, str> {
    match function_of(name) {
        Some(function) => Cow::Owned(format!("jit_{}", String::from_utf8_lossy(function))),
        None => String::from_utf8_lossy(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(begin_ps: u64, end_ps: u64, name: &str) -> HostCall<'_> {
        let started = name.strip_prefix("run ");
        let started = started.map_or(Started::Nothing, |of| Started::One(of.as_bytes()));
        HostCall { begin_ps, end_ps, name: name.as_bytes(), within: None, started }
    }

    fn calls(mut calls: Vec<HostCall<'_>>) -> HostCalls<'_> {
        calls.sort_by_key(|call| (call.begin_ps, Reverse(call.end_ps)));
        let mut calls = HostCalls { calls, ..HostCalls::default() };
        calls.nest();
        calls
    }

    #[test]
    fn the_program_is_that_of_the_innermost_call_that_starts_only_one() {
        let calls = calls(vec![
            call(0, 100, "$train.py:3 step"),
            call(10, 40, "PjitFunction(f)"),
            call(12, 38, "Execute"),
            call(20, 30, "run jit_f_1"),
            call(50, 90, "PjitFunction(g)"),
            call(52, 80, "$array.py:9 put"),
            call(92, 99, "Both"),
            call(93, 94, "run a"),
            call(95, 96, "run b"),
        ]);
        let at = |time| {
            let CallsAt { program, python } = calls.at(time);
            let python: Vec<_> = python.into_iter().map(String::from_utf8_lossy).collect();
            (program.unwrap_or_default().into_owned(), python.join(" > "))
        };
        let step = "train.py:3 step";
        assert_eq!(at(11), ("jit_f_1".into(), step.into()), "it is started behind that time");
        assert_eq!(at(13), ("jit_f_1".into(), step.into()));
        assert_eq!(at(60), ("jit_g".into(), format!("{step} > array.py:9 put")));
        assert_eq!(at(45), (String::new(), step.into()), "between two calls");
        assert_eq!(at(92), (String::new(), step.into()), "it starts two");
        assert_eq!(at(95), ("b".into(), step.into()));
        assert_eq!(at(101), (String::new(), String::new()));
    }

    #[test]
    fn what_lies_deep_comes_to_an_end() {
        let all = (0..100_000).map(|depth| call(depth, 1 << 20, "run a"));
        let found = calls(all.collect()).at(1 << 19);
        assert_eq!(found.program.as_deref(), Some("a"));
    }
}
