package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.iree4j.spring.metrics.IreeMeters;
import io.github.iree4j.spring.observation.DefaultInvocationObservationConvention;
import io.github.iree4j.spring.observation.IreeObservationDocumentation;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The tables of {@code docs/configuration.md} and {@code docs/metrics.md}, and the configuration metadata, match the
 * code. {@code -Diree4j.docs.update=true} regenerates the pages.
 */
class ReferenceDocumentationTests {

    private static final Path DOCS = Path.of("../docs");
    private static final Path METADATA =
            Path.of("src/main/resources/META-INF/additional-spring-configuration-metadata.json");
    private static final JsonMapper JSON = JsonMapper.shared();

    /** The properties up to an operator. */
    private static final List<String> OPERATORS = List.of(
            "iree.device",
            "iree.devices.<name>.uri",
            "iree.executables.allowed-formats",
            "iree.http.body-timeout",
            "iree.http.max-in-flight-size",
            "iree.http.max-request-size",
            "iree.integrity.public-key",
            "iree.integrity.require",
            "iree.invocation.drain-timeout",
            "iree.invocation.timeout",
            "iree.loading.on-change",
            "iree.loading.timeout",
            "iree.modules.<name>.batching.enabled",
            "iree.modules.<name>.contexts",
            "iree.modules.<name>.devices",
            "iree.modules.<name>.load",
            "iree.modules.<name>.location",
            "iree.modules.<name>.parameters",
            "iree.modules.<name>.sha256",
            "iree.modules.<name>.timeout",
            "iree.pools.<name>.budget",
            "iree.pools.<name>.quotas",
            "iree.serving.enabled",
            "iree.serving.grpc.authentication",
            "iree.serving.grpc.max-calls",
            "iree.serving.max-concurrent-requests",
            "iree.serving.max-wait",
            "iree.serving.repository",
            "iree.task.workers",
            "iree.watchdog.after");

    private static final String BEGIN = "<!-- generated, see ReferenceDocumentationTests: begin -->\n";
    private static final String END = "<!-- generated: end -->\n";

    private static List<Property> properties() throws IOException {
        List<Class<?>> roots = new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages("io.github.iree4j.spring")
                        .stream()
                        .filter(type -> type.isAnnotatedWith(ConfigurationProperties.class))
                        .sorted(Comparator.comparing(JavaClass::getName))
                        .map(JavaClass::reflect)
                        .collect(Collectors.toCollection(ArrayList::new));
        assertThat(roots).isNotEmpty();
        List<Property> properties = new ArrayList<>();
        for (Class<?> root : roots) {
            properties(root.getAnnotation(ConfigurationProperties.class).value(), root, properties);
        }
        properties.sort(Comparator.comparing(Property::name));
        return properties;
    }

    @Test
    void tablesOfPropertiesMatchTheCode() throws IOException {
        Map<Boolean, List<Property>> byUse =
                properties().stream().collect(Collectors.partitioningBy(each -> OPERATORS.contains(each.name())));
        assertThat(byUse.get(true)).hasSameSizeAs(OPERATORS);
        check(
                "configuration.md",
                "## Properties of most applications\n\n"
                        + table(byUse.get(true).stream())
                        + "\n## Properties of single features\n\n"
                        + table(byUse.get(false).stream().filter(each -> !each.isAdvanced()))
                        + "\n## Advanced properties\n\n"
                        + "Their defaults are measured, or what they configure is rarely used.\n\n"
                        + table(byUse.get(false).stream().filter(Property::isAdvanced)));
    }

    private static String table(Stream<Property> properties) {
        return "| Property | Type | Default | Meaning |\n|---|---|---|---|\n"
                + properties.map(Property::row).sorted().collect(Collectors.joining());
    }

    /**
     * Metadata beyond Spring Boot's processor: the properties of map values. Editors without support for {@code *} find
     * the properties by the types of the maps.
     */
    @Test
    void metadataOfMapValuesMatchTheCode() throws IOException {
        ObjectNode metadata = (ObjectNode) JSON.readTree(Files.readString(METADATA));
        ArrayNode values = JSON.createArrayNode();
        properties().stream().filter(Property::isOfMap).map(Property::metadata).forEach(values::add);
        if (Boolean.getBoolean("iree4j.docs.update")) {
            metadata.set("properties", values);
            Files.writeString(METADATA, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(metadata) + "\n");
        }
        assertThat(metadata.path("properties"))
                .as("%s; update with -Diree4j.docs.update=true", METADATA)
                .isEqualTo(values);
    }

    /** The editors' input: both of the processor and of us. */
    @Test
    void metadataForTheBuildDescribesEveryProperty() throws IOException {
        Map<String, JsonNode> packaged = new TreeMap<>();
        JSON.readTree(Files.readString(Path.of("target/classes/META-INF/spring-configuration-metadata.json")))
                .required("properties")
                .forEach(each -> packaged.put(each.required("name").stringValue(), each));
        List<String> keys = new ArrayList<>();
        for (Property property : properties()) {
            keys.add(property.key());
            JsonNode found = packaged.get(property.key());
            assertThat(found).as("metadata of '%s'", property.key()).isNotNull();
            assertThat(found.path("description").stringValue(""))
                    .as(property.key())
                    .endsWith(".");
            assertThat(found.path("type").stringValue("")).as(property.key()).isNotEmpty();
            if (!property.values().isEmpty() && property.raw() != Map.class && property.raw() != List.class) {
                assertThat(found.path("defaultValue").asString(""))
                        .as("default of '%s'", property.key())
                        .isEqualTo(property.values().getFirst());
            }
        }
        assertThat(packaged.keySet())
                .filteredOn(name -> name.startsWith("iree.") && !isMap(packaged.get(name)))
                .containsExactlyInAnyOrderElementsOf(
                        keys.stream().filter(key -> !isMap(packaged.get(key))).toList());
    }

    private static boolean isMap(JsonNode property) {
        return property.path("type").stringValue("").startsWith("java.util.Map<");
    }

    /** Conditions name existing properties. */
    @Test
    void propertiesOfConditionsExist() throws IOException {
        List<String> known = new ArrayList<>(
                properties().stream().map(each -> each.key().replace("*", "%s")).toList());
        known.add("iree.openai.enabled"); // of the module for Spring AI, whose tests fail under another name
        List<String> unknown = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Matcher named = Pattern.compile("(?:Property|bind)\\((?:name = )?\"(iree\\.[a-z.-]+)\"")
                        .matcher(Files.readString(file));
                while (named.find()) {
                    String name = named.group(1);
                    if (!known.contains(name)) {
                        unknown.add(file.getFileName() + ": " + name);
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void hintsReferToExistingProperties() throws IOException {
        List<String> known = new ArrayList<>(
                List.of("iree.devices.keys", "iree.advanced.queues.keys", "iree.pools.keys", "iree.modules.keys"));
        for (Property property : properties()) {
            known.add(property.key());
            known.add(property.key() + ".keys");
            known.add(property.key() + ".values");
        }
        JsonNode hints = JSON.readTree(Files.readString(METADATA)).required("hints");
        assertThat(hints.findValuesAsString("name")).isNotEmpty();
        for (JsonNode hint : hints) {
            assertThat(known).contains(hint.required("name").stringValue());
            for (JsonNode value : hint.path("values")) {
                assertThat(value.required("description").stringValue()).endsWith(".");
            }
        }
    }

    /**
     * A property.
     *
     * @param name with {@code <name>} for keys of maps and {@code [n]} for indices
     * @param type the type in Java
     * @param raw the same without arguments
     * @param values the default, empty for none
     * @param description in Markdown
     * @param source the declaring record
     */
    private record Property(
            String name, Type type, Class<?> raw, List<String> values, String description, Class<?> source) {

        boolean isAdvanced() {
            return name.startsWith("iree.advanced.");
        }

        String row() {
            return "| `%s` | %s | %s | %s |\n"
                    .formatted(
                            name + keys(type),
                            describe(type, raw),
                            values.stream().allMatch(String::isEmpty) ? "–" : "`" + String.join(", ", values) + "`",
                            description);
        }

        boolean isOfMap() {
            return name.contains("<name>");
        }

        /** The name in the metadata. */
        String key() {
            return name.replace("<name>", "*").replace("[n]", "[*]");
        }

        ObjectNode metadata() {
            ObjectNode property = JSON.createObjectNode()
                    .put("name", key())
                    .put(
                            "type",
                            (raw.isPrimitive() ? boxed(raw) : type)
                                    .getTypeName()
                                    .replace(" ", ""))
                    .put("description", description.replace('`', '\''))
                    .put("sourceType", source.getName());
            if (!values.isEmpty()) {
                JsonNode preset = raw == boolean.class || raw == int.class || raw == double.class
                        ? JSON.readTree(values.getFirst())
                        : JSON.valueToTree(values.getFirst());
                property.set("defaultValue", preset);
            }
            return property;
        }
    }

    private static void properties(String prefix, Class<?> type, List<Property> properties) throws IOException {
        Map<String, String> documentation = documentation(type);
        for (Parameter parameter : type.getDeclaredConstructors()[0].getParameters()) {
            String name = prefix + "." + dashed(parameter.getName());
            Type declared = parameter.getParameterizedType();
            Class<?> raw = parameter.getType();
            if (isOurRecord(raw)) {
                properties(name, raw, properties);
            } else if (declared instanceof ParameterizedType generic
                    && generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1]
                            instanceof Class<?> element
                    && isOurRecord(element)) {
                properties(name + (raw == Map.class ? ".<name>" : "[n]"), element, properties);
            } else {
                String description = documentation.get(parameter.getName());
                assertThat(description).as("documentation of " + name).isNotBlank();
                DefaultValue preset = parameter.getAnnotation(DefaultValue.class);
                properties.add(new Property(
                        name, declared, raw, preset == null ? List.of() : List.of(preset.value()), description, type));
            }
        }
    }

    private static boolean isOurRecord(Class<?> type) {
        return type.isRecord() && type.getName().startsWith("io.github.iree4j.");
    }

    /** Returns {@code .<key>} for a map, twice for a map of maps. */
    private static String keys(Type type) {
        return rawOf(type) == Map.class ? ".<key>" + keys(((ParameterizedType) type).getActualTypeArguments()[1]) : "";
    }

    private static Class<?> rawOf(Type type) {
        return type instanceof Class<?> known ? known : (Class<?>) ((ParameterizedType) type).getRawType();
    }

    private static String describe(Type declared, Class<?> raw) {
        if (raw.isEnum()) {
            return Arrays.stream(raw.getEnumConstants())
                    .map(constant -> "`"
                            + ((Enum<?>) constant)
                                    .name()
                                    .toLowerCase(Locale.ROOT)
                                    .replace('_', '-') + "`")
                    .collect(Collectors.joining(", "));
        }
        if (declared instanceof ParameterizedType generic) {
            Type last = generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1];
            Class<?> element = rawOf(last);
            return raw == Map.class ? describe(last, element) : "list";
        }
        return Map.<Class<?>, String>of(
                        Boolean.class, "boolean",
                        Integer.class, "number",
                        Long.class, "number",
                        Double.class, "number",
                        String.class, "text",
                        List.class, "list",
                        Duration.class, "duration",
                        DataSize.class, "size")
                .getOrDefault(boxed(raw), raw.getSimpleName());
    }

    private static Class<?> boxed(Class<?> type) {
        return MethodType.methodType(type).wrap().returnType();
    }

    private static String dashed(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** Where the source declares a type. */
    private static int declaration(Class<?> type, String source) {
        int from = type.getEnclosingClass() == null ? 0 : declaration(type.getEnclosingClass(), source);
        return source.indexOf("record " + type.getSimpleName() + "(", from);
    }

    /** The {@code @param} tags of a record, from its source. */
    private static Map<String, String> documentation(Class<?> type) throws IOException {
        Class<?> outer = type;
        while (outer.getEnclosingClass() != null) {
            outer = outer.getEnclosingClass();
        }
        String source =
                Files.readString(Path.of("src/main/java", outer.getName().replace('.', '/') + ".java"));
        int from = type.getEnclosingClass() == null ? 0 : declaration(type.getEnclosingClass(), source);
        Matcher found = Pattern.compile(
                        "/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public )?record "
                                + type.getSimpleName() + "\\(",
                        Pattern.DOTALL)
                .matcher(source);
        assertThat(found.find(from)).as("Javadoc of " + type.getName()).isTrue();
        Map<String, String> documentation = new TreeMap<>();
        for (String tag : found.group(1).replaceAll("\\n\\s*\\* ?", "\n").split("@param ")) {
            String[] parts = tag.strip().split("\\s+", 2);
            if (parts.length == 2) {
                documentation.put(
                        parts[0],
                        parts[1].strip().replaceAll("\\s+", " ").replaceAll("(?<!\\w)'([^']+)'(?!\\w)", "`$1`"));
            }
        }
        return documentation;
    }

    @Test
    void tableOfMetersMatchesTheCode() throws IOException {
        StringBuilder table = new StringBuilder(
                "| Meter | In Prometheus | Type | Unit | Tags | Meaning |\n|---|---|---|---|---|---|\n");
        for (IreeMeters meter : IreeMeters.values()) {
            table.append("| `%s` | `%s` | %s | %s | %s | %s |\n"
                    .formatted(
                            meter.getName(),
                            prometheus(meter),
                            meter.getType().name().toLowerCase(Locale.ROOT),
                            meter.getBaseUnit() == null ? "seconds" : meter.getBaseUnit(),
                            keys(meter.getKeyNames()),
                            meter.getDescription()));
        }
        IreeObservationDocumentation invocation = IreeObservationDocumentation.INVOCATION;
        table.append(
                "| `%s` | `iree_invocations_seconds` | observation: timer and span | seconds | %s, `error`; spans also %s | Calls of functions, waiting for fences and batches included. |\n"
                        .formatted(
                                DefaultInvocationObservationConvention.NAME,
                                keys(invocation.getLowCardinalityKeyNames()),
                                keys(invocation.getHighCardinalityKeyNames())));
        table.append(
                "| `%s.active` | `iree_invocations_active_seconds` | observation: long task timer | seconds | %s | Calls of functions in flight: how many, and for how long. Outcome and fault are not known yet. |\n"
                        .formatted(
                                DefaultInvocationObservationConvention.NAME,
                                keys(invocation.getLowCardinalityKeyNames())));
        check("metrics.md", table.toString());
    }

    private static String keys(KeyName[] keys) {
        return keys.length == 0
                ? "–"
                : Arrays.stream(keys).map(key -> "`" + key.asString() + "`").collect(Collectors.joining(", "));
    }

    private static String prometheus(IreeMeters meter) {
        String name = meter.getName().replace('.', '_');
        if (meter.getType() == Meter.Type.TIMER) {
            return name + "_seconds";
        }
        String unit = "_" + meter.getBaseUnit();
        String withUnit = name.endsWith(unit) ? name : name + unit;
        return meter.getType() == Meter.Type.COUNTER ? withUnit + "_total" : withUnit;
    }

    @Test
    void dashboardReferencesExistingMeters() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("grafana/iree4j.json"));
        List<String> known = new ArrayList<>(Arrays.stream(IreeMeters.values())
                .map(ReferenceDocumentationTests::prometheus)
                .toList());
        known.add("iree_invocations_seconds");
        // GenerationDashboardTests of spring-ai-autoconfigure has the meters of text generation.
        // ClusterDashboardTests of cluster has the meters of a node.
        Matcher used =
                Pattern.compile("\\biree_(?!generation_|cluster_)[a-z_]+").matcher(dashboard);
        List<String> names = new ArrayList<>();
        while (used.find()) {
            names.add(used.group().replaceAll("_(count|sum|bucket|max)$", ""));
        }
        assertThat(names).isNotEmpty();
        assertThat(known).containsAll(names);
        JSON.readTree(dashboard);
    }

    private static void check(String file, String table) throws IOException {
        Path path = DOCS.resolve(file);
        String text = Files.readString(path);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        int end = text.indexOf(END);
        assertThat(end).as("markers in " + file).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(path, text.substring(0, begin) + table + text.substring(end));
            return;
        }
        assertThat(text.substring(begin, end))
                .as("%s; update with -Diree4j.docs.update=true".formatted(file))
                .isEqualTo(table);
    }
}
