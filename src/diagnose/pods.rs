//! Pods of Kubernetes, as tools that read the logs of several name them before each line.

/// Pod and container in `train-0 main`; a namespace may stand before them.
pub fn pod_and_container(words: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let names = [words.next()?, words.next()?, words.next().unwrap_or_default()];
    if words.next().is_some() || !names.iter().all(|name| is_name(name)) {
        return None;
    }
    match names {
        [pod, container, b""] if is_pod(pod) => Some((pod, container)),
        [_, pod, container] if is_pod(pod) && !container.is_empty() => Some((pod, container)),
        _ => None,
    }
}

/// The same of the first words of a text.
fn first_pod_and_container(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_whitespace());
    ends.map(|(end, _)| end).skip(1).take(2).find_map(|end| pod_and_container(text.get(..end)?))
}

/// Pod and container in words with which several lines begin, whatever people called the pod.
pub fn shared_pod_and_container(words: &[u8]) -> Option<(&[u8], &[u8])> {
    let of_any = || {
        let mut names = words.split(u8::is_ascii_whitespace);
        let (pod, container) = (names.next()?, names.next()?);
        let is_pod = pod.contains(&b'-') && is_name(pod) && is_name(container);
        (is_pod && !container.is_empty()).then_some((pod, container))
    };
    first_pod_and_container(words).or_else(of_any)
}

/// Whether words begin with a pod whose name no sentence has: `worker-3 ran` may be one.
pub fn is_certain_pod(words: &[u8]) -> bool {
    let pod = first_pod_and_container(words).map(|(pod, _)| pod);
    pod.is_some_and(|pod| memchr::memchr_iter(b'-', pod).nth(1).is_some())
}

/// Whether a name may be one of Kubernetes.
fn is_name(name: &[u8]) -> bool {
    let is_of_name =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    name.iter().all(is_of_name)
}

/// Whether a name ends as those of pods do: with a number, or with five letters and digits that make no word.
fn is_pod(name: &[u8]) -> bool {
    let end = memchr::memrchr(b'-', name).and_then(|dash| name.get(dash + 1..)).unwrap_or_default();
    let is_number = !end.is_empty() && end.iter().all(u8::is_ascii_digit);
    let is_made = end.len() == 5 && !end.iter().any(|byte| b"aeiou".contains(byte));
    is_number || is_made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_have_names_that_kubernetes_makes() {
        for (words, pod) in [
            ("train-0 main", "train-0"),
            ("train-7d4b9c6f5-x2x9k main", "train-7d4b9c6f5-x2x9k"),
            ("ml train-0 main", "train-0"),
        ] {
            let found = pod_and_container(words.as_bytes());
            assert_eq!(found, Some((pod.as_bytes(), &b"main"[..])), "{words}");
        }
        for words in [
            "train-0",
            "train main",
            "out-of memory",
            "Train-0 main",
            "train-0 main step 1",
            "a b c",
        ] {
            assert_eq!(pod_and_container(words.as_bytes()), None, "{words}");
        }
        let text = b"train-0 main step 1 of 9";
        assert_eq!(first_pod_and_container(text), Some((&b"train-0"[..], &b"main"[..])));
    }
}
