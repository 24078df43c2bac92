//! The regularised incomplete beta function, from which Student's t (and F) come.
//!
//! Continued fraction DLMF 8.17.22, evaluated by Lentz's method (Thompson & Barnett 1986); logarithm of the gamma
//! function after Lanczos with the coefficients of Godfrey (g = 7, n = 9).

/// `I_x(a, b)` for `a, b > 0`; `y` must be `1 - x`, given apart so that neither loses digits near 1.
pub(crate) fn incomplete(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if y <= 0.0 {
        1.0
    } else if x <= (a + 1.0) / (a + b + 2.0) {
        lower(x, y, a, b)
    } else {
        1.0 - lower(y, x, b, a)
    }
}

/// [`incomplete`] where its continued fraction converges fast: left of the distribution's bulk.
fn lower(x: f64, y: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let front = (a * x.ln() + b * y.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;

    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction - before).abs() <= 1e-16 * fraction.abs() {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// `ln Γ(x)` for `x > 0`, relative error about 1e-15.
fn ln_gamma(x: f64) -> f64 {
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const REST: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let x = x - 1.0;
    let series = REST.iter().zip(1..).fold(FIRST, |sum, (c, i)| sum + c / (x + f64::from(i)));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_whole_numbers_is_the_factorial() {
        let mut factorial = 1.0_f64;
        for n in 1..30_i32 {
            factorial *= f64::from(n);
            let found = ln_gamma(f64::from(n) + 1.0);
            assert!((found - factorial.ln()).abs() < 1e-13 * factorial.ln().max(1.0), "{n}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
        assert!((ln_gamma(0.1) - 2.252_712_651_734_206).abs() < 1e-14);
    }

    #[test]
    fn the_beta_function_has_its_closed_forms() {
        for x in [0.001, 0.1, 0.5, 0.9, 0.999_f64] {
            let y = 1.0 - x;
            for (a, b, value) in
                [(1.0, 1.0, x), (3.0, 1.0, x.powi(3)), (1.0, 4.0, 1.0 - y.powi(4)), (2.0, 2.0, x * x * (3.0 - 2.0 * x))]
            {
                assert!((incomplete(x, y, a, b) - value).abs() < 1e-14, "I_{x}({a}, {b})");
            }
        }
        assert_eq!(incomplete(0.0, 1.0, 2.0, 3.0), 0.0);
        assert_eq!(incomplete(1.0, 0.0, 2.0, 3.0), 1.0);
    }
}
