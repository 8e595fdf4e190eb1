package io.github.iree4j.vm.bytecode;

/**
 * C's {@code pow}, within two units in the last place. {@link Math#pow} is equally exact, except for bases near one
 * with large exponents. For such bases HotSpot's is off by up to four units, and fdlibm's, used on other processors, by
 * hundreds. Then the power is computed as e^(y log x), with the logarithm and the product in two doubles each.
 */
final class PowerFunction {
    private static final double NEAR_ONE = 0x1p-16; // the next term of the series is below 2^-85 of the first
    private static final double BEYOND = 800; // e^800 is infinite and e^-800 is zero
    private static final double SCALED_FROM = 700; // nearer to the limits, e^x could overflow or lose digits
    private static final int SCALE = 64;
    private static final double LN2_HIGH = 0x1.62e42fee00000p-1; // 64 * LN2_HIGH, subtracted from 700 to 800, is exact
    private static final double LN2_LOW = 0x1.a39ef35793c76p-33;

    private PowerFunction() {}

    /** Follows C's Annex F: 1 to any power is 1, NaN included, and so is -1 to an infinite power; Java returns NaN there. */
    static double of(double x, double y) {
        if (x == 1 || x == -1 && Double.isInfinite(y)) {
            return 1;
        }
        double power = Math.pow(x, y);
        double rest = Math.abs(x) - 1; // exact near one
        return Math.abs(rest) < NEAR_ONE && Math.abs(y * rest) < BEYOND && !Double.isNaN(power)
                ? Math.copySign(nearOne(rest, y), power)
                : power;
    }

    /** Returns (1 + t)^y. */
    private static double nearOne(double t, double y) {
        double square = t * t;
        double squareLow = Math.fma(t, t, -square);
        double first = t - square / 2;
        double further = t - first - square / 2 - squareLow / 2 + square * t * (1.0 / 3 - t * (0.25 - t * 0.2));
        double log = first + further;
        double logLow = first - log + further;
        double exponent = y * log;
        double exponentLow = Math.fma(y, log, -exponent) + y * logLow;
        if (Math.abs(exponent) < SCALED_FROM) {
            return exponential(exponent, exponentLow);
        }
        double scale = Math.copySign(SCALE, exponent);
        return Math.scalb(exponential(exponent - scale * LN2_HIGH, exponentLow - scale * LN2_LOW), (int) scale);
    }

    /** Returns e^(x + low), for a small second part. */
    private static double exponential(double x, double low) {
        double power = Math.exp(x);
        return Math.fma(power, low, power);
    }
}
