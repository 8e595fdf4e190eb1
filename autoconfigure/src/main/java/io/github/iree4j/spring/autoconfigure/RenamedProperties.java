package io.github.iree4j.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.logging.DeferredLogFactory;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * Reads properties in release 0.1 under their former names, from before this release, and warns of each. The
 * configuration metadata lists the former names as deprecated, for editors and for Spring Boot's properties migrator,
 * which cannot map names with keys, such as {@code iree.pools.*.waiting.limit}.
 */
final class RenamedProperties implements EnvironmentPostProcessor {

    private static final String ADVANCED = "iree.advanced";
    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("iree");

    /**
     * Former properties. If one source has two former properties with the same replacement, the first counts: the limit
     * of the Open Inference Protocol, to which outside clients are subject.
     */
    static final List<Former> FORMER = List.of(
            renamed("iree.serving.max-request-size", "iree.http.max-request-size"),
            renamed("iree.http.max-tensor-size", "iree.http.max-request-size"),
            advanced("iree.devices.*.channel.count"),
            advanced("iree.devices.*.channel.group"),
            advanced("iree.devices.*.channel.id"),
            advanced("iree.devices.*.channel.rank"),
            advanced("iree.devices.*.inline-work"),
            advanced("iree.devices.*.queue-count"),
            advanced("iree.frontier.capacity"),
            advanced("iree.modules.*.overlapping-calls"),
            advanced("iree.pools.*.trim.idle-after"),
            advanced("iree.pools.*.trim.retained"),
            advanced("iree.pools.*.waiting.host"),
            advanced("iree.pools.*.waiting.limit"),
            advanced("iree.queues.*.device"),
            advanced("iree.queues.*.index"),
            advanced("iree.recorder.bytes"),
            advanced("iree.recorder.file-bytes"),
            advanced("iree.task.affinity"),
            removed("iree.frontier.history", "An 'IreeDeviceCustomizer' sets 'semaphoreHistory'."),
            removed("iree.modules.*.variants.*.dynamic-cost", "It is 4."),
            removed("iree.serving.grpc.max-streams", "It is a quarter of 'iree.serving.grpc.max-calls'."),
            removed("iree.task.scan-policy", "Workers scan shared work in turn."));

    private final Log log;

    /**
     * A property of the previous release.
     *
     * @param name with {@code *} for keys
     * @param replacement the name in this release, with as many {@code *}; null if the property was removed
     * @param reason the reason for the removal or renaming
     */
    record Former(String name, @Nullable String replacement, String reason) {

        /** Returns the keys in a name, or null for the name of another property. */
        String @Nullable [] keys(ConfigurationPropertyName given) {
            String[] elements = name.split("\\.");
            if (given.getNumberOfElements() != elements.length) {
                return null;
            }
            String[] keys =
                    new String[(int) name.chars().filter(each -> each == '*').count()];
            int count = 0;
            for (int i = 0; i < elements.length; i++) {
                if (elements[i].equals("*")) {
                    keys[count++] = given.getElement(i, Form.ORIGINAL);
                } else if (!elements[i].replace("-", "").equals(given.getElement(i, Form.UNIFORM))) {
                    return null;
                }
            }
            return keys;
        }

        /** Returns the name in this release. */
        ConfigurationPropertyName renamed(String[] keys) {
            String all = "";
            int next = 0;
            for (String element : String.valueOf(replacement).split("\\.")) {
                all = all.isEmpty() ? element : below(all, element.equals("*") ? keys[next++] : element);
            }
            return ConfigurationPropertyName.of(all);
        }
    }

    RenamedProperties(DeferredLogFactory logs) {
        log = logs.getLog(RenamedProperties.class);
    }

    private static Former advanced(String name) {
        return new Former(name, ADVANCED + name.substring(PREFIX.toString().length()), "Few applications set it.");
    }

    private static Former renamed(String name, String replacement) {
        return new Former(name, replacement, "One property replaces two.");
    }

    private static Former removed(String name, String reason) {
        return new Former(name, null, reason);
    }

    /** Returns a longer name; an element with characters not allowed in names is in brackets. */
    static String below(String name, String element) {
        return element.indexOf('.') < 0 && ConfigurationPropertyName.isValid(element)
                ? name + "." + element
                : "%s[%s]".formatted(name, element);
    }

    /** Returns the name in this release of a property, for a former name the replacement; empty for a removed property. */
    static Optional<String> current(String name) {
        return FORMER.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .map(former -> Optional.ofNullable(former.replacement()))
                .orElse(Optional.of(name));
    }

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        Map<String, Map<String, Object>> found = new LinkedHashMap<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getUnderlyingSource() instanceof PropertySource<?> underlying
                    && source instanceof IterableConfigurationPropertySource names) {
                Map<String, Object> mapped = mapped(names);
                if (!mapped.isEmpty()) {
                    found.put(underlying.getName(), mapped);
                }
            }
        }
        found.forEach((name, mapped) -> environment
                .getPropertySources()
                .addAfter(name, new OriginTrackedMapPropertySource("renamed properties of " + name, mapped)));
    }

    private Map<String, Object> mapped(IterableConfigurationPropertySource names) {
        List<ConfigurationPropertyName> given =
                names.stream().filter(PREFIX::isAncestorOf).toList();
        Map<String, Object> mapped = new LinkedHashMap<>();
        for (Former former : FORMER) {
            for (ConfigurationPropertyName name : given) {
                String[] keys = former.keys(name);
                ConfigurationProperty property = keys == null ? null : names.getConfigurationProperty(name);
                if (keys == null || property == null) {
                    continue;
                }
                if (former.replacement() == null) {
                    log.warn("property '%s' was removed and has no effect; remove it. %s"
                            .formatted(name, former.reason()));
                    continue;
                }
                ConfigurationPropertyName replacement = former.renamed(keys);
                log.warn("property '%s' is '%s' now, and the next release will not know its former name; rename it"
                        .formatted(name, replacement));
                mapped.putIfAbsent(
                        replacement.toString(), OriginTrackedValue.of(property.getValue(), property.getOrigin()));
            }
        }
        return mapped;
    }
}
