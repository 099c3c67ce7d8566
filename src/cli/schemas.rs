//! JSON Schemas of the documents that commands print, derived from the types that are printed.
//!
//! They are published in `docs/user/schemas`; a test holds the files against what is derived here, and documents against them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::output::{Answer, Document, ErrorDocument};
use super::{
    check, chrome_trace, compare, diagnose, export, index, liveness, map, ops, report, summary,
    sweep, tiles, trace,
};
use crate::systems::SYSTEMS;

/// The schemas, each with the name of its document: `tilescope.summary/2`.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        of::<summary::Summary>(),
        of::<check::CheckReport>(),
        of::<compare::Comparison>(),
        of::<liveness::LivenessReport>(),
        of::<map::Map>(),
        of::<tiles::Tiles>(),
        of::<ops::Ops>(),
        of::<trace::TraceReport>(),
        of::<export::Export>(),
        of::<chrome_trace::WrittenTrace>(),
        of::<report::WrittenPage>(),
        of::<index::IndexListing>(),
        of::<index::IndexChange>(),
        (
            sweep::SweepReport::SCHEMA,
            named::<Document<sweep::SweepDocument<'_>>>(sweep::SweepReport::SCHEMA),
        ),
        (
            diagnose::DiagnoseReport::SCHEMA,
            named::<diagnose::DiagnoseReport>(diagnose::DiagnoseReport::SCHEMA),
        ),
        (ErrorDocument::SCHEMA, named::<ErrorDocument>(ErrorDocument::SCHEMA)),
    ]
}

fn of<A: Answer + JsonSchema>() -> (&'static str, Schema) {
    (A::SCHEMA, named::<Document<A>>(A::SCHEMA))
}

/// The schema of a document, which says its name itself.
fn named<D: JsonSchema>(name: &'static str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<D>();
    schema.insert("title".to_owned(), name.into());
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(of_schema) = properties.and_then(|properties| properties.get_mut("schema")) {
        *of_schema = json!({ "const": name });
    }
    schema
}

/// An object with these keys, all of which are there.
pub fn by_keys<T: JsonSchema>(keys: &[&'static str], generator: &mut SchemaGenerator) -> Schema {
    let of = generator.subschema_for::<T>();
    let properties: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), of.clone().to_value())).collect();
    json_schema!({ "type": "object", "properties": properties, "required": keys })
}

/// An object with what only the system of a run says, named after that system.
pub fn sections_of_systems(_: &mut SchemaGenerator) -> Schema {
    let section = |name: &str| {
        let about = format!("Values that only {name} states.");
        (name.to_owned(), json!({ "type": "object", "description": about }))
    };
    let sections: Map<String, Value> =
        SYSTEMS.iter().map(|system| section(system.words().name)).collect();
    json_schema!({ "type": "object", "properties": sections })
}
