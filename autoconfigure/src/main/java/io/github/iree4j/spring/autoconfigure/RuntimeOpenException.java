package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.status.IreeException;
import java.util.List;

/** Thrown when the runtime cannot be opened with the configured devices. */
final class RuntimeOpenException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    RuntimeOpenException(List<String> devices, IreeException cause) {
        super(
                "the IREE runtime cannot be opened with device %s: %s"
                        .formatted(String.join(", ", devices), cause.getMessage()),
                cause);
    }
}
