package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.Comparison;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/**
 * A page showing scenarios without a server: the files of the console and the runs of the scenarios, in a single file.
 *
 * <p>Browsers load no modules from files, so each module is a {@code data:} address in the import map of the page, and
 * imports the others by the names in this map. The runs are JSON, as a raw deflate stream in Base64 for URLs.
 */
final class OfflinePage {
    private static final String ROOT = "META-INF/iree-console/";
    private static final String MAIN = "main.js";
    private static final String PREFIX = "iree4j/"; // of names in the import map
    private static final Pattern IMPORT = Pattern.compile("(?m)^(import [^;]*?from )\"([^\"]+)\";$");

    private OfflinePage() {}

    /** Returns the page showing some scenarios, in the given order. */
    static String of(List<Scenario> scenarios) {
        String page = text("index.html");
        page = replace(
                page, "<link rel=\"stylesheet\" href=\"console.css\">", "<style>\n" + text("console.css") + "</style>");
        page = replace(page, "<script src=\"main.js\" type=\"module\"></script>", """
                <script type="importmap">%s</script>
                    <script type="text/plain" id="kept">%s</script>
                    <script type="module">import "%s";</script>""".formatted(
                        importMap(), pack(runs(scenarios)), PREFIX + MAIN));
        return page.replace("icon.svg", address("image/svg+xml", text("icon.svg")));
    }

    private static String replace(String page, String part, String by) {
        if (!page.contains(part)) {
            throw new IllegalStateException("the console's page has no '%s'".formatted(part));
        }
        return page.replace(part, by);
    }

    private static String runs(List<Scenario> scenarios) {
        String runs = scenarios.stream()
                .map(each -> Laboratory.run(each, LabOptions.DEFAULTS).toJson())
                .collect(Collectors.joining(","));
        String ways = scenarios.stream()
                .map(each -> Comparison.toJsonWithRuns(each, LabOptions.DEFAULTS.withHostDelay(1)))
                .collect(Collectors.joining(","));
        return "{\"runs\":[%s],\"ways\":[%s]}".formatted(runs, ways);
    }

    /** Returns the import map with the modules reached from the main module. */
    private static String importMap() {
        Map<String, String> modules = new TreeMap<>();
        Deque<String> open = new ArrayDeque<>(List.of(MAIN));
        while (!open.isEmpty()) {
            String name = open.pop();
            if (!modules.containsKey(name)) {
                modules.put(name, IMPORT.matcher(text(name)).replaceAll(found -> {
                    String target = target(name, found);
                    open.push(target);
                    return "%s\"%s\";".formatted(found.group(1).replace("$", "\\$"), PREFIX + target);
                }));
            }
        }
        return modules.entrySet().stream()
                .map(each ->
                        "\"%s%s\":\"%s\"".formatted(PREFIX, each.getKey(), address("text/javascript", each.getValue())))
                .collect(Collectors.joining(",", "{\"imports\":{", "}}"));
    }

    /** Returns the name of an imported module, relative to the console's files. */
    private static String target(String from, MatchResult found) {
        return URI.create("/" + from).resolve(found.group(2)).getPath().substring(1);
    }

    private static String address(String type, String text) {
        return "data:%s;base64,%s"
                .formatted(type, Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String pack(String text) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        try (DeflaterOutputStream out = new DeflaterOutputStream(packed, deflater)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot be written", e);
        } finally {
            deflater.end();
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(packed.toByteArray());
    }

    private static String text(String name) {
        try (InputStream in = OfflinePage.class.getClassLoader().getResourceAsStream(ROOT + name)) {
            if (in == null) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "the console's file '%s' is not on the class path; add io.github.iree4j:iree4j-console"
                                .formatted(name));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "the console's file '%s' cannot be read: %s".formatted(name, e), e);
        }
    }
}
