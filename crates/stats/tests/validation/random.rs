//! The random numbers of the simulations.

/// PCG32 (O'Neill 2014): 64 bits of state, XSH-RR.
pub struct Pcg(u64);

impl Pcg {
    pub fn new(seed: u64) -> Pcg {
        let mut pcg = Pcg(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        pcg.next();
        pcg
    }

    pub fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (((state >> 18) ^ state) >> 27) as u32;
        mixed.rotate_right((state >> 59) as u32)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.next()) + 0.5) / 2.0_f64.powi(32)
    }

    /// Standard normal (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }
}
