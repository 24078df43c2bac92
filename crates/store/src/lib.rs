//! The study folder: manifest, journal, raw outputs.
