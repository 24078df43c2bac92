//! What reports say, in every language. All words stand in `locales/`, one folder per language, as Fluent messages
//! (<https://projectfluent.org>); the code only names them.

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use std::sync::LazyLock;
use unic_langid::LanguageIdentifier;

/// A language of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

/// The texts of each language, in the same order.
const FILES: &[[&str; 2]] = &[
    [include_str!("../locales/en/report.ftl"), include_str!("../locales/zh/report.ftl")],
    [include_str!("../locales/en/checks.ftl"), include_str!("../locales/zh/checks.ftl")],
    [include_str!("../locales/en/compare.ftl"), include_str!("../locales/zh/compare.ftl")],
    [include_str!("../locales/en/markdown.ftl"), include_str!("../locales/zh/markdown.ftl")],
    [include_str!("../locales/en/selftest.ftl"), include_str!("../locales/zh/selftest.ftl")],
];

impl Lang {
    /// All of them.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// The BCP 47 tag, as `<html lang>` wants it.
    pub fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh-Hans",
        }
    }

    /// The language of a POSIX locale's name (`zh_CN.UTF-8`); English for those that reports do not speak.
    pub fn of_locale(name: &str) -> Self {
        if name.split(['_', '.', '@', '-']).next() == Some("zh") { Lang::Zh } else { Lang::En }
    }
}

/// The words of one language.
pub struct Words {
    /// Which.
    pub lang: Lang,
    bundle: FluentBundle<FluentResource>,
}

impl Words {
    /// Loads a language. What does not parse is left out; the tests make sure that there is no such thing.
    pub fn new(lang: Lang) -> Self {
        let mut bundle =
            FluentBundle::new_concurrent(vec![lang.tag().parse().unwrap_or(LanguageIdentifier::default())]);
        // Isolation marks are for text that mixes directions; they would be litter in a terminal.
        bundle.set_use_isolating(false);
        for texts in FILES {
            let text = texts[lang as usize];
            let resource = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(resource, _)| resource);
            bundle.add_resource_overriding(resource);
        }
        Words { lang, bundle }
    }

    /// A message without arguments. A key that is not there comes back as it is.
    pub fn get(&self, key: &str) -> String {
        self.say(key, &[])
    }

    /// English, for what is the same in every report (the sentences of the JSON report).
    pub(crate) fn english() -> &'static Words {
        static ENGLISH: LazyLock<Words> = LazyLock::new(|| Words::new(Lang::En));
        &ENGLISH
    }

    /// A message with arguments. Numbers that choose a plural form are given as numbers, all others as the text to show.
    pub fn say(&self, key: &str, arguments: &[(&str, FluentValue<'_>)]) -> String {
        self.format(key, arguments).map_or_else(|| key.to_owned(), |(text, _)| text)
    }

    /// The same; none where there is no such message, or where it wants an argument that is not given.
    pub fn try_say(&self, key: &str, arguments: &[(&str, FluentValue<'_>)]) -> Option<String> {
        self.format(key, arguments).filter(|(_, whole)| *whole).map(|(text, _)| text)
    }

    /// The message, and whether nothing was missing in it.
    fn format(&self, key: &str, arguments: &[(&str, FluentValue<'_>)]) -> Option<(String, bool)> {
        let pattern = self.bundle.get_message(key)?.value()?;
        let mut all = FluentArgs::new();
        for (name, value) in arguments {
            all.set(*name, value.clone());
        }
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&all), &mut errors).into_owned();
        Some((text, errors.is_empty()))
    }

    /// True where the language has this message.
    pub fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluent_syntax::ast::{Entry, Resource};
    use std::collections::{BTreeMap, BTreeSet};

    /// Message keys with the variables that they use; a file that does not parse fails.
    fn messages(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let resource: Resource<&str> = fluent_syntax::parser::parse(text).map_err(|(_, errors)| errors).unwrap();
        let entries = resource.body.iter().filter_map(|entry| match entry {
            Entry::Message(message) => Some((message.id.name.to_owned(), variables(&format!("{:?}", message.value)))),
            Entry::Junk { content } => panic!("junk: {content}"),
            _ => None,
        });
        let all: Vec<_> = entries.collect();
        let map: BTreeMap<_, _> = all.iter().cloned().collect();
        assert_eq!(map.len(), all.len(), "a key stands twice");
        map
    }

    /// Names of variables in the debug print of a pattern.
    fn variables(pattern: &str) -> BTreeSet<String> {
        let parts = pattern.split("VariableReference { id: Identifier { name: \"").skip(1);
        parts.filter_map(|part| part.split('"').next()).map(str::to_owned).collect()
    }

    #[test]
    fn every_language_says_the_same_things_with_the_same_arguments() {
        for [en, zh] in FILES {
            let (en, zh) = (messages(en), messages(zh));
            let keys = |map: &BTreeMap<String, _>| map.keys().cloned().collect::<BTreeSet<_>>();
            assert_eq!(keys(&en).symmetric_difference(&keys(&zh)).collect::<Vec<_>>(), Vec::<&String>::new());
            for (key, variables) in &en {
                assert_eq!(variables, &zh[key], "{key}");
            }
        }
    }

    /// Texts in quotes of all code and templates of this room.
    fn quoted() -> BTreeSet<String> {
        fn read(folder: &std::path::Path, found: &mut BTreeSet<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    read(&path, found);
                } else {
                    found.extend(std::fs::read_to_string(path).unwrap().split('"').map(str::to_owned));
                }
            }
        }
        let mut found = BTreeSet::new();
        for folder in ["src", "templates"] {
            read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        }
        found
    }

    #[test]
    fn no_message_of_the_reports_is_there_for_nobody() {
        // These are put together from an id.
        let named = ["bench-", "metric-", "machine-", "area-", "work-", "fact-", "setting-", "flag-", "verdict-"];
        let quoted = quoted();
        let unused: Vec<String> = messages(FILES[0][0])
            .into_keys()
            .filter(|key| !quoted.contains(key) && !named.iter().any(|start| key.starts_with(start)))
            .collect();
        assert_eq!(unused, Vec::<String>::new());
    }

    #[test]
    fn every_message_that_the_templates_ask_for_is_there() {
        let words = Words::new(Lang::En);
        let sections = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/sections");
        let mut asked = 0;
        for entry in std::fs::read_dir(sections).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for call in ["w.get(\"", "w.say(\"", "w.count(\""] {
                for key in text.split(call).skip(1).filter_map(|rest| rest.split('"').next()) {
                    assert!(words.has(key), "{key}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 100);
    }

    #[test]
    fn a_locale_chooses_its_language() {
        for (name, lang) in
            [("zh_CN.UTF-8", Lang::Zh), ("zh", Lang::Zh), ("en_GB", Lang::En), ("C", Lang::En), ("", Lang::En)]
        {
            assert_eq!(Lang::of_locale(name), lang, "{name}");
        }
    }

    #[test]
    fn a_key_that_is_not_there_is_shown_as_it_is() {
        let words = Words::new(Lang::Zh);
        assert_eq!(words.get("no-such-key"), "no-such-key");
        assert_eq!(words.try_say("no-such-key", &[]), None);
    }

    #[test]
    fn a_message_that_lacks_an_argument_is_not_said_by_halves() {
        for words in Lang::ALL.map(Words::new) {
            assert_eq!(words.try_say("range", &[("low", "1".into())]), None);
            assert!(words.try_say("range", &[("low", "1".into()), ("high", "2".into())]).is_some());
        }
    }
}
