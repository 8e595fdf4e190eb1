package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/** From what a program returns for a text to its embedding. */
final class Vectors {
    private Vectors() {}

    /**
     * The vector of one text.
     *
     * @param values what the program returned
     * @param start where the text begins
     * @param dimensions numbers of a vector
     * @param tokens how many vectors the text has before its padding; at least 1
     * @param pooling what is made of them
     * @return a new array
     */
    static float[] pooled(float[] values, int start, int dimensions, int tokens, Pooling pooling) {
        return switch (pooling) {
            case MEAN -> mean(values, start, dimensions, tokens);
            case CLS, NONE -> Arrays.copyOfRange(values, start, start + dimensions);
            case LAST -> {
                int last = start + (tokens - 1) * dimensions;
                yield Arrays.copyOfRange(values, last, last + dimensions);
            }
        };
    }

    private static float[] mean(float[] values, int start, int dimensions, int tokens) {
        double[] sums = new double[dimensions];
        for (int token = 0; token < tokens; token++) {
            for (int i = 0; i < dimensions; i++) {
                sums[i] += values[start + token * dimensions + i];
            }
        }
        float[] mean = new float[dimensions];
        for (int i = 0; i < dimensions; i++) {
            mean[i] = (float) (sums[i] / tokens);
        }
        return mean;
    }

    /**
     * An embedding.
     *
     * @param vector changed
     * @param kept how many of its numbers are wanted
     * @param normalize whether its length is to be 1; one of zeros stays as it is
     * @return the vector, or a shorter copy
     * @throws IreeException INTERNAL when it holds something that is no number
     */
    static float[] finished(float[] vector, int kept, boolean normalize) {
        float[] cut = kept < vector.length ? Arrays.copyOf(vector, kept) : vector;
        double squares = 0;
        for (float value : cut) {
            squares += (double) value * value;
        }
        if (!Double.isFinite(squares)) {
            throw new IreeException(
                    StatusCode.INTERNAL,
                    "the program returned an embedding that holds NaN or infinity; it may overflow in its element type");
        }
        if (normalize && squares > 0) {
            double length = Math.sqrt(squares);
            for (int i = 0; i < cut.length; i++) {
                cut[i] = (float) (cut[i] / length);
            }
        }
        return cut;
    }
}
