//! Tables, SVG, HTML. Data in, text out.
