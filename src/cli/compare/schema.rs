//! The JSON Schema of a comparison, whose peak is written row by row and so has no type to derive it from.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::document::Comparison;
use super::steps::StepsMatched;
use crate::analysis::figures::difference::Difference;
use crate::cli::schemas::sections_of_systems;
use crate::run::{Conclusion, Verdict};

/// An object with exactly these keys, all of which are there.
fn object(properties: &[(&str, Value)]) -> Value {
    let keys: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": keys })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn or_null(of: &Value) -> Value {
    json!({ "anyOf": [of, { "type": "null" }] })
}

fn nullable(of: &str) -> Value {
    json!({ "type": [of, "null"] })
}

/// The keys of all rows of a peak.
fn row() -> Vec<(&'static str, Value)> {
    vec![
        ("name", json!({ "type": "string" })),
        ("source_bytes", nullable("integer")),
        ("target_bytes", nullable("integer")),
        ("difference_bytes", nullable("integer")),
        ("only", json!({ "enum": ["source", "target", null] })),
        ("source_count", nullable("integer")),
        ("target_count", nullable("integer")),
    ]
}

/// The keys of variables; where steps are matched they are those of all rows.
fn variable_row() -> Value {
    let of_both = object(&[("source", nullable("string")), ("target", nullable("string"))]);
    let more = [
        ("name_of_source", nullable("string")),
        ("calls", json!({ "type": ["array", "null"], "items": { "type": "string" } })),
        ("shape", of_both),
        ("category", json!({ "type": "string" })),
        ("each_bytes", nullable("integer")),
        ("change", json!({ "type": "string" })),
        ("matched_by", nullable("string")),
    ];
    let keys: Vec<_> = row().into_iter().chain(more).collect();
    json!({ "anyOf": [object(&keys), object(&row())] })
}

impl JsonSchema for Comparison {
    fn schema_name() -> Cow<'static, str> {
        "Comparison".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let verdict = or_null(&generator.subschema_for::<Verdict>().to_value());
        let difference = generator.subschema_for::<Difference>().to_value();
        let conclusions = list(&generator.subschema_for::<Conclusion>().to_value());
        let text = json!({ "type": "string" });
        let [text_or_null, number] = ["string", "integer"].map(nullable);
        let side = object(&[
            ("path", text.clone()),
            ("system", text.clone()),
            ("device", number.clone()),
            ("producer", text_or_null.clone()),
            ("captured_at", text_or_null.clone()),
        ]);
        let setting = |values: &[&'static str]| {
            let of_runs = values.iter().map(|key| (*key, text_or_null.clone()));
            let keys = [("kind", text.clone()), ("name", text.clone())].into_iter();
            list(&object(&keys.chain(of_runs).collect::<Vec<_>>()))
        };
        let (settings, settings_of_run) = (setting(&["source", "target"]), setting(&["value"]));
        let memory = ["total_bytes", "including_gaps_bytes", "gap_bytes", "always_live_bytes"];
        let value = nullable("number");
        let figure = object(&[
            ("key", text.clone()),
            ("title", text.clone()),
            ("unit", text.clone()),
            ("source", value.clone()),
            ("target", value.clone()),
            ("difference", value.clone()),
            ("percent", value.clone()),
            ("percent_of_source", value),
        ]);
        let rows = list(&object(&row()));
        let peak = object(&[
            ("source_bytes", nullable("integer")),
            ("target_bytes", nullable("integer")),
            ("difference_bytes", nullable("integer")),
            ("percent", nullable("number")),
            ("source_step", nullable("integer")),
            ("target_step", nullable("integer")),
            ("always_live_bytes", difference.clone()),
            ("not_always_live_bytes", difference.clone()),
            ("by_category", rows.clone()),
            ("by_operation", rows.clone()),
            ("by_module", rows.clone()),
            ("by_line", rows),
            ("by_variable", list(&variable_row())),
        ]);
        let run = object(&[
            ("path", text.clone()),
            ("name", text),
            ("device", number),
            ("producer", text_or_null.clone()),
            ("captured_at", text_or_null),
            ("verdict", verdict.clone()),
            ("settings", settings_of_run),
            ("figures", list(&figure)),
            ("conclusions", conclusions.clone()),
        ]);
        let mut schema = json_schema!({
            "type": "object",
            "properties": {
                "source": side.clone(),
                "target": side,
                "verdicts": list(&verdict),
                "settings": settings,
                "memory": object(&memory.map(|key| (key, difference.clone()))),
                "figures": list(&figure),
                "peak": peak,
                "conclusions": conclusions,
                "runs": list(&run)
            },
            "required": [
                "source", "target", "verdicts", "settings", "memory", "figures", "peak", "steps", "conclusions"
            ]
        });
        let own = schema.get_mut("properties").and_then(Value::as_object_mut);
        let more = [StepsMatched::json_schema(generator), sections_of_systems(generator)];
        if let Some(own) = own {
            for more in more.map(Schema::to_value) {
                let properties = more.get("properties").and_then(Value::as_object);
                own.extend(properties.cloned().unwrap_or_default());
            }
        }
        schema
    }
}
