package io.github.iree4j.spring.autoconfigure.resilience;

/** Thrown when a property requires Resilience4j and Resilience4j is not on the class path. */
final class Resilience4jMissingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String property;

    Resilience4jMissingException(String property) {
        super("property '%s' is true, but Resilience4j is not on the class path".formatted(property));
        this.property = property;
    }

    String property() {
        return property;
    }
}
