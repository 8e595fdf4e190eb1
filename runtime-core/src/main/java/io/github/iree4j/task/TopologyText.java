package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The text format of topologies: {@code name=value} words, groups separated by semicolons or line ends. */
final class TopologyText {
    /** Maximum length of a text, longer than any topology printed by this runtime. */
    private static final int LONGEST = 64 * 1024;

    private TopologyText() {}

    /** A parsed text; either options or groups is null. */
    record Specification(
            @Nullable TopologyOptions options, @Nullable List<TopologyGroup> groups) {}

    static Specification parse(String text) {
        if (text.length() > LONGEST) {
            throw bad("topology of %d characters is longer than the limit of %d".formatted(text.length(), LONGEST));
        }
        if (text.isBlank()) {
            throw bad("topology is empty; write 'auto', 'workers=4' or groups such as 'cpus=0; cpus=1'");
        }
        if (text.strip().equals("auto")) {
            return new Specification(TopologyOptions.DEFAULTS, null);
        }
        List<TopologyGroup> groups = new ArrayList<>();
        String[] parts = text.strip().split("[;\\n]", -1);
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].isBlank() && i == parts.length - 1 && i > 0) {
                break; // a separator may end the list
            }
            Map<String, String> words = words(parts[i], groups.size());
            if (parts.length == 1 && !words.containsKey("cpus") && !isShort(words)) {
                return new Specification(options(words), null);
            }
            add(groups, words);
            if (groups.size() > Topology.MAXIMUM_GROUPS) {
                throw bad("topology has more than %d groups".formatted(Topology.MAXIMUM_GROUPS));
            }
        }
        return new Specification(null, groups);
    }

    private static boolean isShort(Map<String, String> words) {
        return words.containsKey("workers") || words.containsKey("each");
    }

    private static Map<String, String> words(String part, int group) {
        Map<String, String> words = new LinkedHashMap<>();
        if (part.isBlank()) {
            throw bad("group %d of the topology is empty; separate groups by one semicolon".formatted(group));
        }
        for (String word : part.strip().split("\\s+")) {
            int equals = word.indexOf('=');
            if (equals <= 0 || equals == word.length() - 1) {
                throw bad("'%s' in group %d of the topology is not of the form name=value"
                        .formatted(ProcessorList.abbreviate(word), group));
            }
            if (words.put(word.substring(0, equals), word.substring(equals + 1)) != null) {
                throw bad("'%s' is given twice in group %d of the topology"
                        .formatted(ProcessorList.abbreviate(word.substring(0, equals)), group));
            }
        }
        return words;
    }

    private static void add(List<TopologyGroup> groups, Map<String, String> words) {
        String workers = words.remove("workers");
        if (workers != null) {
            long count = number("workers", workers, 1, Topology.MAXIMUM_GROUPS);
            nothingElse(words, "workers");
            groups.addAll(Collections.nCopies((int) count, TopologyGroup.ANYWHERE));
            return;
        }
        String each = words.remove("each");
        if (each != null) {
            nothingElse(words, "each");
            ProcessorList.parse("each", each).stream()
                    .limit(Topology.MAXIMUM_GROUPS + 1)
                    .forEach(processor -> groups.add(new TopologyGroup(List.of(processor), -1, false, 0, 0, 0, -1)));
            return;
        }
        groups.add(group(words, groups.size()));
    }

    private static void nothingElse(Map<String, String> words, String name) {
        if (!words.isEmpty()) {
            throw bad("'%s' must be alone in its group, without '%s'"
                    .formatted(
                            name,
                            ProcessorList.abbreviate(words.keySet().iterator().next())));
        }
    }

    private static TopologyGroup group(Map<String, String> words, int index) {
        String cpus = words.remove("cpus");
        if (cpus == null) {
            throw bad(
                    "group %d of the topology has no 'cpus'; write cpus=any when it may run anywhere".formatted(index));
        }
        List<Integer> processors = cpus.equals("any")
                ? List.of()
                : ProcessorList.parse("cpus", cpus).stream().boxed().toList();
        int node = -1;
        boolean efficient = false;
        long l1 = 0;
        long l2 = 0;
        long l3 = 0;
        int cache = -1;
        for (Map.Entry<String, String> word : words.entrySet()) {
            String value = word.getValue();
            switch (word.getKey()) {
                case "node" -> node = (int) number("node", value, 0, TopologyGroup.LARGEST_NODE);
                case "class" -> efficient = choice("class", value, List.of("performance", "efficiency")) == 1;
                case "l1" -> l1 = bytes("l1", value);
                case "l2" -> l2 = bytes("l2", value);
                case "l3" -> l3 = bytes("l3", value);
                case "cache" -> cache = (int) number("cache", value, 0, ProcessorList.LIMIT - 1);
                default ->
                    throw bad("'%s' of group %d is unknown; a group has cpus, node, class, l1, l2, l3 and cache"
                            .formatted(ProcessorList.abbreviate(word.getKey()), index));
            }
        }
        return new TopologyGroup(processors, node, efficient, l1, l2, l3, cache);
    }

    private static TopologyOptions options(Map<String, String> words) {
        TopologyOptions.Mode mode = TopologyOptions.DEFAULTS.mode();
        int max = 0;
        List<Integer> nodes = List.of();
        TopologyOptions.Cores cores = TopologyOptions.DEFAULTS.cores();
        TopologyOptions.Distribution distribution = TopologyOptions.DEFAULTS.distribution();
        for (Map.Entry<String, String> word : words.entrySet()) {
            String value = word.getValue();
            switch (word.getKey()) {
                case "mode" -> mode = choice("mode", value, TopologyOptions.Mode.values());
                case "max" -> max = (int) number("max", value, 1, Topology.MAXIMUM_GROUPS);
                case "nodes" ->
                    nodes = ProcessorList.parse("nodes", value).stream().boxed().toList();
                case "cores" -> cores = choice("cores", value, TopologyOptions.Cores.values());
                case "distribution" ->
                    distribution = choice("distribution", value, TopologyOptions.Distribution.values());
                default ->
                    throw bad(
                            "'%s' of the topology is unknown; choose places by mode, max, nodes, cores and distribution, or list them by cpus, each or workers"
                                    .formatted(ProcessorList.abbreviate(word.getKey())));
            }
        }
        return new TopologyOptions(mode, max, nodes, cores, distribution);
    }

    /** Returns the word of a constant. */
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static <E extends Enum<E>> E choice(String name, String value, E[] constants) {
        List<String> choices = Arrays.stream(constants).map(TopologyText::word).toList();
        return constants[choice(name, value, choices)];
    }

    private static int choice(String name, String value, List<String> choices) {
        int index = choices.indexOf(value);
        if (index < 0) {
            throw bad("'%s' is '%s' and must be %s"
                    .formatted(name, ProcessorList.abbreviate(value), String.join(" or ", choices)));
        }
        return index;
    }

    private static long number(String name, String value, long minimum, long maximum) {
        long number = -1;
        if (value.length() <= 18 && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
            number = Long.parseLong(value);
        }
        if (number < minimum || number > maximum) {
            throw bad("'%s' is '%s' and must be a number within [%d, %d]"
                    .formatted(name, ProcessorList.abbreviate(value), minimum, maximum));
        }
        return number;
    }

    private static long bytes(String name, String value) {
        long size = parseSize(value);
        if (size < 0) {
            throw bad("'%s' is '%s' and must be a size up to 1024G, such as 32768, 32K or 1M"
                    .formatted(name, ProcessorList.abbreviate(value)));
        }
        return size;
    }

    /** Parses a size in the format of sysfs, {@code 32K}; -1 for anything else, and for more than 1024 GiB. */
    static long parseSize(String text) {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        if (digits == 0 || digits > 13 || digits < text.length() - 1) {
            return -1;
        }
        int shift = digits == text.length()
                ? 0
                : switch (text.charAt(digits)) {
                    case 'K' -> 10;
                    case 'M' -> 20;
                    case 'G' -> 30;
                    default -> -1;
                };
        long value = Long.parseLong(text.substring(0, digits));
        return shift < 0 || value > TopologyGroup.LARGEST_CACHE >> shift ? -1 : value << shift;
    }

    /** Formats a size in the largest unit dividing the size. */
    static String size(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(3, Long.numberOfTrailingZeros(bytes) / 10);
        return (bytes >> 10 * unit) + new String[] {"", "K", "M", "G"}[unit];
    }

    private static IreeException bad(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
