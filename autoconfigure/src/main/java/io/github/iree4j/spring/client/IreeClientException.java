package io.github.iree4j.spring.client;

import org.jspecify.annotations.Nullable;

/** Thrown for an {@link IreeClient} with a method that cannot call a function, or with a program that does not fit. */
public final class IreeClientException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    IreeClientException(String message, String remedy, @Nullable Throwable cause) {
        super(message, cause);
        this.remedy = remedy;
    }

    /** Returns instructions to the developer, in sentences. */
    public String remedy() {
        return remedy;
    }
}
