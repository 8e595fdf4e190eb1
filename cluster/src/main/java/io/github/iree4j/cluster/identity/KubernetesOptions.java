package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The address of the Kubernetes API, and the credentials. Files are read again on each need, since Kubernetes replaces
 * the files while a pod runs.
 *
 * @param server scheme, host and port of the API server; {@code http} only on loopback
 * @param namespace the namespace of the leases
 * @param token file with the token to send; null without a token, as with {@code kubectl proxy}
 * @param authorities file with the certificates, as PEM, of possible issuers of the server's certificate; null for
 *     issuers trusted by the JVM
 * @param timeout how long a request may take, including the answer
 */
public record KubernetesOptions(
        URI server,
        String namespace,
        @Nullable Path token,
        @Nullable Path authorities,
        Duration timeout) {
    private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
    private static final Duration TIMEOUT = Duration.ofSeconds(4);
    private static final int NAMESPACE_BYTES = 253;

    /**
     * Checks the address and the namespace.
     *
     * @throws IreeException INVALID_ARGUMENT for another form of address, or for an invalid name of a namespace
     */
    public KubernetesOptions {
        String scheme = server.getScheme();
        if (server.getHost() == null || !"https".equals(scheme) && !"http".equals(scheme)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is not the address of an API server, such as https://10.0.0.1:443".formatted(server));
        }
        if ("http".equals(scheme) && !isLoopback(server.getHost())) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the token would be sent to '%s' as plain text; use https".formatted(server));
        }
        if (!namespace.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "'%s' is not the name of a namespace".formatted(namespace));
        }
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * Returns the options provided to a pod by Kubernetes.
     *
     * @param environment the variables of the process
     * @return the options of the pod's service account
     * @throws IreeException FAILED_PRECONDITION outside a pod, or without a service account
     */
    public static KubernetesOptions ofPod(Map<String, String> environment) {
        return ofPod(environment, ACCOUNT);
    }

    static KubernetesOptions ofPod(Map<String, String> environment, Path account) {
        String host = environment.get("KUBERNETES_SERVICE_HOST");
        String port = environment.get("KUBERNETES_SERVICE_PORT");
        Path namespace = account.resolve("namespace");
        if (host == null || port == null || !Files.isReadable(namespace)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "this process is not in a pod with a service account: KUBERNETES_SERVICE_HOST is %s, KUBERNETES_SERVICE_PORT %s, and '%s' %s; set 'iree.cluster.identity.kubernetes.server' and 'namespace', or take another 'iree.cluster.identity.type'"
                            .formatted(
                                    host,
                                    port,
                                    namespace,
                                    Files.isReadable(namespace) ? "is there" : "cannot be read"));
        }
        String address = host.contains(":") ? "[" + host + "]" : host;
        try {
            return new KubernetesOptions(
                    URI.create("https://" + address + ":" + port),
                    text(namespace, NAMESPACE_BYTES),
                    account.resolve("token"),
                    account.resolve("ca.crt"),
                    TIMEOUT);
        } catch (IllegalArgumentException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "KUBERNETES_SERVICE_HOST '%s' and KUBERNETES_SERVICE_PORT '%s' are not an address"
                            .formatted(host, port),
                    e);
        }
    }

    /**
     * Returns options for a server and a namespace.
     *
     * @param server the API server
     * @param namespace the namespace of the leases
     * @return options without token and with the JVM's authorities
     * @throws IreeException INVALID_ARGUMENT as of the constructor
     */
    public static KubernetesOptions of(URI server, String namespace) {
        return new KubernetesOptions(server, namespace, null, null, TIMEOUT);
    }

    /** Reads a small file. */
    static String text(Path file, int limit) {
        try {
            if (Files.size(file) > limit) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "'%s' has %d bytes, more than %d".formatted(file, Files.size(file), limit));
            }
            return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "'%s' cannot be read: %s".formatted(file, e), e);
        }
    }
}
