package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.lab.Scenario.Annotation;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.IterationDependency;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes a scenario from the output of {@link YamlReader}. */
final class ScenarioReader {
    private static final List<String> KEYS = List.of(
            "id",
            "label",
            "description",
            "placement",
            "hardware",
            "semaphores",
            "operations",
            "chain_through",
            "iteration_deps",
            "annotations");

    private ScenarioReader() {}

    static Scenario read(String text) {
        Map<String, Object> top = map("a scenario", YamlReader.read(text), KEYS);
        String id = string("a scenario", top, "id", null);
        List<Hardware> hardware = new ArrayList<>();
        for (Object each : list("hardware", top.get("hardware"))) {
            hardware.add(hardware(each));
        }
        List<Semaphore> semaphores = new ArrayList<>();
        for (Object each : list("semaphores", top.get("semaphores"))) {
            semaphores.add(semaphore(each));
        }
        List<Operation> operations = new ArrayList<>();
        for (Object each : list("operations", top.get("operations"))) {
            operations.add(operation(each));
        }
        List<IterationDependency> iterations = new ArrayList<>();
        for (Object each : list("iteration_deps", top.get("iteration_deps"))) {
            Map<String, Object> parts = map("an iteration dependency", each, List.of("op", "semaphore"));
            iterations.add(new IterationDependency(
                    string("an iteration dependency", parts, "op", null),
                    string("an iteration dependency", parts, "semaphore", null)));
        }
        List<Annotation> annotations = new ArrayList<>();
        for (Object each : list("annotations", top.get("annotations"))) {
            Map<String, Object> parts = map("an annotation", each, List.of("tick", "text"));
            annotations.add(new Annotation(
                    number("an annotation", parts, "tick", 0), string("an annotation", parts, "text", null)));
        }
        return new Scenario(
                id,
                string("a scenario", top, "label", id),
                string("a scenario", top, "description", ""),
                placement(string("a scenario", top, "placement", "lanes")),
                hardware,
                semaphores,
                operations,
                strings("chain_through", top.get("chain_through")),
                iterations,
                annotations);
    }

    private static Placement placement(String name) {
        return switch (name) {
            case "lanes" -> Placement.LANES;
            case "queues" -> Placement.QUEUES;
            default -> throw invalid("placement '%.60s' is unknown; there are lanes and queues".formatted(name));
        };
    }

    private static Hardware hardware(Object given) {
        if (given instanceof String id) {
            return new Hardware(id, 1, false);
        }
        Map<String, Object> parts =
                map("hardware", given, List.of("id", "label", "lanes", "scalable", "memory", "machine"));
        String id = string("hardware", parts, "id", null);
        String scalable = string("hardware", parts, "scalable", "false").toLowerCase(Locale.ROOT);
        if (!scalable.equals("true") && !scalable.equals("false")) {
            throw invalid("'scalable' of hardware '%.60s' is '%.60s', neither true nor false".formatted(id, scalable));
        }
        long lanes = number("hardware", parts, "lanes", 1);
        Scenario.check("lanes of hardware '" + id + "'", lanes, 1, Scenario.MAXIMUM_LANES);
        return new Hardware(
                id,
                string("hardware '" + id + "'", parts, "label", id),
                (int) lanes,
                scalable.equals("true"),
                number("hardware '" + id + "'", parts, "memory", 0),
                string("hardware '" + id + "'", parts, "machine", ""));
    }

    private static Semaphore semaphore(Object given) {
        if (given instanceof String id) {
            return new Semaphore(id, id);
        }
        Map<String, Object> parts = map("a semaphore", given, List.of("id", "label"));
        String id = string("a semaphore", parts, "id", null);
        return new Semaphore(id, string("semaphore '" + id + "'", parts, "label", id));
    }

    private static Operation operation(Object given) {
        Map<String, Object> parts = map(
                "an operation",
                given,
                List.of("id", "label", "hw", "duration", "wait", "signal", "queue", "submitted", "alloc", "free"));
        String id = string("an operation", parts, "id", null);
        String what = "operation '" + id + "'";
        long queue = number(what, parts, "queue", -1);
        Scenario.check("queue of " + what, queue, -1, Scenario.MAXIMUM_LANES - 1);
        return new Operation(
                id,
                string(what, parts, "label", id),
                string(what, parts, "hw", null),
                number(what, parts, "duration", 1),
                values(what, parts, "wait"),
                values(what, parts, "signal"),
                (int) queue,
                number(what, parts, "submitted", 0),
                values(what, parts, "alloc"),
                strings("free", parts.get("free")));
    }

    private static Map<String, Long> values(String what, Map<String, Object> parts, String key) {
        Map<String, Long> values = new LinkedHashMap<>();
        Object given = parts.get(key);
        if (given != null && !given.equals("")) {
            Map<String, Object> entries = map("'" + key + "' of " + what, given, null);
            for (String semaphore : entries.keySet()) {
                if ("".equals(entries.get(semaphore))) {
                    throw invalid("'%s' of %s has no value for '%.60s'".formatted(key, what, semaphore));
                }
                values.put(semaphore, number("'" + key + "' of " + what, entries, semaphore, 0));
            }
        }
        return values;
    }

    /** Returns the members of a mapping; {@code known} is null where any key is allowed. */
    private static Map<String, Object> map(String what, @Nullable Object given, @Nullable List<String> known) {
        if (!(given instanceof Map<?, ?> members)) {
            throw invalid("%s is not a mapping of keys to values".formatted(what));
        }
        Map<String, Object> copy = new LinkedHashMap<>();
        members.forEach((key, value) -> copy.put((String) key, value));
        for (String key : copy.keySet()) {
            if (known != null && !known.contains(key)) {
                throw invalid("%s has no key '%.60s'; there are %s".formatted(what, key, String.join(", ", known)));
            }
        }
        return copy;
    }

    private static List<?> list(String what, @Nullable Object given) {
        if (given == null || given.equals("")) {
            return List.of();
        }
        if (given instanceof List<?> elements) {
            return elements;
        }
        throw invalid("'%s' is not a list".formatted(what));
    }

    private static List<String> strings(String what, @Nullable Object given) {
        List<String> strings = new ArrayList<>();
        for (Object each : list(what, given)) {
            if (!(each instanceof String text)) {
                throw invalid("'%s' is a list of names, and an element is none".formatted(what));
            }
            strings.add(text);
        }
        return strings;
    }

    private static String string(String what, Map<String, Object> parts, String key, @Nullable String otherwise) {
        Object given = parts.get(key);
        given = given == null || given.equals("") && otherwise != null ? otherwise : given;
        if (given == null) {
            throw invalid("%s has no '%s'".formatted(what, key));
        }
        if (given instanceof String text) {
            return text;
        }
        throw invalid("'%s' of %s is not a text".formatted(key, what));
    }

    private static long number(String what, Map<String, Object> parts, String key, long otherwise) {
        Object given = parts.get(key);
        if (given == null || given.equals("")) {
            return otherwise;
        }
        if (given instanceof String text && text.matches("-?\\d{1,18}")) {
            return Long.parseLong(text);
        }
        throw invalid("'%.60s' of %s is '%.60s', which is not a whole number".formatted(key, what, given));
    }
}
