//! What the name of a product says about its CPUs.

/// True for instance types whose CPUs run on credits: fast until these are used up, and the sooner the less the machine rested before.
///
/// By the name of the type: Amazon's t2, t3, t3a and t4g, Azure's B series, Google's shared-core types. Amazon's newer machines give it as the
/// product of their DMI table ([`model::Facts::product`]); those of the others give one name for all (`Virtual Machine`, `Google Compute
/// Engine`): there only who has asked the cloud knows.
pub fn burstable(product: &str) -> bool {
    let name = product.trim().to_ascii_lowercase();
    let amazon = ["t2.", "t3.", "t3a.", "t4g."].iter().any(|family| name.starts_with(family));
    let azure = name.strip_prefix("standard_b").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    amazon || azure || ["e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"].contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::burstable;

    #[test]
    fn types_that_run_on_credits_are_known_by_name() {
        for name in [
            "t2.nano",
            "t3.micro\n",
            "t3a.large",
            "T4g.small",
            "Standard_B1s",
            "Standard_B2ats_v2",
            "e2-medium",
            "f1-micro",
            "g1-small",
        ] {
            assert!(burstable(name), "{name}");
        }
        for name in [
            "",
            "t3",
            "m5.large",
            "trn1.2xlarge",
            "Standard_D2s_v5",
            "Standard_BX",
            "e2-standard-2",
            "Standard PC (Q35 + ICH9, 2009)",
        ] {
            assert!(!burstable(name), "{name}");
        }
    }
}
