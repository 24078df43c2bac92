//! What the schema says of types that are not this room's: the words of `model`, and notes and flags, whose lists grow.

use model::record::Ending;
use model::{Area, Direction, Status, Threat, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

/// The words of an enumeration as serde writes them. The match makes the compiler ask here for a new one.
macro_rules! words {
    ($type:ident: $($name:ident),+) => {{
        let _ = |word: $type| match word { $($type::$name => (),)+ };
        words(&[$($type::$name),+])
    }};
}

fn words<T: Serialize>(all: &[T]) -> Schema {
    let all: Vec<Value> = all.iter().map(|word| serde_json::to_value(word).unwrap()).collect();
    json_schema!({"type": "string", "enum": all})
}

pub(crate) fn area(_: &mut SchemaGenerator) -> Schema {
    words!(Area: Cpu, Memory, Disk)
}

pub(crate) fn direction(_: &mut SchemaGenerator) -> Schema {
    words!(Direction: Higher, Lower)
}

pub(crate) fn unit(_: &mut SchemaGenerator) -> Schema {
    words!(Unit: BytesPerSecond, PerSecond, WhetstonePerSecond, Seconds, Bytes, One)
}

pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    words!(Status: Pass, Unknown, Warn, Invalid)
}

pub(crate) fn threat(_: &mut SchemaGenerator) -> Schema {
    let all: Vec<Threat> = Threat::ALL.iter().copied().chain([Threat::Unknown]).collect();
    words(&all)
}

pub(crate) fn threats(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "uniqueItems": true, "items": threat(generator)})
}

pub(crate) fn ending(_: &mut SchemaGenerator) -> Schema {
    let mut schema = words!(Ending: Finished, Budget, Interrupted, Failed);
    schema.insert("type".to_owned(), json!(["string", "null"]));
    if let Some(Value::Array(all)) = schema.get_mut("enum") {
        all.push(Value::Null);
    }
    schema
}

pub(crate) fn counts(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": status(generator),
        "additionalProperties": {"type": "integer", "minimum": 1}
    })
}

pub(crate) fn evidence(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": ["number", "string", "null"]}})
}

pub(crate) fn notes(generator: &mut SchemaGenerator) -> Schema {
    let facts = evidence(generator);
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "kind": {"description": "What it is about; new kinds may come.", "type": "string", "pattern": "^[a-z_]+$"},
                "facts": {"description": "The numbers and words that its sentence holds.", "allOf": [facts]},
                "text": {"description": "In a sentence or two.", "type": "string"}
            },
            "required": ["kind", "text"]
        }
    })
}

pub(crate) fn flags(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "flag": {"description": "Which; new ones may come.", "type": "string", "pattern": "^[a-z_]+$"},
                "share": {"description": "How much of it there is, as a fraction of 1.", "type": "number"}
            },
            "required": ["flag"]
        }
    })
}

/// As [`model::Metric`], which stands flattened in its comparison.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derive")]
pub(crate) struct Metric {
    /// Its id.
    id: String,
    /// What it is called in tables.
    title: String,
    /// Base unit of its values.
    #[schemars(schema_with = "unit")]
    unit: Unit,
    /// How it is shown.
    shown: Scale,
    /// Which way is better.
    #[schemars(schema_with = "direction")]
    direction: Direction,
    /// True where it drives the number of rounds and the summaries.
    primary: bool,
}

/// As [`model::units::Scale`].
#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derive")]
pub(crate) struct Scale {
    /// The unit that a reader sees, for example `MiB/s`.
    symbol: String,
    /// Base units in one shown unit.
    factor: f64,
}

pub(crate) fn looks(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": generator.subschema_for::<Look>()})
}

/// As [`model::record::Look`].
#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derive")]
pub(crate) struct Look {
    /// The round after which it was taken.
    round: u32,
    /// The benchmark.
    benchmark: String,
    /// The metric.
    metric: String,
    /// Blocks that counted.
    blocks: usize,
    /// Typical log cost ratio.
    typical_log: f64,
    /// Half of the interval's width, log scale.
    half_width_log: f64,
    /// The half-width at which the metric is precise enough, log scale.
    target_log: f64,
    /// What follows.
    #[schemars(schema_with = "decision")]
    decision: model::record::LookDecision,
    /// Blocks that the target would take in all, as far as one can tell; null where it never will.
    forecast: Option<usize>,
}

fn decision(_: &mut SchemaGenerator) -> Schema {
    use model::record::LookDecision;
    words!(LookDecision: Precise, MoreRounds, Imprecise)
}

pub(crate) fn manifest(_: &mut SchemaGenerator) -> Schema {
    let fields = [
        ("format", "integer", "Number of the study folder's format."),
        ("vmtax", "string", "Version of vmtax."),
        ("build", "string", "SHA-256 of the binary that measured."),
        ("created", "number", "When the study began, seconds since 1970."),
        ("command", "array", "The command line that began it."),
        ("plan", "object", "The resolved plan."),
        ("benchmarks", "array", "The benchmarks of the plan, as declared."),
        ("accelerator", "string", "Who executed guest instructions: kvm or tcg (emulation)."),
        ("isa", "string", "The instruction set that the builtin workloads used on all machines."),
        ("machines", "object", "Facts by machine."),
        ("hypervisor", "object", "What QEMU said of the guest."),
        ("observed", "object", "What settings were seen in effect, by key."),
        ("kernel", "object", "Kernel of the guest."),
        ("tools", "array", "Tools in use."),
        ("cpu_set", "array", "Host CPUs to which both sides were confined."),
        ("notes", "array", "What the measuring session noted, in sentences."),
    ];
    let field = |(name, kind, text): &(&str, &str, &str)| {
        let mut schema = json!({"type": kind, "description": text});
        if *kind == "object" {
            schema["additionalProperties"] = json!(true);
        }
        ((*name).to_owned(), schema)
    };
    let required: Vec<&str> = fields.iter().map(|(name, ..)| *name).collect();
    json_schema!({
        "type": "object",
        "properties": fields.iter().map(field).collect::<serde_json::Map<_, _>>(),
        "required": required,
        "additionalProperties": true
    })
}
