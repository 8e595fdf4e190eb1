package io.github.iree4j.sample;

import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.sample.HandwrittenDigits.Sample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes the sample's weights: a network of 64 pixels, 64 hidden units and 10 digits, trained with Adam on the
 * {@linkplain HandwrittenDigits handwritten digits}, each slightly shifted, rotated and slanted every time, for the
 * network to generalise to other handwriting.
 *
 * <p>Plain Java with a fixed seed and {@link StrictMath}, on a single thread: every run on every machine is
 * bit-identical. {@link #main} writes the archive for the build of the application; README.md says how.
 */
final class DigitsTrainer {

    static final int INPUTS = 64;
    static final int HIDDEN = 64;
    static final int OUTPUTS = 10;

    private static final long SEED = 20260101;
    private static final int EPOCHS = 150;
    private static final int BATCH = 32;
    private static final double LEARNING_RATE = 0.003;
    private static final double WEIGHT_DECAY = 1e-4;
    private static final double BRIGHTEST = 16;

    // One array for all parameters, so that the optimiser is one loop.
    private static final int HIDDEN_BIAS = INPUTS * HIDDEN;
    private static final int OUTPUT_WEIGHT = HIDDEN_BIAS + HIDDEN;
    private static final int OUTPUT_BIAS = OUTPUT_WEIGHT + HIDDEN * OUTPUTS;
    private static final int PARAMETERS = OUTPUT_BIAS + OUTPUTS;

    private final double[] parameters = new double[PARAMETERS];
    private final double[] hidden = new double[HIDDEN];
    private final double[] probabilities = new double[OUTPUTS];

    private DigitsTrainer() {}

    /**
     * The trained parameters in the program's layout: weights as matrices of inputs by outputs, row-major.
     *
     * @param hiddenWeight 64x64, already divided by 16, for unscaled pixels
     * @param hiddenBias 64
     * @param outputWeight 64x10
     * @param outputBias 10
     */
    record Weights(float[] hiddenWeight, float[] hiddenBias, float[] outputWeight, float[] outputBias) {

        /** Writes the weights under the names in digits.vmasm. */
        void write(Path archive) throws IOException {
            new IrpaWriter()
                    .stored("hidden.weight", hiddenWeight)
                    .stored("hidden.bias", hiddenBias)
                    .stored("output.weight", outputWeight)
                    .stored("output.bias", outputBias)
                    .write(archive);
        }
    }

    /** Trains on everything but the held-out digits; the only argument is the archive to write. */
    public static void main(String[] arguments) throws IOException {
        train(HandwrittenDigits.load().training()).write(Path.of(arguments[0]));
    }

    static Weights train(List<Sample> samples) {
        DigitsTrainer trainer = new DigitsTrainer();
        trainer.fit(samples);
        return trainer.weights();
    }

    private void fit(List<Sample> samples) {
        SplittableRandom random = new SplittableRandom(SEED);
        initialise(random, 0, HIDDEN_BIAS, INPUTS);
        initialise(random, OUTPUT_WEIGHT, OUTPUT_BIAS, HIDDEN);
        double[] gradient = new double[PARAMETERS];
        double[] mean = new double[PARAMETERS];
        double[] variance = new double[PARAMETERS];
        Sample[] order = samples.toArray(Sample[]::new);
        double meanDecay = 1;
        double varianceDecay = 1;
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            shuffle(order, random);
            double rate = LEARNING_RATE * 0.5 * (1 + StrictMath.cos(Math.PI * epoch / EPOCHS));
            for (int start = 0; start < order.length; start += BATCH) {
                int end = Math.min(start + BATCH, order.length);
                Arrays.fill(gradient, 0);
                for (int i = start; i < end; i++) {
                    accumulate(distort(order[i].pixels(), random), order[i].digit(), gradient);
                }
                meanDecay *= 0.9;
                varianceDecay *= 0.999;
                for (int i = 0; i < PARAMETERS; i++) {
                    double g = gradient[i] / (end - start) + WEIGHT_DECAY * parameters[i];
                    mean[i] = 0.9 * mean[i] + 0.1 * g;
                    variance[i] = 0.999 * variance[i] + 0.001 * g * g;
                    parameters[i] -= rate
                            * (mean[i] / (1 - meanDecay))
                            / (StrictMath.sqrt(variance[i] / (1 - varianceDecay)) + 1e-8);
                }
            }
        }
    }

    private void initialise(SplittableRandom random, int from, int to, int inputs) {
        double limit = StrictMath.sqrt(6.0 / inputs);
        for (int i = from; i < to; i++) {
            parameters[i] = (2 * random.nextDouble() - 1) * limit;
        }
    }

    private static void shuffle(Sample[] order, SplittableRandom random) {
        for (int i = order.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            Sample swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
    }

    /** Adds the gradient of a picture's cross-entropy. */
    private void accumulate(double[] pixels, int digit, double[] gradient) {
        forward(pixels);
        for (int out = 0; out < OUTPUTS; out++) {
            gradient[OUTPUT_BIAS + out] += error(out, digit);
        }
        for (int unit = 0; unit < HIDDEN; unit++) {
            if (hidden[unit] <= 0) {
                continue;
            }
            double back = 0;
            for (int out = 0; out < OUTPUTS; out++) {
                int weight = OUTPUT_WEIGHT + unit * OUTPUTS + out;
                back += error(out, digit) * parameters[weight];
                gradient[weight] += error(out, digit) * hidden[unit];
            }
            for (int in = 0; in < INPUTS; in++) {
                gradient[in * HIDDEN + unit] += back * pixels[in];
            }
            gradient[HIDDEN_BIAS + unit] += back;
        }
    }

    private double error(int out, int digit) {
        return probabilities[out] - (out == digit ? 1 : 0);
    }

    private void forward(double[] pixels) {
        for (int unit = 0; unit < HIDDEN; unit++) {
            double sum = parameters[HIDDEN_BIAS + unit];
            for (int in = 0; in < INPUTS; in++) {
                sum += pixels[in] * parameters[in * HIDDEN + unit];
            }
            hidden[unit] = Math.max(0, sum);
        }
        double largest = Double.NEGATIVE_INFINITY;
        for (int out = 0; out < OUTPUTS; out++) {
            double sum = parameters[OUTPUT_BIAS + out];
            for (int unit = 0; unit < HIDDEN; unit++) {
                sum += hidden[unit] * parameters[OUTPUT_WEIGHT + unit * OUTPUTS + out];
            }
            probabilities[out] = sum;
            largest = Math.max(largest, sum);
        }
        double total = 0;
        for (int out = 0; out < OUTPUTS; out++) {
            probabilities[out] = StrictMath.exp(probabilities[out] - largest);
            total += probabilities[out];
        }
        for (int out = 0; out < OUTPUTS; out++) {
            probabilities[out] /= total;
        }
    }

    /** Varies a picture: rotated, slanted, stretched, moved, with a thicker or thinner pen. */
    private static double[] distort(float[] pixels, SplittableRandom random) {
        double angle = (random.nextDouble() - 0.5) * 0.3;
        double slant = (random.nextDouble() - 0.5) * 0.4;
        double stretchX = 1 + (random.nextDouble() - 0.5) * 0.3;
        double stretchY = 1 + (random.nextDouble() - 0.5) * 0.1;
        double moveX = random.nextDouble() - 0.5;
        double moveY = (random.nextDouble() - 0.5) * 0.4;
        double ink = 0.85 + random.nextDouble() * 0.4;
        double cos = StrictMath.cos(angle);
        double sin = StrictMath.sin(angle);
        double[] distorted = new double[INPUTS];
        for (int y = 0; y < 8; y++) {
            for (int x = 0; x < 8; x++) {
                double dx = x - 3.5 - moveX;
                double dy = y - 3.5 - moveY;
                double fromX = (cos * dx + sin * dy) / stretchX + slant * dy + 3.5;
                double fromY = (cos * dy - sin * dx) / stretchY + 3.5;
                distorted[y * 8 + x] = Math.min(BRIGHTEST, ink * between(pixels, fromX, fromY)) / BRIGHTEST;
            }
        }
        return distorted;
    }

    /** Bilinear interpolation; nothing beyond the border. */
    private static double between(float[] pixels, double x, double y) {
        int left = (int) Math.floor(x);
        int top = (int) Math.floor(y);
        double right = x - left;
        double below = y - top;
        return (1 - right) * (1 - below) * pixel(pixels, left, top)
                + right * (1 - below) * pixel(pixels, left + 1, top)
                + (1 - right) * below * pixel(pixels, left, top + 1)
                + right * below * pixel(pixels, left + 1, top + 1);
    }

    private static double pixel(float[] pixels, int x, int y) {
        return x < 0 || y < 0 || x > 7 || y > 7 ? 0 : pixels[y * 8 + x];
    }

    private Weights weights() {
        return new Weights(
                slice(0, HIDDEN_BIAS, 1 / BRIGHTEST),
                slice(HIDDEN_BIAS, OUTPUT_WEIGHT, 1),
                slice(OUTPUT_WEIGHT, OUTPUT_BIAS, 1),
                slice(OUTPUT_BIAS, PARAMETERS, 1));
    }

    private float[] slice(int from, int to, double scale) {
        float[] slice = new float[to - from];
        for (int i = from; i < to; i++) {
            slice[i - from] = (float) (parameters[i] * scale);
        }
        return slice;
    }
}
