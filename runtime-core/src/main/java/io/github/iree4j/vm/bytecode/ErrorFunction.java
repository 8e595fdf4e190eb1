package io.github.iree4j.vm.bytecode;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * The error function, within one unit in the last place. Near zero by the Maclaurin series; elsewhere by the Taylor
 * series about the nearest multiple of an eighth. The first coefficient of the Taylor series is kept in two doubles, so
 * only the small rest is rounded.
 *
 * <p>The derivative g(x) = 2/sqrt(pi) e^(-x^2) satisfies g' = -2xg. This equation gives the coefficients of both series
 * (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.1 and 7.1.6).
 */
final class ErrorFunction {
    private static final double SERIES_LIMIT = 0.4375; // midway between centres
    private static final double ONE_FROM = 5.9375; // 1 - erf(x) is less than half a unit
    private static final int TERMS = 13; // |h| <= 1/16: the next term is below 1e-18
    private static final MathContext DIGITS = new MathContext(60);
    private static final BigDecimal NEGLIGIBLE = new BigDecimal("1e-40");
    private static final BigDecimal FIRST =
            new BigDecimal("1.1283791670955125738961589031215451716881012586580"); // 2/sqrt(pi)

    /** The first coefficient minus the exact part, 1. */
    private static final double FIRST_LESS_ONE = FIRST.subtract(BigDecimal.ONE).doubleValue();

    private static final int FIRST_CENTRE = 4; // in eighths

    /** For each centre, from the first: the value, the rounding error of the value, and the coefficients of h, h^2, ... */
    private static final double[][] CENTRES = centres();

    private ErrorFunction() {}

    static double of(double x) {
        double magnitude = Math.abs(x);
        if (magnitude < SERIES_LIMIT) {
            return nearZero(x);
        }
        if (!(magnitude < ONE_FROM)) {
            return Double.isNaN(x) ? x : Math.copySign(1, x);
        }
        int eighths = (int) Math.rint(magnitude * 8);
        double[] centre = CENTRES[eighths - FIRST_CENTRE];
        double h = magnitude - eighths / 8.0; // exact
        double rest = 0;
        for (int i = centre.length - 1; i >= 2; i--) {
            rest = Math.fma(rest, h, centre[i]);
        }
        return Math.copySign(centre[0] + Math.fma(rest, h, centre[1]), x);
    }

    /** Computes x + x (2/sqrt(pi) sum((-x^2)^n / (n! (2n+1))) - 1). */
    private static double nearZero(double x) {
        double square = x * x;
        double sum = 0;
        double factorial = 1;
        double power = 1;
        // The series alternates and the terms fall by more than a factor of five, so the order of additions does not
        // matter.
        for (int n = 1; n < TERMS; n++) {
            power *= -square;
            factorial *= n;
            sum += power / (factorial * (2 * n + 1));
        }
        return Math.fma(x, Math.fma(1 + FIRST_LESS_ONE, sum, FIRST_LESS_ONE), x);
    }

    private static double[][] centres() {
        double[][] all = new double[(int) (ONE_FROM * 8) + 1 - FIRST_CENTRE][];
        for (int i = 0; i < all.length; i++) {
            all[i] = centre((i + FIRST_CENTRE) / 8.0);
        }
        return all;
    }

    private static double[] centre(double x) {
        double[] centre = new double[2 + TERMS];
        BigDecimal exact = exact(x);
        centre[0] = exact.doubleValue();
        centre[1] = exact.subtract(new BigDecimal(centre[0])).doubleValue();
        double before = 0; // coefficients of g: (n + 1) g[n + 1] = -2 (x g[n] + g[n - 1])
        double now = (1 + FIRST_LESS_ONE) * Math.exp(-x * x);
        for (int n = 0; n < TERMS; n++) {
            centre[2 + n] = now / (n + 1);
            double next = -2 * (x * now + before) / (n + 1);
            before = now;
            now = next;
        }
        return centre;
    }

    /** Computes 2/sqrt(pi) sum((-1)^n x^(2n+1) / (n! (2n+1))); terms reach 10^15 at 6, so 45 of the 60 digits are left. */
    private static BigDecimal exact(double x) {
        BigDecimal square = new BigDecimal(x).pow(2).negate();
        BigDecimal power = new BigDecimal(x);
        BigDecimal sum = power;
        for (int n = 1; power.abs().compareTo(NEGLIGIBLE) > 0; n++) {
            power = power.multiply(square, DIGITS).divide(BigDecimal.valueOf(n), DIGITS);
            sum = sum.add(power.divide(BigDecimal.valueOf(2L * n + 1), DIGITS), DIGITS);
        }
        return sum.multiply(FIRST, DIGITS);
    }
}
