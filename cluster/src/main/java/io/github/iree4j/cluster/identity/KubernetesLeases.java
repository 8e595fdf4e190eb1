package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The leases of a namespace, as stored by the API server. Answers are bounded in size and time. Thread-safe; calls block. */
final class KubernetesLeases implements AutoCloseable {
    private static final int ANSWER_BYTES = 4 << 20; // 257 leases with additions by Kubernetes take less than a tenth
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"); // a part of addresses
    private static final int TOKEN_BYTES = 64 << 10;
    private static final int AUTHORITIES_BYTES = 1 << 20;
    private static final int MESSAGE_CHARACTERS = 300;
    private static final String API = "/apis/coordination.k8s.io/v1/namespaces/";

    private final KubernetesOptions options;
    private final JsonMapper mapper = new JsonMapper();
    // guarded by this; created again after a failure, with the files' present contents
    private @Nullable HttpClient client;

    KubernetesLeases(KubernetesOptions options) {
        this.options = options;
    }

    /** An empty object. */
    ObjectNode object() {
        return mapper.createObjectNode();
    }

    /** Returns a lease; null when there is none. */
    @Nullable
    ObjectNode get(String name) {
        Answer answer = send("GET", "/" + name, null);
        return answer.status == 404 ? null : lease(answer.expect(200));
    }

    /** Returns the leases with a label. */
    List<ObjectNode> list(String label, String value) {
        String selector = URLEncoder.encode(label + "=" + value, StandardCharsets.UTF_8);
        Answer answer = send("GET", "?labelSelector=" + selector, null).expect(200);
        JsonNode items = answer.body().path("items");
        if (!items.isArray()) {
            throw answer.damaged("has no array of items");
        }
        List<ObjectNode> leases = new ArrayList<>();
        for (JsonNode each : items.values()) {
            leases.add(checked(answer, each));
        }
        return leases;
    }

    /** Creates a lease and returns the lease; null for an existing lease. */
    @Nullable
    ObjectNode create(ObjectNode lease) {
        Answer answer = send("POST", "", lease);
        return answer.status == 409 ? null : lease(answer.expect(200, 201));
    }

    /**
     * Replaces the version behind the given lease, and returns the new version; null when the replaced version is not
     * current.
     */
    @Nullable
    ObjectNode replace(ObjectNode lease) {
        Answer answer = send("PUT", "/" + lease.path("metadata").path("name").stringValue(), lease);
        return answer.status == 409 || answer.status == 404 ? null : lease(answer.expect(200, 201));
    }

    private static ObjectNode lease(Answer answer) {
        return checked(answer, answer.body());
    }

    /** Checks that a lease has all fields needed for compare-and-set. */
    private static ObjectNode checked(Answer answer, JsonNode lease) {
        JsonNode metadata = lease.path("metadata");
        if (!(lease instanceof ObjectNode object)
                || !metadata.path("name").isString()
                || !NAME.matcher(metadata.path("name").stringValue()).matches()
                || !metadata.path("uid").isString()
                || !metadata.path("resourceVersion").isString()
                || metadata.path("resourceVersion").stringValue().isEmpty()) {
            throw answer.damaged("has a lease without name, uid or resource version");
        }
        return object;
    }

    private Answer send(String method, String path, @Nullable ObjectNode body) {
        URI uri = options.server().resolve(API + options.namespace() + "/leases" + path);
        String what = method + " " + uri.getPath();
        BodyPublisher publisher =
                body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(mapper.writeValueAsBytes(body));
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .method(method, publisher)
                .header("Accept", "application/json")
                .header("Content-Type", "application/json")
                .header("User-Agent", "iree4j");
        Path token = options.token();
        if (token != null) {
            request.header("Authorization", "Bearer " + token(token));
        }
        HttpClient sender = client();
        CompletableFuture<HttpResponse<byte[]>> sent =
                sender.sendAsync(request.build(), BodyHandlers.limiting(BodyHandlers.ofByteArray(), ANSWER_BYTES));
        try {
            HttpResponse<byte[]> response = sent.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
            return new Answer(what, response.statusCode(), response.body());
        } catch (TimeoutException e) {
            sent.cancel(true);
            throw unavailable(
                    what,
                    "did not answer within %d ms".formatted(options.timeout().toMillis()),
                    e);
        } catch (ExecutionException e) {
            discard(sender);
            throw unavailable(what, "cannot be reached: " + e.getCause(), e);
        } catch (InterruptedException e) {
            sent.cancel(true);
            Thread.currentThread().interrupt();
            throw IreeException.of(StatusCode.CANCELLED, what + " was interrupted", e);
        }
    }

    private static String token(Path file) {
        String token = KubernetesOptions.text(file, TOKEN_BYTES);
        if (!token.matches("[\\x21-\\x7e]+")) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "'%s' has no token".formatted(file));
        }
        return token;
    }

    private IreeException unavailable(String what, String how, Exception cause) {
        return IreeException.of(
                StatusCode.UNAVAILABLE, "the API server %s %s (%s)".formatted(options.server(), how, what), cause);
    }

    private synchronized HttpClient client() {
        HttpClient made = client;
        if (made == null) {
            HttpClient.Builder builder = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .connectTimeout(options.timeout());
            Path authorities = options.authorities();
            if (authorities != null) {
                builder.sslContext(trusting(authorities));
            }
            made = builder.build();
            client = made;
        }
        return made;
    }

    private synchronized void discard(HttpClient failed) {
        if (failed.equals(client)) {
            client = null;
        }
        failed.shutdownNow();
    }

    private static SSLContext trusting(Path file) {
        byte[] pem = KubernetesOptions.text(file, AUTHORITIES_BYTES).getBytes(StandardCharsets.ISO_8859_1);
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate each :
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem))) {
                store.setCertificateEntry("authority" + store.size(), each);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "'%s' has no certificates as PEM: %s".formatted(file, e), e);
        }
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.shutdownNow();
            client = null;
        }
    }

    /** An answer of the server. */
    private final class Answer {
        private final String what;
        private final int status;
        private final byte[] bytes;

        Answer(String what, int status, byte[] bytes) {
            this.what = what;
            this.status = status;
            this.bytes = bytes;
        }

        JsonNode body() {
            try {
                return mapper.readTree(bytes);
            } catch (JacksonException e) {
                throw damaged("is not JSON: " + e.getOriginalMessage());
            }
        }

        IreeException damaged(String how) {
            return IreeException.of(
                    StatusCode.DATA_LOSS,
                    "what the API server %s answered to %s %s".formatted(options.server(), what, how));
        }

        Answer expect(int... wanted) {
            for (int each : wanted) {
                if (status == each) {
                    return this;
                }
            }
            StatusCode code = switch (status) {
                case 400, 413, 422 -> StatusCode.INVALID_ARGUMENT;
                case 401 -> StatusCode.UNAUTHENTICATED;
                case 403 -> StatusCode.PERMISSION_DENIED;
                case 404 -> StatusCode.NOT_FOUND;
                default -> StatusCode.UNAVAILABLE;
            };
            throw IreeException.of(
                    code,
                    "the API server %s answered %d to %s: %s%s"
                            .formatted(options.server(), status, what, message(), remedy()));
        }

        /** Returns the message of a {@code Status}, as far as printable. */
        private String message() {
            String message;
            try {
                message = mapper.readTree(bytes).path("message").asString("");
            } catch (JacksonException e) {
                message = new String(bytes, StandardCharsets.UTF_8);
            }
            String printable = message.replaceAll("[^\\x20-\\x7e]+", " ").strip();
            return printable.length() > MESSAGE_CHARACTERS
                    ? printable.substring(0, MESSAGE_CHARACTERS) + "…"
                    : printable;
        }

        private String remedy() {
            return switch (status) {
                case 401 -> "; it does not know the token of '%s'".formatted(options.token());
                case 403 ->
                    "; the service account needs the verbs get, list, create and update for 'leases' of 'coordination.k8s.io' in namespace '%s'"
                            .formatted(options.namespace());
                case 404 -> "; is there a namespace '%s'?".formatted(options.namespace());
                default -> "";
            };
        }
    }
}
