//! Documents held against the JSON Schemas of their types, which they must name and may not exceed.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;
use tilescope::cli::schemas;

static VALIDATORS: LazyLock<HashMap<&'static str, Validator>> = LazyLock::new(|| {
    let validator = |(name, schema): (&'static str, schemars::Schema)| {
        let mut schema = schema.to_value();
        allow_no_more(&mut schema);
        (name, jsonschema::validator_for(&schema).expect("a schema"))
    };
    schemas::all().into_iter().map(validator).collect()
});

/// Programs may meet keys that are new to them; here each key of a document must be in its schema.
fn allow_no_more(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            keys.values_mut().for_each(allow_no_more);
            if keys.get("properties").is_some_and(Value::is_object) && keys.contains_key("type") {
                keys.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(allow_no_more),
        _ => {}
    }
}

/// Fails where a document is not as the schema that it names says.
#[track_caller]
pub fn assert_valid(document: &Value, what: &str) {
    let name = document["schema"].as_str().unwrap_or_default();
    let validator = VALIDATORS.get(name);
    let validator = validator.unwrap_or_else(|| panic!("{what}: no schema is called {name:?}"));
    let wrong: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert!(wrong.is_empty(), "{what} is not as {name} says:\n{}", wrong.join("\n"));
}
