package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Locale;

/**
 * Whether and when functions of a program become Java bytecode, which HotSpot then compiles. The behavior of a program does not depend on
 * it.
 */
public enum Compilation {
    /** Never: everything is interpreted. */
    OFF,
    /** On a separate thread, once a function has been called or has looped often; callers never wait for it. */
    BACKGROUND,
    /** When a module is read, before it can be used. */
    EAGER;

    /** System property with the default for modules: {@code off}, {@code background} or {@code eager}. */
    public static final String PROPERTY = "iree4j.vm.compile";

    /**
     * Returns the value of {@link #PROPERTY}.
     *
     * @return the default for modules read from now on; {@link #BACKGROUND} when the property is not set
     * @throws IreeException INVALID_ARGUMENT when it has another value
     */
    public static Compilation byDefault() {
        String name = System.getProperty(PROPERTY);
        if (name == null) {
            return BACKGROUND;
        }
        for (Compilation compilation : values()) {
            if (compilation.name().equals(name.toUpperCase(Locale.ROOT))) {
                return compilation;
            }
        }
        throw new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "system property '%s' is '%s', must be off, background or eager".formatted(PROPERTY, name));
    }
}
