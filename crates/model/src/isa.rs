//! Instruction sets as the x86-64 psABI levels, so that host and guest can be made to run the same code.

use serde::{Deserialize, Serialize};

/// A level of the x86-64 psABI (System V ABI, AMD64 supplement, section 3.1.1). Ordered: a machine that has a level has
/// all lower ones. Other architectures have one level, [`InstructionSet::Baseline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
pub enum InstructionSet {
    /// What every CPU of the architecture has (x86-64-v1: SSE2).
    #[default]
    #[serde(rename = "baseline")]
    Baseline,
    /// SSE4.2, POPCNT.
    #[serde(rename = "x86-64-v2")]
    V2,
    /// AVX2, FMA, BMI2.
    #[serde(rename = "x86-64-v3")]
    V3,
    /// AVX-512 F, BW, CD, DQ, VL.
    #[serde(rename = "x86-64-v4")]
    V4,
}

impl InstructionSet {
    /// The name as it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Baseline => "baseline",
            InstructionSet::V2 => "x86-64-v2",
            InstructionSet::V3 => "x86-64-v3",
            InstructionSet::V4 => "x86-64-v4",
        }
    }
}

impl std::fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
