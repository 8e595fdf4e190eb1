package io.github.iree4j.spring.autoconfigure.resilience;

/** Thrown when a property requires a library of Resilience4j that is not on the class path. */
final class Resilience4jMissingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String property;
    private final String artifact;

    Resilience4jMissingException(String property, String artifact) {
        super("property '%s' is true, but '%s' is not on the class path".formatted(property, artifact));
        this.property = property;
        this.artifact = artifact;
    }

    String property() {
        return property;
    }

    String artifact() {
        return artifact;
    }
}
