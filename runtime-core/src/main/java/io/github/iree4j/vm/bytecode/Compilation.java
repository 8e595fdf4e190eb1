package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Whether and when functions of a program become Java bytecode, to be compiled by HotSpot. The behavior of a program
 * does not depend on the choice.
 */
@NotForApplications
public enum Compilation {
    /** Never: everything is interpreted. */
    OFF,
    /** On a separate thread, once a function has been called or has looped often; callers never wait for the compilation. */
    BACKGROUND,
    /** When a module is read, before the module can be used. */
    EAGER;

    /** System property with the default for modules: {@code off}, {@code background} or {@code eager}. */
    public static final String PROPERTY = "iree4j.vm.compile";

    /** System property set by GraalVM while building and running a native image. */
    private static final String NATIVE_IMAGE = "org.graalvm.nativeimage.imagecode";

    /**
     * Returns the value of {@link #PROPERTY}.
     *
     * @return the default for modules read from now on; when the property is not set {@link #BACKGROUND}, or
     *     {@link #OFF} in a native image, where classes cannot be defined
     * @throws IreeException INVALID_ARGUMENT when the property has another value
     */
    public static Compilation byDefault() {
        return byDefault(System::getProperty);
    }

    static Compilation byDefault(Function<String, @Nullable String> properties) {
        String name = properties.apply(PROPERTY);
        if (name == null) {
            return properties.apply(NATIVE_IMAGE) == null ? BACKGROUND : OFF;
        }
        for (Compilation compilation : values()) {
            if (compilation.name().equals(name.toUpperCase(Locale.ROOT))) {
                return compilation;
            }
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "system property '%s' is '%s', must be off, background or eager".formatted(PROPERTY, name));
    }
}
