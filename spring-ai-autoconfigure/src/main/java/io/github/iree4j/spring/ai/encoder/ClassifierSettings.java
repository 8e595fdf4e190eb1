package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.SettingException;
import java.util.HashSet;
import java.util.List;
import java.util.function.Consumer;

/** Settings of an {@link IreeClassifier}. Immutable. */
public final class ClassifierSettings {

    private final EncoderSettings encoder;
    private final List<String> labels;
    private final Activation activation;

    private ClassifierSettings(Builder builder) {
        encoder = builder.encoder.build();
        labels = List.copyOf(builder.labels);
        activation = builder.activation;
        if (labels.isEmpty()) {
            throw new SettingException("labels", labels, "must be one or more, not none");
        }
        if (new HashSet<>(labels).size() < labels.size() || labels.stream().anyMatch(String::isBlank)) {
            throw new SettingException("labels", labels, "must differ and not be blank: " + labels);
        }
        if (labels.size() == 1 && activation == Activation.SOFTMAX) {
            throw new SettingException(
                    "activation", "softmax", "must be sigmoid or none: a single label has no softmax");
        }
    }

    /**
     * Returns a builder with the defaults of the properties.
     *
     * @param module name of the program, also used as the name of the model
     * @param labels the label of each column of the result, in order; at least one, or two for {@link
     *     Activation#SOFTMAX}, all different
     * @return a builder
     */
    public static Builder builder(String module, List<String> labels) {
        return new Builder(module, labels);
    }

    /** Returns how to call the program, and limits; the used result has the logits. */
    public EncoderSettings encoder() {
        return encoder;
    }

    /** Returns the label of each column of the result, in order; at least one, all different. */
    public List<String> labels() {
        return labels;
    }

    /**
     * Returns {@link Activation#SOFTMAX} where a text has one of the labels, {@link Activation#SIGMOID} where a text
     * has any of the labels, {@link Activation#NONE} for programs that return probabilities.
     */
    public Activation activation() {
        return activation;
    }

    /** Builder of settings. Not thread-safe. */
    public static final class Builder {
        private final EncoderSettings.Builder encoder;
        private final List<String> labels;
        private Activation activation = Activation.SOFTMAX;

        private Builder(String module, List<String> labels) {
            this.encoder = EncoderSettings.builder(module);
            this.labels = labels;
        }

        /**
         * Sets how to call the program, and limits.
         *
         * @param changes sets some of the settings; called at once
         * @return this builder
         */
        public Builder encoder(Consumer<EncoderSettings.Builder> changes) {
            changes.accept(encoder);
            return this;
        }

        /**
         * Sets how the program's numbers become probabilities.
         *
         * @param function {@link Activation#SOFTMAX}, the default, where a text has one of the labels; {@link
         *     Activation#SIGMOID} where a text has any of the labels; {@link Activation#NONE} for programs that return
         *     probabilities
         * @return this builder
         */
        public Builder activation(Activation function) {
            this.activation = function;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when a value is out of range, or labels are missing, blank or equal
         */
        public ClassifierSettings build() {
            return new ClassifierSettings(this);
        }
    }
}
