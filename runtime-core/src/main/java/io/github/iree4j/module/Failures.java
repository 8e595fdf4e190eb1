package io.github.iree4j.module;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.FileNotFoundException;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** Maps exceptions of Java methods to failures of programs. */
final class Failures {
    private Failures() {}

    /** Returns a failure naming the method. Rethrows errors, except errors of the JVM such as stack overflow or lack of memory. */
    static IreeException of(Throwable thrown, String function, String method) {
        Throwable cause = thrown;
        while ((cause instanceof UndeclaredThrowableException || cause instanceof CompletionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof IreeException failure) {
            return failure.during("in '%s' (%s)".formatted(function, method));
        }
        if (cause instanceof Error error && !(error instanceof VirtualMachineError)) {
            throw error;
        }
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        String message = cause.getMessage();
        return IreeException.of(
                code(cause),
                "'%s' (%s) failed: %s"
                        .formatted(
                                function,
                                method,
                                message == null || message.isBlank()
                                        ? cause.getClass().getName()
                                        : cause.getClass().getSimpleName() + ": " + message),
                cause);
    }

    private static StatusCode code(Throwable cause) {
        return switch (cause) {
            case IllegalArgumentException _ -> StatusCode.INVALID_ARGUMENT;
            case IndexOutOfBoundsException _ -> StatusCode.OUT_OF_RANGE;
            case UnsupportedOperationException _ -> StatusCode.UNIMPLEMENTED;
            case NoSuchElementException _ -> StatusCode.NOT_FOUND;
            case FileNotFoundException _ -> StatusCode.NOT_FOUND;
            case NoSuchFileException _ -> StatusCode.NOT_FOUND;
            case FileAlreadyExistsException _ -> StatusCode.ALREADY_EXISTS;
            case AccessDeniedException _ -> StatusCode.PERMISSION_DENIED;
            case SecurityException _ -> StatusCode.PERMISSION_DENIED;
            case TimeoutException _ -> StatusCode.DEADLINE_EXCEEDED;
            case InterruptedException _ -> StatusCode.CANCELLED;
            case CancellationException _ -> StatusCode.CANCELLED;
            case IllegalStateException _ -> StatusCode.FAILED_PRECONDITION;
            case StackOverflowError _ -> StatusCode.RESOURCE_EXHAUSTED;
            case OutOfMemoryError _ -> StatusCode.RESOURCE_EXHAUSTED;
            default -> StatusCode.INTERNAL;
        };
    }
}
