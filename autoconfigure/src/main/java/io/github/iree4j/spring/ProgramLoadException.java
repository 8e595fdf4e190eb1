package io.github.iree4j.spring;

import java.util.Objects;

/** Thrown when a program cannot be loaded; says which one, from where, and by its cause why. */
public final class ProgramLoadException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What was to be loaded; not kept when the exception is serialised. */
    private final transient ProgramSource source;

    /**
     * A failure to load.
     *
     * @param source what was to be loaded
     * @param cause why it was not: an {@link io.github.iree4j.status.IreeException} from the runtime, or an
     *     {@link java.io.IOException} when a location could not be read
     */
    public ProgramLoadException(ProgramSource source, Throwable cause) {
        super(
                "program '%s' could not be loaded from '%s': %s"
                        .formatted(source.name(), source.location(), cause.getMessage()),
                cause);
        this.source = source;
    }

    @Override
    public synchronized Throwable getCause() {
        return Objects.requireNonNull(super.getCause());
    }

    /** What was to be loaded. */
    public ProgramSource source() {
        return source;
    }
}
