package io.github.iree4j.cluster.transport;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetAddress;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a peer's certificate names the host advertised by the peer. A client checks the certificate of the dialed
 * server; this class checks the certificate of a client likewise, so a node cannot pass for a node of another host.
 */
final class CertificateNames {
    private static final int DNS = 2;
    private static final int IP = 7;

    private CertificateNames() {}

    /**
     * Checks the certificate of a session.
     *
     * @throws IreeException UNAUTHENTICATED without a certificate, PERMISSION_DENIED for a certificate of other hosts
     */
    static void check(@Nullable SSLSession session, String host) {
        Certificate[] chain;
        try {
            chain = session == null ? new Certificate[0] : session.getPeerCertificates();
        } catch (SSLPeerUnverifiedException e) {
            chain = new Certificate[0];
        }
        if (chain.length == 0 || !(chain[0] instanceof X509Certificate certificate)) {
            throw IreeException.of(StatusCode.UNAUTHENTICATED, "a node at '%s' shows no certificate".formatted(host));
        }
        List<String> names = names(certificate);
        if (names.stream().noneMatch(name -> matches(name, host))) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "a node advertises host '%s', and its certificate is for %s; issue one with that subject alternative name"
                            .formatted(host, names));
        }
    }

    /** Returns the subject alternative names of hosts and addresses. */
    static List<String> names(X509Certificate certificate) {
        List<String> names = new ArrayList<>();
        try {
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                for (List<?> each : alternatives) {
                    if (each.get(0) instanceof Integer kind && (kind == DNS || kind == IP)) {
                        names.add(String.valueOf(each.get(1)));
                    }
                }
            }
        } catch (CertificateParsingException e) {
            return List.of();
        }
        return names;
    }

    /** Returns whether a name, perhaps with a wildcard as the first label, matches a host. */
    static boolean matches(String name, String host) {
        String wanted = host.toLowerCase(Locale.ROOT);
        String given = name.toLowerCase(Locale.ROOT);
        if (isAddress(wanted) || isAddress(given)) {
            return isAddress(wanted) && isAddress(given) && address(wanted).equals(address(given));
        }
        if (!given.startsWith("*.")) {
            return given.equals(wanted);
        }
        int dot = wanted.indexOf('.');
        return dot > 0 && given.substring(1).equals(wanted.substring(dot)) && given.indexOf('.', 2) > 0;
    }

    private static boolean isAddress(String host) {
        return host.indexOf(':') >= 0 || host.matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
    }

    private static Object address(String host) {
        try {
            return InetAddress.ofLiteral(host); // never a look-up: names are not asked for on this thread
        } catch (IllegalArgumentException e) {
            return new Object(); // equals nothing
        }
    }
}
