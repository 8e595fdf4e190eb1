package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Adds to a failure to link what to do about it. */
final class LinkFailures {
    private LinkFailures() {}

    /** The failure itself, or one with a remedy. */
    static IreeException explain(IreeException failure) {
        String message = failure.getMessage();
        if (message.contains("imports 'hal.")
                || message.contains("imports 'hal_inline.")
                || message.contains("imports 'hal_loader.")
                || message.contains("imports 'io_parameters.")
                || message.contains("needs module 'hal'")) {
            return new IreeException(
                    StatusCode.INCOMPATIBLE,
                    message
                            + "; the module was compiled by an IREE release with another HAL than this runtime knows, or with another"
                            + " --iree-execution-model: compile it with iree-compile 3.11 or later and the default execution model",
                    failure);
        }
        if (message.contains("no module") && message.contains("imports '")) {
            return new IreeException(
                    failure.code(),
                    message + "; add the module that exports it before the one that imports it",
                    failure);
        }
        return failure;
    }
}
