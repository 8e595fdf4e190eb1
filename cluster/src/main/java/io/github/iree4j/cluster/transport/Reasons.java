package io.github.iree4j.cluster.transport;

import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Status;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Explains missing answers to operators; {@code it} in the messages is the other side. */
final class Reasons {
    private static final int MOST_CHARACTERS = 200;
    private static final String REFUSED = "Connection refused";

    private Reasons() {}

    /**
     * Returns why a message has no answer, with a code as for {@code ClusterMembership.Reply}.
     *
     * @param status how the call ended
     * @param limit the longest wait
     */
    static IreeException unanswered(Status status, Duration limit) {
        return switch (status.getCode()) {
            case DEADLINE_EXCEEDED ->
                IreeException.of(
                        StatusCode.DEADLINE_EXCEEDED,
                        "no answer within %s: it is paused, or no node".formatted(DurationText.of(limit)));
            case NOT_FOUND -> IreeException.of(StatusCode.UNAVAILABLE, "it is in no cluster yet, or no more");
            case UNAVAILABLE -> unavailable(status);
            case UNIMPLEMENTED, INTERNAL, UNKNOWN, OK ->
                refusal("it is no node of iree4j, or of another version: " + text(status));
            default -> refusal("it refuses this node: " + text(status));
        };
    }

    private static IreeException unavailable(Status status) {
        for (Throwable each = status.getCause(); each != null; each = each.getCause()) {
            String message = String.valueOf(each.getMessage());
            if (each instanceof NoRouteToHostException) {
                return IreeException.of(StatusCode.UNAVAILABLE, "no route to host");
            }
            if (each instanceof ConnectException) {
                return IreeException.of(StatusCode.UNAVAILABLE, message.contains(REFUSED) ? REFUSED : text(message));
            }
            String tls = tls(each, message);
            if (tls != null) {
                return refusal(tls);
            }
        }
        String text = text(status);
        if (text.contains("GOAWAY")) {
            return IreeException.of(StatusCode.UNAVAILABLE, "it stops");
        }
        if (text.contains("TLS negotiation")) {
            return refusal("it ended the connection in place of a TLS handshake");
        }
        return refusal("it ended the connection, perhaps since only one side speaks TLS: " + text);
    }

    /** Returns a refusal of or by TLS; null for another cause. */
    private static @Nullable String tls(Throwable cause, String message) {
        if (cause instanceof CertificateExpiredException) {
            return "its certificate has expired: " + message;
        }
        if (cause instanceof CertificateNotYetValidException) {
            return "its certificate is not valid yet: " + message;
        }
        if (cause instanceof CertPathBuilderException // and where another authority has the same name
                || cause instanceof CertPathValidatorException invalid
                        && invalid.getReason() == BasicReason.INVALID_SIGNATURE) {
            return "its certificate is of an unknown authority";
        }
        if (message.startsWith("not an SSL/TLS record")) {
            return "it does not speak TLS, which this node does";
        }
        int alert = message.toUpperCase(Locale.ROOT).indexOf("ALERT");
        if (alert < 0) {
            return null;
        }
        String name = message.substring(alert).toLowerCase(Locale.ROOT);
        return (name.contains("certificate") || name.contains("_ca")
                        ? "it does not accept this node's certificate: "
                        : "it refuses TLS: ")
                + text(name);
    }

    private static IreeException refusal(String reason) {
        return IreeException.of(StatusCode.FAILED_PRECONDITION, reason);
    }

    private static String text(Status status) {
        Throwable cause = status.getCause();
        return text(
                cause != null && cause.getMessage() != null
                        ? cause.getMessage()
                        : status.getDescription() == null ? status.getCode().name() : status.getDescription());
    }

    private static String text(String of) {
        String line = of.replaceAll("\\p{Cntrl}", " ");
        return line.length() <= MOST_CHARACTERS ? line : line.substring(0, MOST_CHARACTERS) + " ...";
    }
}
