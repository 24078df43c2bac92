//! The loop: rounds, blocks, orders, resume. Generic over machines and clock.
