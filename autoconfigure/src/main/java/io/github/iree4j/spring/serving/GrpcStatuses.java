package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** Maps failures to statuses of gRPC. */
final class GrpcStatuses {

    private static final Logger log = LoggerFactory.getLogger(GrpcStatuses.class);

    /** Maximum length of a description: trailers are headers, which clients limit to 8 KB. */
    private static final int MAX_TEXT = 1024;

    /** See gRPC's proposal A6. */
    private static final Metadata.Key<String> PUSHBACK =
            Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

    private GrpcStatuses() {}

    /** Returns the status of a failed call; an unexpected failure is logged. */
    static Status of(Throwable failure) {
        return switch (failure) {
            case CompletionException e when e.getCause() != null -> of(e.getCause());
            case DeviceLostException e -> status(StatusCode.ABORTED, ClientText.of(e)); // whatever the driver reported
            case IreeException e -> status(e.code(), ClientText.of(e));
            case ProgramLoadException e -> described(Status.FAILED_PRECONDITION, ClientText.of(e));
            case ResponseStatusException e -> described(limit(e), String.valueOf(e.getReason()));
            case CancellationException _ -> Status.CANCELLED;
            case StatusRuntimeException e -> transport(e.getStatus());
            default -> {
                log.error("call of the open inference protocol failed", failure);
                yield Status.INTERNAL.withDescription("internal server error; see the server log");
            }
        };
    }

    /** Returns trailers with the delay for gRPC's built-in retries, if known; negative if no retry can succeed. */
    static Metadata trailers(Throwable failure) {
        Metadata trailers = new Metadata();
        RetryLater later =
                failure instanceof IreeException e ? e.detail(RetryLater.class).orElse(null) : null;
        if (later != null) {
            trailers.put(PUSHBACK, String.valueOf(later.after().toMillis()));
        } else if (neverFits(failure)) {
            trailers.put(PUSHBACK, "-1");
        }
        return trailers;
    }

    /** Returns whether a failure is RESOURCE_EXHAUSTED, as for a passing shortage, but for good. */
    private static boolean neverFits(Throwable failure) {
        return switch (failure) {
            case InvalidInputException e -> e.code() == StatusCode.RESOURCE_EXHAUSTED;
            case ResponseStatusException e -> e.getStatusCode().isSameCodeAs(HttpStatus.CONTENT_TOO_LARGE);
            default -> false;
        };
    }

    private static Status status(StatusCode code, String text) {
        Status status = switch (code) {
            case DEFERRED -> Status.UNAVAILABLE;
            case INCOMPATIBLE -> Status.FAILED_PRECONDITION;
            default -> Status.fromCode(Status.Code.valueOf(code.name()));
        };
        return described(status, text);
    }

    /**
     * Describes a failure of the transport while decompressing a message. The transport's limit is set from our
     * property, but the transport does not name the property.
     */
    private static Status transport(Status status) {
        return status.getCode() == Status.Code.RESOURCE_EXHAUSTED
                ? described(status, "%s; send less, or raise '%s'".formatted(status.getDescription(), BodyLimits.SIZE))
                : status;
    }

    /** Maps failures of body limits, expressed as HTTP statuses. */
    private static Status limit(ResponseStatusException failure) {
        return switch (failure.getStatusCode().value()) {
            case 408 -> Status.DEADLINE_EXCEEDED;
            case 413, 503 -> Status.RESOURCE_EXHAUSTED;
            default -> Status.INTERNAL;
        };
    }

    private static Status described(Status status, String text) {
        return status.withDescription(text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "...");
    }
}
