package io.github.iree4j.spring.ai;

import java.util.HashSet;
import java.util.List;

/**
 * Settings of an {@link IreeClassifier}.
 *
 * @param encoder how to call the program, and limits; the used result has the logits
 * @param labels the label of each column of the result, in order; at least one, all different
 * @param activation {@link Activation#SOFTMAX} where a text has one of the labels, {@link Activation#SIGMOID} where a
 *     text has any of the labels, {@link Activation#NONE} for programs that return probabilities
 */
public record ClassifierSettings(EncoderSettings encoder, List<String> labels, Activation activation) {

    /**
     * Checks the labels.
     *
     * @throws IllegalArgumentException when labels are missing, blank or equal
     */
    public ClassifierSettings {
        labels = List.copyOf(labels);
        EncoderSettings.atLeast(1, labels.size(), "number of labels");
        if (new HashSet<>(labels).size() < labels.size() || labels.stream().anyMatch(String::isBlank)) {
            throw new IllegalArgumentException("labels must differ and not be blank: " + labels);
        }
        if (labels.size() == 1 && activation == Activation.SOFTMAX) {
            throw new IllegalArgumentException("activation must be sigmoid or none: a single label has no softmax");
        }
    }

    /**
     * Returns the default settings of the properties.
     *
     * @param module name of the program
     * @param labels the label of each column of the result, in order; at least two
     * @return the settings
     */
    public static ClassifierSettings of(String module, List<String> labels) {
        return new ClassifierSettings(EncoderSettings.of(module), labels, Activation.SOFTMAX);
    }
}
