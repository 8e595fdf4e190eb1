package io.github.iree4j.sample;

/** Thrown for an invalid field of a request; answered with status 400 and the name of the field. */
final class InvalidFieldException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String field;

    InvalidFieldException(String field, String problem) {
        super("'%s' %s".formatted(field, problem));
        this.field = field;
    }

    /** Path of the field, such as {@code pixels[3]}. */
    String field() {
        return field;
    }
}
