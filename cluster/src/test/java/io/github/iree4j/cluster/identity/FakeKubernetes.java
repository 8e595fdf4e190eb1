package io.github.iree4j.cluster.identity;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The part of Kubernetes' API server for leases, as far as stores use leases: versions, conflicts, labels, tokens. */
public final class FakeKubernetes implements AutoCloseable {
    public static final String NAMESPACE = "vision";
    private static final String PATH = "/apis/coordination.k8s.io/v1/namespaces/" + NAMESPACE + "/leases";

    private final JsonMapper mapper = new JsonMapper();
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, ObjectNode> leases = new TreeMap<>(); // guarded by this
    private long version;
    final AtomicInteger requests = new AtomicInteger();
    volatile @Nullable String token;
    volatile Fault fault = exchange -> false;

    /** Answers a request in another way. */
    interface Fault {
        boolean answers(HttpExchange exchange) throws IOException;

        /** Answers with a status and a body. */
        static Fault of(int status, String body) {
            return exchange -> {
                answer(exchange, status, body.getBytes(StandardCharsets.UTF_8));
                return true;
            };
        }
    }

    /** Starts on a free port of loopback. */
    public FakeKubernetes() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** The address of the server. */
    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** A lease; to be changed only by {@link #put}. */
    synchronized @Nullable ObjectNode lease(String name) {
        return leases.get(name);
    }

    /** Changes a lease as anyone with the right to may. */
    synchronized void put(String name, ObjectNode lease) {
        lease.withObject("metadata").put("resourceVersion", String.valueOf(++version));
        leases.put(name, lease);
    }

    synchronized void remove(String name) {
        leases.remove(name);
    }

    private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.incrementAndGet();
            if (fault.answers(exchange)) {
                return;
            }
            String expected = token;
            if (expected != null
                    && !("Bearer " + expected)
                            .equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                refuse(exchange, 401, "Unauthorized");
                return;
            }
            String path = exchange.getRequestURI().getPath();
            if (!path.startsWith(PATH)) {
                refuse(exchange, 404, "the server could not find the requested resource");
                return;
            }
            String name = path.substring(PATH.length()).replaceFirst("^/", "");
            JsonNode body = exchange.getRequestMethod().equals("GET")
                    ? mapper.nullNode()
                    : mapper.readTree(exchange.getRequestBody().readAllBytes());
            respond(exchange, name, body);
        }
    }

    private synchronized void respond(HttpExchange exchange, String name, JsonNode body) throws IOException {
        switch (exchange.getRequestMethod()) {
            case "GET" -> {
                if (name.isEmpty()) {
                    ObjectNode list = mapper.createObjectNode();
                    ArrayNode items = list.putArray("items");
                    String label = label(exchange);
                    leases.values().stream()
                            .filter(each -> labels(each).contains(label))
                            .forEach(items::add);
                    answer(exchange, 200, mapper.writeValueAsBytes(list));
                } else if (leases.get(name) == null) {
                    refuse(exchange, 404, "leases.coordination.k8s.io \"" + name + "\" not found");
                } else {
                    answer(exchange, 200, mapper.writeValueAsBytes(leases.get(name)));
                }
            }
            case "POST" -> {
                ObjectNode made = (ObjectNode) body.deepCopy();
                String called = made.path("metadata").path("name").stringValue();
                if (leases.containsKey(called)) {
                    refuse(exchange, 409, "leases.coordination.k8s.io \"" + called + "\" already exists");
                    return;
                }
                made.withObject("metadata").put("uid", UUID.randomUUID().toString());
                put(called, made);
                answer(exchange, 201, mapper.writeValueAsBytes(made));
            }
            case "PUT" -> {
                ObjectNode old = leases.get(name);
                JsonNode metadata = body.path("metadata");
                if (old == null
                        || !metadata.path("uid").equals(old.path("metadata").path("uid"))
                        || !metadata.path("resourceVersion")
                                .equals(old.path("metadata").path("resourceVersion"))) {
                    refuse(
                            exchange,
                            409,
                            "the object has been modified; please apply your changes to the latest version");
                    return;
                }
                ObjectNode made = (ObjectNode) body.deepCopy();
                put(name, made);
                answer(exchange, 200, mapper.writeValueAsBytes(made));
            }
            default -> refuse(exchange, 405, "not allowed");
        }
    }

    private static String label(HttpExchange exchange) {
        String query = exchange.getRequestURI().getRawQuery();
        return URLDecoder.decode(query.substring("labelSelector=".length()), StandardCharsets.UTF_8);
    }

    private static List<String> labels(ObjectNode lease) {
        return lease.path("metadata").path("labels").properties().stream()
                .map(each -> each.getKey() + "=" + each.getValue().stringValue())
                .toList();
    }

    private void refuse(HttpExchange exchange, int status, String message) throws IOException {
        ObjectNode body = mapper.createObjectNode();
        body.put("kind", "Status")
                .put("status", "Failure")
                .put("message", message)
                .put("code", status);
        answer(exchange, status, mapper.writeValueAsBytes(body));
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
