package io.github.iree4j.spring.autoconfigure;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Examines environment variables below {@code IREE_MODULES}. A variable does not tell the dashes of a name from the
 * dots, and Spring Boot reads both {@code ON_CHANGE} and {@code ONCHANGE} as {@code on-change}. A variable is therefore
 * unknown only if no reading names a property. The name of a module is one word, unless a configured module has a name
 * of several words: other names of several words Spring Boot does not read.
 */
final class UnknownVariables {

    private static final String PREFIX = "iree_modules_";
    private static final String PROPERTIES = "iree.modules.*.";

    /** The most characters by which a variable may differ from a property and be meant as the property. */
    private static final int SLIP = 2;

    private final List<UnknownProperties.Known> known;
    private final Set<String> modules;
    private final String moduleWords; // a regular expression

    /**
     * A variable that names no property.
     *
     * @param problem a sentence
     * @param absent the module meant by the variable, if there is no such module and the variable is meant as a property
     *     of it; otherwise null: other programs share the environment
     */
    record Unknown(String problem, @Nullable String absent) {}

    /**
     * Prepares the examination.
     *
     * @param known all properties
     * @param modules names of the configured modules
     */
    UnknownVariables(List<UnknownProperties.Known> known, Set<String> modules) {
        this.known = known.stream()
                .filter(each -> each.name().startsWith(PROPERTIES))
                .toList();
        this.modules = modules;
        this.moduleWords = Stream.concat(Stream.of("[^_]+"), modules.stream().map(each -> words(each, "_?")))
                .collect(Collectors.joining("|", "(", ")_"));
    }

    static boolean isBelowModules(String variable) {
        return variable.toLowerCase(Locale.ROOT).startsWith(PREFIX);
    }

    /** Returns the variable, which is below {@code IREE_MODULES}, if it names no property. */
    Optional<Unknown> examine(String variable) {
        String name = variable.toLowerCase(Locale.ROOT);
        return known.isEmpty() || known.stream().anyMatch(each -> isNamed(each, name))
                ? Optional.empty()
                : Optional.of(unknown(variable, name.substring(PREFIX.length())));
    }

    private boolean isNamed(UnknownProperties.Known property, String name) {
        String rest = Stream.of(property.name()
                        .substring(PROPERTIES.length())
                        .replace("[*]", ".*")
                        .split("\\."))
                .map(element -> element.equals("*") ? ".+" : element.replace("-", "_?"))
                .collect(Collectors.joining("_"));
        return Pattern.matches(PREFIX + moduleWords + rest + (property.open() ? "(_.+)?" : ""), name);
    }

    /** Returns a name with the given text in place of characters that variables do not have. */
    private static String words(String name, String between) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", between);
    }

    private Unknown unknown(String variable, String name) {
        String first = name.substring(0, (name + "_").indexOf('_'));
        String module = modules.stream()
                .flatMap(each -> Stream.of(words(each, "_"), words(each, "")))
                .filter(each -> name.startsWith(each + "_"))
                .max(Comparator.comparingInt(String::length))
                .orElse(first);
        String rest = name.substring(Math.min(module.length(), name.length())).replace("_", "");
        UnknownProperties.Known likely = known.stream()
                .min(Comparator.comparingInt(each -> distance(each, rest)))
                .orElseThrow();
        boolean isAbsent = modules.stream()
                .noneMatch(each ->
                        words(each, "_").equals(module) || words(each, "").equals(module));
        return new Unknown(
                "environment variable '%s' names no property and has no effect; there is '%s', in the environment 'IREE_MODULES_%s_%s'"
                        .formatted(
                                variable,
                                likely.name(),
                                module.toUpperCase(Locale.ROOT),
                                String.join("_", elements(likely)).toUpperCase(Locale.ROOT)),
                isAbsent && !first.isEmpty() && distance(likely, rest) <= SLIP ? first : null);
    }

    private static List<String> elements(UnknownProperties.Known property) {
        return property.elements().subList(3, property.elements().size());
    }

    private static int distance(UnknownProperties.Known property, String rest) {
        return UnknownProperties.Known.distance(
                String.join("", elements(property)).replace("*", ""), rest);
    }
}
