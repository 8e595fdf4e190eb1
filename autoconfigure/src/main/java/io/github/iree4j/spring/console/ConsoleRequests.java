package io.github.iree4j.spring.console;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests for the console, on either web stack: the console's files, and {@code console.json} with the
 * locations of the console's data. Reads nothing of the runtime. Safe from any thread.
 */
public final class ConsoleRequests {

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
                            + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Opener-Policy", "same-origin",
            "Cross-Origin-Resource-Policy", "same-origin",
            "Cache-Control", "no-cache");

    private final ConsoleFiles files;
    private final String path;
    private final Supplier<ConsoleEndpoints> endpoints;

    /**
     * Creates an answerer for a path.
     *
     * @param files the files
     * @param path path of the files, below the context path; begins with a slash and does not end with a slash
     * @param endpoints called for each request of {@code console.json}
     */
    public ConsoleRequests(ConsoleFiles files, String path, Supplier<ConsoleEndpoints> endpoints) {
        this.files = files;
        this.path = path;
        this.endpoints = endpoints;
    }

    /** Returns the path. */
    String path() {
        return path;
    }

    /**
     * An answer.
     *
     * @param status the status
     * @param headers the headers
     * @param body the body; empty for none
     */
    record Answer(int status, Map<String, String> headers, byte[] body) {}

    /**
     * Answers a request.
     *
     * @param method the request's method
     * @param uri path of the request as sent by the client
     * @param query query of the request as sent by the client; null for none
     * @param below the part below the console's path, without a leading slash
     * @param known value of {@code If-None-Match}; null for none
     */
    Answer answer(String method, String uri, @Nullable String query, String below, @Nullable String known) {
        if (!method.equals("GET") && !method.equals("HEAD")) {
            return of(405, "Allow", "GET, HEAD");
        }
        if (below.isEmpty() && !uri.endsWith("/")) {
            // Relative: the preceding path may differ between here and the client.
            String folder = path.substring(path.lastIndexOf('/') + 1) + "/";
            return of(302, "Location", query == null ? folder : folder + "?" + query);
        }
        ConsoleFile file = below.equals("console.json")
                ? ConsoleFile.of(below, endpoints.get().json(path))
                : files.find(below);
        if (file == null) {
            return of(404, "Content-Type", "text/plain");
        }
        Map<String, String> headers = new LinkedHashMap<>(HEADERS);
        headers.put("Content-Type", file.type());
        headers.put("ETag", file.tag());
        boolean unchanged = known != null && known.contains(file.tag());
        return unchanged ? new Answer(304, headers, new byte[0]) : new Answer(200, headers, file.content());
    }

    private static Answer of(int status, String header, String value) {
        Map<String, String> headers = new LinkedHashMap<>(HEADERS);
        headers.put(header, value);
        return new Answer(status, headers, new byte[0]);
    }
}
