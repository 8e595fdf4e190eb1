package io.github.iree4j;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code fixtures/manifest.txt}: the source of each module, and the results of IREE's own runtime of the same release.
 */
record FixtureManifest(List<Module> modules) {

    /**
     * A module.
     *
     * @param name the file below {@code fixtures/modules}
     * @param release the release of the compiler and of the runtime for the results
     * @param variant target and form: {@code cpu}, {@code vmvx-async}, {@code inline-static}
     * @param program the source below {@code fixtures}
     * @param source SHA-256 of the source at compilation
     * @param command the compiler's command line
     * @param sha256 of the module
     * @param tolerance allowed deviation of numbers, relative to the larger of 1 and the expected number
     * @param with modules to import from, loaded before
     * @param parameters archives by scope
     * @param sequence whether the calls are made one after the other in the same context, with memory of earlier calls
     * @param calls in order
     */
    record Module(
            String name,
            String release,
            String variant,
            String program,
            String source,
            String command,
            String sha256,
            double tolerance,
            List<String> with,
            Map<String, String> parameters,
            boolean sequence,
            List<Call> calls) {}

    /** A call; values are {@code 4xf32=1 2 3 4} for tensors and {@code i32:5} for numbers. IREE's runtime may fail, with a code. */
    record Call(String function, List<String> inputs, List<String> results, List<String> failures) {}

    static FixtureManifest read() {
        try {
            List<Module> modules = new ArrayList<>();
            Paragraph paragraph = null;
            for (String line : Files.readAllLines(Fixtures.DIRECTORY.resolve("manifest.txt"))) {
                if (line.isEmpty() || line.startsWith("#")) {
                    continue;
                }
                if (line.startsWith("module ")) {
                    if (paragraph != null) {
                        modules.add(paragraph.module());
                    }
                    paragraph = new Paragraph();
                }
                if (paragraph == null) {
                    throw new IOException("the manifest begins with '" + line + "'");
                }
                paragraph.take(line.strip());
            }
            if (paragraph != null) {
                modules.add(paragraph.module());
            }
            return new FixtureManifest(List.copyOf(modules));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the manifest of the fixtures", e);
        }
    }

    /** Modules, or calls as {@code module function}, known to fail, with the reason why; another folder has no list. */
    static Map<String, String> knownFailures() {
        try {
            Map<String, String> reasons = new LinkedHashMap<>();
            Path file = Fixtures.DIRECTORY.resolve("known-failures.txt");
            if (Files.notExists(file)) {
                return reasons;
            }
            for (String line : Files.readAllLines(file)) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    int colon = line.indexOf(": ");
                    reasons.put(line.substring(0, colon), line.substring(colon + 2));
                }
            }
            return reasons;
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the known failures of the fixtures", e);
        }
    }

    private static final class Paragraph {
        private final Map<String, String> values = new HashMap<>();
        private final List<String> with = new ArrayList<>();
        private final Map<String, String> parameters = new LinkedHashMap<>();
        private final List<Call> calls = new ArrayList<>();

        void take(String line) throws IOException {
            int space = line.indexOf(' ');
            String key = space < 0 ? line : line.substring(0, space);
            String value = space < 0 ? "" : line.substring(space + 1);
            switch (key) {
                case "call" -> calls.add(new Call(value, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
                case "input" -> calls.getLast().inputs().add(value);
                case "result" -> calls.getLast().results().add(value);
                case "fails" -> calls.getLast().failures().add(value);
                case "with" -> with.add(value);
                case "parameters" -> {
                    int equals = value.indexOf('=');
                    parameters.put(value.substring(0, equals), value.substring(equals + 1));
                }
                case "module",
                        "release",
                        "variant",
                        "program",
                        "source",
                        "command",
                        "sha256",
                        "bytes",
                        "results",
                        "sequence",
                        "tolerance" -> values.put(key, value);
                default -> throw new IOException("the manifest has an unknown line: " + line);
            }
        }

        private String value(String key) {
            String value = values.get(key);
            if (value == null) {
                throw new IllegalStateException("module " + values.get("module") + " has no " + key);
            }
            return value;
        }

        Module module() {
            return new Module(
                    value("module"),
                    value("release"),
                    value("variant"),
                    value("program"),
                    value("source"),
                    value("command"),
                    value("sha256"),
                    Double.parseDouble(values.getOrDefault("tolerance", "0")),
                    List.copyOf(with),
                    parameters,
                    values.containsKey("sequence"),
                    List.copyOf(calls));
        }
    }
}
