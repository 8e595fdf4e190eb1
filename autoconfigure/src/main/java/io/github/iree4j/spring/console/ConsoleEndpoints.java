package io.github.iree4j.spring.console;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The location of the console's data: actuator endpoints, by id.
 *
 * @param paths path of each exposed endpoint below the context path, for example {@code /actuator/iree}; endpoints that
 *     are not exposed are missing
 * @param problem the reason for missing endpoints, for operators; null without such a reason
 */
public record ConsoleEndpoints(
        Map<String, String> paths, @Nullable String problem) {

    /** Copies the paths. */
    public ConsoleEndpoints {
        paths = Map.copyOf(paths);
    }

    /**
     * Returns the answer for the page, with paths relative to the page, so that the paths hold behind any proxy.
     *
     * @param consolePath path of the console below the same context path
     */
    String json(String consolePath) {
        String up = "../".repeat((int) consolePath.chars().filter(c -> c == '/').count());
        return new TreeMap<>(paths)
                .entrySet().stream()
                        .map(each -> quote(each.getKey()) + ":"
                                + quote(up + each.getValue().substring(1)))
                        .collect(Collectors.joining(
                                ",",
                                "{\"endpoints\":{",
                                "},\"problem\":" + (problem == null ? "null" : quote(problem)) + "}"));
    }

    private static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
