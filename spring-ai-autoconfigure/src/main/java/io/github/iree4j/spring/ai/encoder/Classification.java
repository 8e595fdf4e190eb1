package io.github.iree4j.spring.ai.encoder;

import java.util.List;

/**
 * The labels of a text.
 *
 * @param labels all labels of the model, the most probable first; at least one
 */
public record Classification(List<Label> labels) {

    /**
     * A label.
     *
     * @param name the name, from the settings
     * @param probability from 0 to 1, unless the program's numbers are used unchanged
     */
    public record Label(String name, double probability) {}

    /** Copies the list. */
    public Classification {
        labels = List.copyOf(labels);
    }

    /** Returns the most probable label. */
    public Label first() {
        return labels.getFirst();
    }

    /**
     * Returns the probability of a label.
     *
     * @param name the name of the label
     * @return the probability
     * @throws IllegalArgumentException when the model has no such label, naming the labels
     */
    public double probability(String name) {
        return labels.stream()
                .filter(label -> label.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no label '%s' in %s"
                        .formatted(name, labels.stream().map(Label::name).toList())))
                .probability();
    }
}
