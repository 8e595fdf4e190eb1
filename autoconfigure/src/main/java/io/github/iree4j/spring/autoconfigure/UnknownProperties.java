package io.github.iree4j.spring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Warns of nonexistent properties below {@code iree}, such as misspelled properties, which Spring Boot ignores.
 * Existing properties are in the configuration metadata of the class path. System properties are examined below
 * {@code iree.modules} only, because some of the runtime and of IREE itself share the prefix {@code iree}, and so are
 * environment variables, by {@link UnknownVariables}.
 */
final class UnknownProperties {

    private static final Logger log = LoggerFactory.getLogger(UnknownProperties.class);

    private static final String METADATA = "META-INF/spring-configuration-metadata.json";
    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("iree");
    private static final ConfigurationPropertyName MODULES = PREFIX.append("modules");

    /** The starters with properties of their own prefixes, by the part after {@code iree}. */
    private static final Map<String, String> STARTERS = Map.of(
            "cluster", "spring-boot-starter-iree-cluster",
            "ai", "spring-boot-starter-iree-ai",
            "openai", "spring-boot-starter-iree-ai");

    private final ClassLoader loader;

    /**
     * A property that exists.
     *
     * @param name as documented, with {@code *} for keys
     * @param elements the parts of the name without dashes
     * @param open whether arbitrary parts may follow, as in a map of texts
     */
    record Known(String name, List<String> elements, boolean open) {
        boolean matches(ConfigurationPropertyName given) {
            int count = given.getNumberOfElements();
            return (open ? count >= elements.size() : count == elements.size()) && distance(given, 0) == 0;
        }

        /** Returns whether the names agree in the part after {@code iree}. */
        boolean isBeside(ConfigurationPropertyName given) {
            return elements.get(1).equals(given.getElement(1, Form.UNIFORM));
        }

        /** Returns the number of characters by which the parts differ, without the parts that may follow. */
        int distance(ConfigurationPropertyName given, int perElement) {
            int common = Math.min(given.getNumberOfElements(), elements.size());
            int distance = perElement * Math.abs(given.getNumberOfElements() - elements.size());
            for (int i = 0; i < common; i++) {
                String element = elements.get(i);
                distance += element.equals("*") ? 0 : distance(element, given.getElement(i, Form.UNIFORM));
            }
            return distance;
        }

        static int distance(String a, String b) {
            int[] row = new int[b.length() + 1];
            for (int i = 0; i <= a.length(); i++) {
                int diagonal = i;
                for (int j = 0; j <= b.length(); j++) {
                    int above = row[j];
                    row[j] = i == 0 || j == 0
                            ? i + j
                            : Math.min(
                                    Math.min(above, row[j - 1]) + 1,
                                    diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1));
                    diagonal = above;
                }
            }
            return row[b.length()];
        }
    }

    UnknownProperties(ClassLoader loader) {
        this.loader = loader;
    }

    /** Returns a sentence for each nonexistent property. */
    Map<ConfigurationPropertyName, String> unknown(Environment environment) {
        Set<ConfigurationPropertyName> given = new LinkedHashSet<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            String kind =
                    source.getUnderlyingSource() instanceof PropertySource<?> underlying ? underlying.getName() : "";
            if (!kind.equals(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME)
                    && source instanceof IterableConfigurationPropertySource names) {
                boolean ofTheProcess = kind.equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
                ConfigurationPropertyName prefix = ofTheProcess ? MODULES : PREFIX;
                names.stream().filter(prefix::isAncestorOf).forEach(given::add);
            }
        }
        Map<ConfigurationPropertyName, String> unknown = new LinkedHashMap<>();
        List<Known> known = given.isEmpty() ? List.of() : known();
        for (ConfigurationPropertyName name : given) {
            if (!known.isEmpty() && known.stream().noneMatch(each -> each.matches(name))) {
                unknown.put(name, describe(name, known));
            }
        }
        return unknown;
    }

    /** Reads the metadata; without metadata, for example in a native image, nothing is unknown. */
    private List<Known> known() {
        TreeSet<String> names = new TreeSet<>();
        TreeSet<String> collections = new TreeSet<>();
        try {
            for (URL each : Collections.list(loader.getResources(METADATA))) {
                try (InputStream in = each.openStream()) {
                    read(new String(in.readAllBytes(), StandardCharsets.UTF_8), names, collections);
                }
            }
        } catch (IOException e) {
            log.debug("the metadata of properties cannot be read", e);
        }
        List<Known> known = new ArrayList<>();
        for (String name : names) {
            boolean open = collections.contains(name)
                    && names.stream()
                            .noneMatch(other -> other.startsWith(name + ".*") || other.startsWith(name + "[*"));
            String plain = name.replace("[*]", ".*").replace("-", "");
            known.add(new Known(name, List.of(plain.split("\\.")), open));
        }
        return known;
    }

    private static void read(String metadata, Set<String> names, Set<String> collections) {
        if (!metadata.contains("\"" + PREFIX + ".")) {
            return;
        }
        ConfigurationMetadata.properties(metadata, (name, type) -> {
            if (name.startsWith(PREFIX + ".")) {
                names.add(name);
                if (type.startsWith("java.util.") || type.endsWith("[]")) {
                    collections.add(name);
                }
            }
        });
    }

    private static String describe(ConfigurationPropertyName name, List<Known> known) {
        String starter = STARTERS.get(name.getElement(1, Form.UNIFORM));
        if (starter != null && known.stream().noneMatch(each -> each.isBeside(name))) {
            return "property '%s' has no effect without the dependency io.github.iree4j:%s".formatted(name, starter);
        }
        String likely = known.stream()
                .min(Comparator.comparingInt(each -> each.distance(name, 8)))
                .orElseThrow()
                .name();
        return "property '%s' does not exist and has no effect; there is '%s'".formatted(name, likely);
    }

    /**
     * Warns of each nonexistent property.
     *
     * @param modules the modules with existing properties, by name
     * @throws ModuleLocationMissingException for a module or version with nonexistent properties only, which would not
     *     exist
     */
    void warn(Environment environment, Map<String, IreeProperties.Module> modules) {
        Map<ConfigurationPropertyName, String> unknown = unknown(environment);
        unknown.values().forEach(log::warn);
        warnOfVariables(environment, modules);
        for (ConfigurationPropertyName name : unknown.keySet()) {
            if (MODULES.isAncestorOf(name)) {
                requireKnown(name, modules);
            }
        }
    }

    private void warnOfVariables(Environment environment, Map<String, IreeProperties.Module> modules) {
        List<String> variables = variables(environment);
        List<Known> known = variables.isEmpty() ? List.of() : known();
        if (known.isEmpty()) {
            return;
        }
        UnknownVariables unknown = new UnknownVariables(known, modules.keySet());
        List<UnknownVariables.Unknown> found = variables.stream()
                .flatMap(each -> unknown.examine(each).stream())
                .toList();
        found.forEach(each -> log.warn(each.problem()));
        for (UnknownVariables.Unknown each : found) {
            if (each.absent() != null) {
                throw ModuleLocationMissingException.of(each.absent());
            }
        }
    }

    /** Returns the names of environment variables that may be properties of modules. */
    private static List<String> variables(Environment environment) {
        return environment instanceof ConfigurableEnvironment configurable
                        && configurable
                                        .getPropertySources()
                                        .get(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME)
                                instanceof EnumerablePropertySource<?> variables
                ? Stream.of(variables.getPropertyNames())
                        .filter(UnknownVariables::isBelowModules)
                        .sorted()
                        .toList()
                : List.of();
    }

    private static void requireKnown(ConfigurationPropertyName name, Map<String, IreeProperties.Module> modules) {
        String module = name.getElement(2, Form.ORIGINAL);
        IreeProperties.Module known = modules.get(module);
        if (known == null) {
            throw ModuleLocationMissingException.of(module);
        }
        if (name.getNumberOfElements() > 4 && name.getElement(3, Form.UNIFORM).equals("versions")) {
            String version = name.getElement(4, Form.ORIGINAL);
            if (!known.versions().containsKey(version)) {
                throw ModuleLocationMissingException.of(module, version);
            }
        }
    }
}
