//! `manifest.json`.

use crate::error::StoreError;
use crate::folder::sync_folder;
use model::record::{FORMAT, Manifest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

const FILE: &str = "manifest.json";
const UNFINISHED: &str = "manifest.json.new";

/// What every format has, so that the number is known before anything that depends on it is read.
#[derive(Deserialize)]
struct Writer {
    format: u32,
    #[serde(default = "unnamed")]
    vmtax: String,
}

fn unnamed() -> String {
    "of an unnamed version".to_owned()
}

pub(crate) fn read(folder: &Path) -> Result<Manifest, StoreError> {
    let path = folder.join(FILE);
    let bytes = fs::read(&path).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            StoreError::NoManifest { path: folder.to_owned() }
        } else {
            StoreError::Read { path: path.clone(), source }
        }
    })?;
    let writer: Writer = parse(&path, &bytes)?;
    if writer.format > FORMAT {
        let vmtax = model::text::printable(&writer.vmtax, 60);
        return Err(StoreError::NewerFormat { path, format: writer.format, vmtax, known: FORMAT });
    }
    parse(&path, &bytes)
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, StoreError> {
    let damaged = |at: String, source| StoreError::Manifest { path: path.to_owned(), at, source };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| damaged(model::text::printable(&e.path().to_string(), 200), e.into_inner()))?;
    reader.end().map_err(|e| damaged("its end".to_owned(), e))?;
    Ok(value)
}

pub(crate) fn write(folder: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let path = folder.join(FILE);
    if path.exists() {
        return Err(StoreError::ManifestExists { path });
    }
    let failed = |source| StoreError::Write { path: path.clone(), source };
    let mut text = serde_json::to_vec_pretty(manifest).map_err(|e| failed(e.into()))?;
    text.push(b'\n');
    if parse::<Manifest>(&path, &text).ok().as_ref() != Some(manifest) {
        return Err(StoreError::NotFinite { path, what: "a figure of the plan or of a machine's facts".to_owned() });
    }
    // Whoever crashed before left an unfinished one, which the lock allows to be overwritten.
    let unfinished = folder.join(UNFINISHED);
    let mut file = File::create(&unfinished).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&unfinished, &path).and_then(|()| sync_folder(folder)).map_err(failed)
}
