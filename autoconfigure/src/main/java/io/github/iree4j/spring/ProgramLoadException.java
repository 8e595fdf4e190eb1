package io.github.iree4j.spring;

import java.util.Objects;

/** Thrown when a program cannot be loaded. The message names the program and its location; the cause is the reason. */
public final class ProgramLoadException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Not serialised. */
    private final transient ProgramSource source;

    /**
     * Creates an exception.
     *
     * @param source the program that could not be loaded
     * @param cause the reason: an {@link io.github.iree4j.status.IreeException} from the runtime, or an
     *     {@link java.io.IOException} when a location could not be read, or the exception of a check, see
     *     {@link Programs#addCheck}
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

    /** Returns the program that could not be loaded. */
    public ProgramSource source() {
        return source;
    }
}
