//! The published schema of the JSON report. Its file is made from the types of [`crate::analysis`] by the test below, so that
//! descriptions and fields are those of the code.

/// The JSON Schema (draft 2020-12) of what [`crate::json`] writes.
pub const JSON_SCHEMA: &str = include_str!("../schema/report.schema.json");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use schemars::Schema;
    use schemars::generate::SchemaSettings;
    use schemars::transform::{Transform, transform_subschemas};
    use serde_json::{Value, json};

    /// What the types do not say themselves: no field beside the declared ones, and a number that is not finite is null.
    #[derive(Clone)]
    struct Strict;

    impl Transform for Strict {
        fn transform(&mut self, schema: &mut Schema) {
            schema.remove("format");
            if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
                schema.insert("additionalProperties".to_owned(), json!(false));
            }
            if schema.get("type") == Some(&json!("number")) {
                schema.insert("type".to_owned(), json!(["number", "null"]));
            }
            transform_subschemas(self, schema);
        }
    }

    fn derived() -> String {
        let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(Strict);
        let mut schema = settings.into_generator().into_root_schema_for::<Analysis>();
        schema.insert("title".to_owned(), json!("JSON report of vmtax"));
        let mut text = serde_json::to_string_pretty(&schema).unwrap();
        text.push('\n');
        text
    }

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let derived = derived();
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report.schema.json"), &derived).unwrap();
        } else {
            assert!(
                derived == JSON_SCHEMA,
                "the types have changed: run this test with UPDATE_SCHEMA=1, and raise SCHEMA"
            );
        }
    }

    /// Every object under a schema with its place.
    fn objects<'a>(place: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
        match value {
            Value::Object(map) => {
                if map.get("type").is_some_and(|kind| kind == "object" || *kind == json!(["object", "null"])) {
                    found.push((place.to_owned(), value));
                }
                map.iter().for_each(|(key, value)| objects(&format!("{place}/{key}"), value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| objects(place, value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_object_forbids_unknown_fields_or_says_what_they_are() {
        let schema: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
        let mut found = Vec::new();
        objects("", &schema, &mut found);
        assert!(found.len() > 20, "{}", found.len());
        for (place, object) in found {
            let told = match object.get("additionalProperties") {
                Some(Value::Bool(false) | Value::Object(_)) => true,
                Some(Value::Bool(true)) => object.get("description").is_some(),
                _ => false,
            };
            assert!(told, "{place}");
        }
    }

    #[test]
    fn every_field_is_described() {
        let schema: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
        let mut found = Vec::new();
        objects("", &schema, &mut found);
        for (place, object) in found {
            for (name, field) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                assert!(field.get("description").is_some(), "{place}: {name}");
            }
        }
    }
}
