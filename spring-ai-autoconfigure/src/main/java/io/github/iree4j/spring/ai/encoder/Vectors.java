package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/** Converts results of the program to embeddings. */
final class Vectors {
    private Vectors() {}

    /**
     * Returns the vector of a text.
     *
     * @param values the elements of the result
     * @param start index of the text's first element
     * @param dimensions length of a vector
     * @param tokens number of the text's token vectors, without padding; at least 1
     * @param pooling how to combine the token vectors
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
     * @param vector the vector; modified
     * @param kept number of dimensions to keep
     * @param normalize whether to normalize the vector to length 1; a zero vector stays unchanged
     * @return the vector, or a shorter copy
     * @throws IreeException INTERNAL when the vector contains NaN or infinity
     */
    static float[] finished(float[] vector, int kept, boolean normalize) {
        float[] cut = kept < vector.length ? Arrays.copyOf(vector, kept) : vector;
        double squares = 0;
        for (float value : cut) {
            squares += (double) value * value;
        }
        if (!Double.isFinite(squares)) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "the program returned an embedding with NaN or infinity; it may overflow its element type");
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
