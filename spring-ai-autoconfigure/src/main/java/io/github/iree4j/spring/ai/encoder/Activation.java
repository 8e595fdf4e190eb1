package io.github.iree4j.spring.ai.encoder;

/** How the numbers that a program returns for a text become scores or probabilities. */
public enum Activation {
    /** Numbers stay as the program returns them. */
    NONE,
    /** Each number becomes a score from 0 to 1, independent of the others. */
    SIGMOID,
    /** The numbers of a text become probabilities whose sum is 1. */
    SOFTMAX;

    /** Returns the scores of the numbers from an index on. */
    double[] of(float[] values, int from, int count) {
        double[] scores = new double[count];
        double greatest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            greatest = Math.max(greatest, values[from + i]);
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            double value = values[from + i];
            scores[i] = switch (this) {
                case NONE -> value;
                case SIGMOID -> 1 / (1 + Math.exp(-value));
                case SOFTMAX -> Math.exp(value - greatest);
            };
            sum += scores[i];
        }
        for (int i = 0; this == SOFTMAX && i < count; i++) {
            scores[i] /= sum;
        }
        return scores;
    }
}
