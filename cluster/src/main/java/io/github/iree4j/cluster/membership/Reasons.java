package io.github.iree4j.cluster.membership;

import java.io.EOFException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import org.jspecify.annotations.Nullable;

/** Explains failed connections to operators; {@code it} in the messages is the other node. */
final class Reasons {

    private Reasons() {}

    /** Returns why a connection failed; null without anything to report, such as after the departure of a port scanner. */
    static @Nullable String of(Exception cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof EOFException) {
                return null;
            }
            String certificate = certificate(each);
            if (certificate != null) {
                return certificate;
            }
        }
        String text = String.valueOf(cause.getMessage()).replaceFirst("^\\([a-z_]+\\) ", ""); // the alert sent
        if (text.contains("nrecognized SSL message")) {
            return "not TLS";
        }
        if (text.equals("Broken pipe")) { // the other side has left
            return null;
        }
        if (!isAlert(cause)) {
            return text;
        }
        return (text.contains("certificate") || text.contains("_ca")
                        ? "it does not accept this node's certificate: "
                        : "it refuses TLS: ")
                + text;
    }

    /** Returns whether the other side has sent a refusal. */
    static boolean isAlert(Exception cause) {
        return String.valueOf(cause.getMessage()).contains("Received fatal alert");
    }

    private static @Nullable String certificate(Throwable cause) {
        if (cause instanceof CertificateExpiredException) {
            return "its certificate has expired: " + cause.getMessage();
        }
        if (cause instanceof CertificateNotYetValidException) {
            return "its certificate is not valid yet: " + cause.getMessage();
        }
        if (cause instanceof CertPathBuilderException // and where another authority has the same name
                || cause instanceof CertPathValidatorException invalid
                        && invalid.getReason() == BasicReason.INVALID_SIGNATURE) {
            return "its certificate is of an unknown authority";
        }
        return null;
    }
}
